// SPDX-License-Identifier: MIT
// Loads and stores in every space. First the lanes are located: bounds, alignment, counters, and where each lane's bytes
// are. Then they are moved. 4- and 8-byte elements that match their registers have handlers of their own; everything else
// goes through one general mover.
#include "softgpu/machine/families/access.hpp"
#include "softgpu/machine/families/families.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

constexpr std::uint64_t window = memory::device_memory::window_bytes;

enum class verb { load, store };

template <verb Verb>
constexpr const char* verb_name = Verb == verb::load ? "read" : "write";

// Lane l's bytes start at run + l * step, or at each[l] where run is null.
struct located {
    std::byte* run = nullptr;
    std::uint64_t step = 0;
    std::byte* each[lanes];

    [[nodiscard]] SOFTGPU_INLINE std::byte* of(unsigned l) const { return run != nullptr ? run + l * step : each[l]; }
};

template <verb Verb>
SOFTGPU_INLINE void count_global(warp* w, lane_mask mask, unsigned sectors, unsigned bytes) {
    observe::counters& c = *w->counts;
    const auto total = static_cast<std::uint64_t>(std::popcount(mask)) * bytes;
    if constexpr (Verb == verb::load) {
        ++c.global_load_requests;
        c.global_load_sectors += sectors;
        c.global_load_bytes += total;
    } else {
        ++c.global_store_requests;
        c.global_store_sectors += sectors;
        c.global_store_bytes += total;
    }
}

template <verb Verb>
SOFTGPU_INLINE void count_shared(warp* w, lane_mask mask, bank_cost cost, unsigned bytes) {
    observe::counters& c = *w->counts;
    const auto total = static_cast<std::uint64_t>(std::popcount(mask)) * bytes;
    if constexpr (Verb == verb::load) {
        ++c.shared_load_requests;
        c.shared_load_wavefronts += cost.wavefronts;
        c.shared_load_bank_conflicts += cost.conflicts;
        c.shared_load_bytes += total;
    } else {
        ++c.shared_store_requests;
        c.shared_store_wavefronts += cost.wavefronts;
        c.shared_store_bank_conflicts += cost.conflicts;
        c.shared_store_bytes += total;
    }
}

// false: a fault was raised.
template <verb Verb>
__attribute__((noinline)) bool check_each(const instruction* i, warp* w, lane_mask mask, const std::uint64_t* at,
                                          unsigned bytes) {
    bool fine = true;
    each_lane(mask, [&](unsigned l) {
        const bool misaligned = (at[l] & (bytes - 1)) != 0;
        if (fine && (misaligned || !is_allocated(w, at[l], bytes))) {
            fine = false;
            raise_access(w, i, verb_name<Verb>, "global", at[l], bytes, misaligned, l);
        }
    });
    return fine;
}

// A run of addresses in one allocation: the fast case. `at` may be short of the address by `offset` in every lane.
// false: it is no run, or not all right.
template <verb Verb>
SOFTGPU_INLINE bool locate_global_run(warp* w, lane_mask mask, const std::uint64_t* at, std::uint64_t offset,
                                      unsigned bytes, located& where) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const auto last = 31u - static_cast<unsigned>(std::countl_zero(mask));
    const std::uint64_t origin = at[first] - std::uint64_t{first} * bytes;
    const std::uint64_t begin = at[first] + offset;
    const std::uint64_t length = std::uint64_t{last - first + 1} * bytes;
    const bool gapless = mask >> first == all_lanes >> (31 - last + first);
    if (!gapless || !is_run(mask, at, origin, bytes) || (begin & (bytes - 1)) != 0 || !is_allocated(w, begin, length)) {
        return false;
    }
    if (w->host->count) {
        count_global<Verb>(w, mask, static_cast<unsigned>(((begin + length - 1) >> 5) - (begin >> 5)) + 1, bytes);
    }
    where.run = reinterpret_cast<std::byte*>(origin + offset);
    where.step = bytes;
    return true;
}

template <verb Verb>
__attribute__((noinline)) bool locate_global(const instruction* i, warp* w, lane_mask mask, const std::uint64_t* at,
                                             unsigned bytes, bool counted, located& where) {
    std::uint64_t low = ~0ull;
    std::uint64_t high = 0;
    std::uint64_t ored = 0;
    each_lane(mask, [&](unsigned l) {
        low = at[l] < low ? at[l] : low;
        high = at[l] > high ? at[l] : high;
        ored |= at[l];
        where.each[l] = reinterpret_cast<std::byte*>(at[l]);
    });
    if (((ored & (bytes - 1)) != 0 || !is_allocated(w, low, high - low + bytes)) && !check_each<Verb>(i, w, mask, at, bytes)) {
        return false;
    }
    if (counted && w->host->count) {
        count_global<Verb>(w, mask, count_sectors(mask, at), bytes);
    }
    where.run = nullptr;
    return true;
}

template <verb Verb>
SOFTGPU_INLINE bool locate_shared_run(warp* w, lane_mask mask, const std::uint32_t* at, std::uint32_t offset,
                                      unsigned bytes, located& where) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const auto last = 31u - static_cast<unsigned>(std::countl_zero(mask));
    const std::uint32_t origin = at[first] - first * bytes;
    const std::uint32_t begin = at[first] + offset;
    if (!is_run(mask, at, origin, bytes) || (begin & (bytes - 1)) != 0 ||
        std::uint64_t{begin} + (last - first + 1) * bytes > w->host->launch->shared_bytes) {
        return false;
    }
    if (w->host->count) {
        unsigned groups = 1;
        if (bytes == 8) {
            groups = ((mask & 0xFFFFu) != 0 ? 1u : 0u) + ((mask >> 16) != 0 ? 1u : 0u);
        } else if (bytes >= 16) {
            groups = 0;
            for (unsigned q = 0; q < 4; ++q) {
                groups += (mask >> (8 * q) & 0xFFu) != 0 ? 1u : 0u;
            }
        }
        count_shared<Verb>(w, mask, {groups, 0}, bytes);
    }
    where.run = w->owner->shared + static_cast<std::int32_t>(origin + offset);
    where.step = bytes;
    return true;
}

template <verb Verb>
__attribute__((noinline)) bool locate_shared(const instruction* i, warp* w, lane_mask mask, const std::uint32_t* at,
                                             unsigned bytes, located& where) {
    const std::uint32_t size = w->host->launch->shared_bytes;
    bool fine = true;
    std::uint32_t wrong = 0;
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        const bool bad = (at[l] & (bytes - 1)) != 0 || at[l] > size - bytes;
        wrong |= (mask & (1u << l)) != 0 && bad ? 1u : 0u;
    }
    if (wrong != 0 || size < bytes) [[unlikely]] {
        each_lane(mask, [&](unsigned l) {
            const bool misaligned = (at[l] & (bytes - 1)) != 0;
            if (fine && (misaligned || std::uint64_t{at[l]} + bytes > size)) {
                fine = false;
                raise_access(w, i, verb_name<Verb>, "shared", at[l], bytes, misaligned, l);
            }
        });
    }
    for (unsigned l = 0; l < lanes; ++l) {
        where.each[l] = w->owner->shared + at[l];
    }
    if (fine) {
        if (w->host->count) {
            count_shared<Verb>(w, mask, wavefronts_of(w, mask, at, bytes), bytes);
        }
        where.run = nullptr;
    }
    return fine;
}

// A thread's local memory is its own: the address is the same in every thread.
template <verb Verb>
bool locate_local(const instruction* i, warp* w, lane_mask mask, const std::uint64_t* at, unsigned bytes, located& where) {
    const std::uint32_t size = w->host->launch->local_bytes;
    std::byte* const base = w->owner->local + std::size_t{w->index} * lanes * size;
    bool fine = true;
    each_lane(mask, [&](unsigned l) {
        const bool misaligned = (at[l] & (bytes - 1)) != 0;
        if (fine && (misaligned || at[l] > size || bytes > size - at[l])) {
            fine = false;
            raise_access(w, i, verb_name<Verb>, "local", at[l], bytes, misaligned, l);
        }
        where.each[l] = base + std::size_t{l} * size + at[l];
    });
    if (fine) {
        if (w->host->count) {
            observe::counters& c = *w->counts;
            ++(Verb == verb::load ? c.local_load_requests : c.local_store_requests);
            (Verb == verb::load ? c.local_load_sectors : c.local_store_sectors) += count_local_sectors(mask, at, bytes);
        }
        where.run = nullptr;
    }
    return fine;
}

SOFTGPU_INLINE void addresses(std::uint64_t* at, const instruction* i, std::byte* frame, warp* w) {
    const auto offset = static_cast<std::uint64_t>(i->immediate);
    if (i->width[1] == 8) [[likely]] {
        const auto* const a = read<std::uint64_t>(frame, w, i->a);
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            at[l] = a[l] + offset;
        }
    } else {
        const auto* const a = read<std::uint32_t>(frame, w, i->a);
        for (unsigned l = 0; l < lanes; ++l) {
            at[l] = static_cast<std::uint32_t>(a[l] + offset);
        }
    }
}

SOFTGPU_INLINE void shared_addresses(std::uint32_t* at, const instruction* i, std::byte* frame, warp* w) {
    if (i->width[1] == 4) [[likely]] {
        const auto offset = static_cast<std::uint32_t>(i->immediate);
        const auto* const a = read<std::uint32_t>(frame, w, i->a);
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            at[l] = a[l] + offset;
        }
    } else {
        const auto* const a = read<std::uint64_t>(frame, w, i->a);
        for (unsigned l = 0; l < lanes; ++l) {
            const std::uint64_t whole = a[l] + static_cast<std::uint64_t>(i->immediate);
            at[l] = whole > 0xFFFFFFFFu ? 0xFFFFFFFFu : static_cast<std::uint32_t>(whole);
        }
    }
}

// Elements of 4 or 8 bytes whose registers are as wide.
template <class T, unsigned V, verb Verb>
SOFTGPU_INLINE void move(const instruction* i, std::byte* frame, warp* w, lane_mask mask, const located& where) {
    for (unsigned k = 0; k < V; ++k) {
        const place p = V == 1 ? (Verb == verb::load ? i->d : i->b) : i->places[k];
        if (Verb == verb::load && p == nowhere) {
            continue;
        }
        if constexpr (Verb == verb::load) {
            T* const d = written<T>(frame, p);
            if (where.run != nullptr && mask == all_lanes) {
                const std::byte* const from = where.run + k * sizeof(T);
                for (unsigned l = 0; l < lanes; ++l) {
                    std::memcpy(d + l, from + l * sizeof(T) * V, sizeof(T));
                }
            } else if (mask == all_lanes) {
                for (unsigned l = 0; l < lanes; ++l) {
                    std::memcpy(d + l, where.each[l] + k * sizeof(T), sizeof(T));
                }
            } else {
                each_lane(mask, [&](unsigned l) { std::memcpy(d + l, where.of(l) + k * sizeof(T), sizeof(T)); });
            }
        } else {
            const T* const s = read<T>(frame, w, p);
            if (where.run != nullptr && mask == all_lanes) {
                std::byte* const to = where.run + k * sizeof(T);
                for (unsigned l = 0; l < lanes; ++l) {
                    std::memcpy(to + l * sizeof(T) * V, s + l, sizeof(T));
                }
            } else {
                each_lane(mask, [&](unsigned l) { std::memcpy(where.of(l) + k * sizeof(T), s + l, sizeof(T)); });
            }
        }
    }
}

template <class T, unsigned V, verb Verb>
__attribute__((noinline)) const instruction* global_scattered(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, frame, w);
    located where;
    if (!locate_global<Verb>(i, w, w->mask, at, sizeof(T) * V, true, where)) {
        return nullptr;
    }
    move<T, V, Verb>(i, frame, w, w->mask, where);
    return i + 1;
}

template <class T, unsigned V, verb Verb>
const instruction* global(const instruction* i, std::byte* frame, warp* w) {
    located where;
    if (i->width[1] != 8 || !locate_global_run<Verb>(w, w->mask, read<std::uint64_t>(frame, w, i->a),
                                                     static_cast<std::uint64_t>(i->immediate), sizeof(T) * V, where)) {
        return global_scattered<T, V, Verb>(i, frame, w);
    }
    move<T, V, Verb>(i, frame, w, w->mask, where);
    return i + 1;
}

template <class T, unsigned V, verb Verb>
__attribute__((noinline)) const instruction* shared_scattered(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint32_t at[lanes];
    shared_addresses(at, i, frame, w);
    located where;
    if (!locate_shared<Verb>(i, w, w->mask, at, sizeof(T) * V, where)) {
        return nullptr;
    }
    move<T, V, Verb>(i, frame, w, w->mask, where);
    return i + 1;
}

template <class T, unsigned V, verb Verb>
const instruction* shared(const instruction* i, std::byte* frame, warp* w) {
    located where;
    if (i->width[1] != 4 || !locate_shared_run<Verb>(w, w->mask, read<std::uint32_t>(frame, w, i->a),
                                                     static_cast<std::uint32_t>(i->immediate), sizeof(T) * V, where)) {
        return shared_scattered<T, V, Verb>(i, frame, w);
    }
    move<T, V, Verb>(i, frame, w, w->mask, where);
    return i + 1;
}

// Any element and any register: `more` holds bytes of an element, elements, and whether the sign extends.
enum : std::uint32_t { element_bits = 0xFF, count_shift = 8, is_signed = 1u << 16 };

template <verb Verb>
void move_any(const instruction* i, std::byte* frame, warp* w, lane_mask mask, const located& where) {
    const unsigned bytes = i->more & element_bits;
    const unsigned n = i->more >> count_shift & 0xFF;
    const unsigned width = Verb == verb::load ? i->width[0] : i->width[2];
    for (unsigned k = 0; k < n; ++k) {
        const place p = n == 1 ? (Verb == verb::load ? i->d : i->b) : i->places[k];
        if (p == nowhere) {
            continue;
        }
        if constexpr (Verb == verb::load) {
            std::byte* const d = frame + p;
            each_lane(mask, [&](unsigned l) {
                std::uint64_t value[2] = {0, 0};
                std::memcpy(value, where.of(l) + k * bytes, bytes);
                if ((i->more & is_signed) != 0 && bytes < 8 && (value[0] >> (8 * bytes - 1) & 1) != 0) {
                    value[0] |= ~0ull << (8 * bytes);
                }
                std::memcpy(d + std::size_t{l} * width, value, width);
            });
        } else {
            const std::byte* const s = read<std::byte>(frame, w, p);
            each_lane(mask, [&](unsigned l) {
                std::memcpy(where.of(l) + k * bytes, s + std::size_t{l} * width, bytes < width ? bytes : width);
            });
        }
    }
}

SOFTGPU_INLINE unsigned access_bytes(const instruction* i) {
    return (i->more & element_bits) * (i->more >> count_shift & 0xFF);
}

template <verb Verb>
const instruction* any_global(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, frame, w);
    located where;
    if (!locate_global_run<Verb>(w, w->mask, at, 0, access_bytes(i), where) &&
        !locate_global<Verb>(i, w, w->mask, at, access_bytes(i), true, where)) {
        return nullptr;
    }
    move_any<Verb>(i, frame, w, w->mask, where);
    return i + 1;
}

template <verb Verb>
const instruction* any_shared(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint32_t at[lanes];
    shared_addresses(at, i, frame, w);
    located where;
    if (!locate_shared_run<Verb>(w, w->mask, at, 0, access_bytes(i), where) &&
        !locate_shared<Verb>(i, w, w->mask, at, access_bytes(i), where)) {
        return nullptr;
    }
    move_any<Verb>(i, frame, w, w->mask, where);
    return i + 1;
}

template <verb Verb>
const instruction* any_local(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, frame, w);
    located where;
    if (!locate_local<Verb>(i, w, w->mask, at, access_bytes(i), where)) {
        return nullptr;
    }
    move_any<Verb>(i, frame, w, w->mask, where);
    return i + 1;
}

// Each lane's address says its space: the windows of shared and local memory, or global memory.
template <verb Verb>
const instruction* any_generic(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, frame, w);
    const unsigned bytes = access_bytes(i);
    const std::uint64_t shared_base = w->host->launch->memory->shared_window();
    const std::uint64_t local_base = w->host->launch->memory->local_window();
    lane_mask in_shared = 0;
    lane_mask in_local = 0;
    each_lane(w->mask, [&](unsigned l) {
        in_shared |= (at[l] - shared_base < window ? 1u : 0u) << l;
        in_local |= (at[l] - local_base < window ? 1u : 0u) << l;
    });
    const lane_mask in_global = w->mask & ~in_shared & ~in_local;
    located where;
    if (in_global != 0) {
        if (!locate_global_run<Verb>(w, in_global, at, 0, bytes, where) &&
            !locate_global<Verb>(i, w, in_global, at, bytes, true, where)) {
            return nullptr;
        }
        move_any<Verb>(i, frame, w, in_global, where);
    }
    if (in_shared != 0) {
        std::uint32_t narrow[lanes] = {};
        each_lane(in_shared, [&](unsigned l) { narrow[l] = static_cast<std::uint32_t>(at[l] - shared_base); });
        if (!locate_shared<Verb>(i, w, in_shared, narrow, bytes, where)) {
            return nullptr;
        }
        move_any<Verb>(i, frame, w, in_shared, where);
    }
    if (in_local != 0) {
        each_lane(in_local, [&](unsigned l) { at[l] -= local_base; });
        if (!locate_local<Verb>(i, w, in_local, at, bytes, where)) {
            return nullptr;
        }
        move_any<Verb>(i, frame, w, in_local, where);
    }
    return i + 1;
}

// Constant variables, and parameters whose address was taken, are ordinary allocations.
template <bool Counted>
const instruction* any_constant(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, frame, w);
    located where;
    if (!locate_global<verb::load>(i, w, w->mask, at, access_bytes(i), false, where)) {
        return nullptr;
    }
    if constexpr (Counted) {
        ++w->counts->constant_load_requests;
    }
    move_any<verb::load>(i, frame, w, w->mask, where);
    return i + 1;
}

template <verb Verb>
handler any(const form& f) {
    switch (f.space) {
    case suffix::global: return any_global<Verb>;
    case suffix::shared:
    case suffix::shared_cta: return any_shared<Verb>;
    case suffix::local: return any_local<Verb>;
    case suffix::none: return any_generic<Verb>;
    case suffix::param:
    case suffix::param_entry: return Verb == verb::load ? any_constant<false> : nullptr;
    case suffix::const_: return Verb == verb::load ? any_constant<true> : nullptr;
    default: return nullptr;
    }
}

template <class T, unsigned V, verb Verb>
handler quick(const form& f) {
    return f.space == suffix::global ? global<T, V, Verb> : shared<T, V, Verb>;
}

template <verb Verb>
handler choose_access(const form& f) {
    const unsigned bytes = ptx::bytes_of(f.type[0]);
    if (bytes == 0 || bytes > 16 || bytes * f.vector > 32 || f.type[0] == suffix::pred) {
        return nullptr;
    }
    const bool matching = f.register_bytes == bytes;
    const bool plain_space = f.space == suffix::global || f.space == suffix::shared || f.space == suffix::shared_cta;
    if (matching && plain_space && bytes == 4) {
        switch (f.vector) {
        case 1: return quick<std::uint32_t, 1, Verb>(f);
        case 2: return quick<std::uint32_t, 2, Verb>(f);
        case 4: return quick<std::uint32_t, 4, Verb>(f);
        default: break;
        }
    }
    if (matching && plain_space && bytes == 8) {
        switch (f.vector) {
        case 1: return quick<std::uint64_t, 1, Verb>(f);
        case 2: return quick<std::uint64_t, 2, Verb>(f);
        default: break;
        }
    }
    return any<Verb>(f);
}

const instruction* nothing(const instruction* i, std::byte* /*frame*/, warp* /*w*/) { return i + 1; }

} // namespace

handler choose_memory(const form& f) {
    switch (f.op) {
    case opcode::ld:
    case opcode::ldu: return choose_access<verb::load>(f);
    case opcode::st: return choose_access<verb::store>(f);
    case opcode::prefetch:
    case opcode::prefetchu:
    case opcode::discard:
    case opcode::applypriority: return nothing;
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
