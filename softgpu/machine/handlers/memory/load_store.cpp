// SPDX-License-Identifier: MIT
// Loads and stores in every space. First the lanes are located: bounds, alignment, counters, and where each lane's bytes
// are. Then they are moved. Most accesses to global and shared memory have handlers of their own (load_store_global.cpp,
// load_store_shared.cpp); everything else goes through one general mover here.
#include "softgpu/machine/handlers/memory/load_store.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/memory/lane_addresses.hpp"
#include "softgpu/machine/module/constant_address.hpp"
#include "softgpu/machine/run/bulk/bulk_copy.hpp"
#include "softgpu/machine/run/cluster/distributed.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

constexpr std::uint64_t window = memory::device_memory::window_bytes;

// A lane's vector of 8 or 16 bytes is moved at once: blocks tell each other values together with flags so (look-back).
SOFTGPU_INLINE void copy_at_once(void* to, const void* from, unsigned bytes) {
    using sixteen [[gnu::vector_size(16), gnu::may_alias]] = std::uint64_t;
    using eight [[gnu::may_alias]] = std::uint64_t;
    if (bytes == 8) {
        *static_cast<volatile eight*>(to) = *static_cast<const volatile eight*>(from);
    } else if (bytes == 16) {
        *static_cast<volatile sixteen*>(to) = *static_cast<const volatile sixteen*>(from);
    } else {
        std::memcpy(to, from, bytes);
    }
}

template <verb Verb>
void move_vectors(const instruction* i, std::byte* frame, warp* w, lane_mask mask, const located& where, unsigned bytes,
                  unsigned n, unsigned width) {
    each_lane(mask, [&](unsigned l) {
        alignas(16) std::byte whole[32];
        if constexpr (Verb == verb::load) {
            copy_at_once(whole, where.of(l), bytes * n);
        }
        for (unsigned k = 0; k < n; ++k) {
            const place p = i->places[k];
            if constexpr (Verb == verb::load) {
                std::uint64_t value[2] = {0, 0};
                std::memcpy(value, whole + k * bytes, bytes);
                if ((i->more & element_is_signed) != 0 && bytes < 8 && (value[0] >> (8 * bytes - 1) & 1) != 0) {
                    value[0] |= ~0ull << (8 * bytes);
                }
                if (p != nowhere) {
                    std::memcpy(frame + p + std::size_t{l} * width, value, width);
                }
            } else {
                const std::byte* const s = read<std::byte>(w, p);
                std::memcpy(whole + k * bytes, s + std::size_t{l} * width, bytes < width ? bytes : width);
            }
        }
        if constexpr (Verb == verb::store) {
            copy_at_once(where.of(l), whole, bytes * n);
        }
    });
}

template <verb Verb>
void move_any(const instruction* i, std::byte* frame, warp* w, lane_mask mask, const located& where) {
    const unsigned bytes = i->more & element_bytes_bits;
    const unsigned n = i->more >> element_count_shift & 0xFF;
    const unsigned width = Verb == verb::load ? i->width[0] : i->width[2];
    if (n > 1) {
        move_vectors<Verb>(i, frame, w, mask, where, bytes, n, width);
        return;
    }
    const place p = Verb == verb::load ? i->d : i->b;
    if (p == nowhere) {
        return;
    }
    if constexpr (Verb == verb::load) {
        std::byte* const d = frame + p;
        each_lane(mask, [&](unsigned l) {
            std::uint64_t value[2] = {0, 0};
            std::memcpy(value, where.of(l), bytes);
            if ((i->more & element_is_signed) != 0 && bytes < 8 && (value[0] >> (8 * bytes - 1) & 1) != 0) {
                value[0] |= ~0ull << (8 * bytes);
            }
            std::memcpy(d + std::size_t{l} * width, value, width);
        });
    } else {
        const std::byte* const s = read<std::byte>(w, p);
        each_lane(mask, [&](unsigned l) {
            std::memcpy(where.of(l), s + std::size_t{l} * width, bytes < width ? bytes : width);
        });
    }
}

SOFTGPU_INLINE unsigned access_bytes(const instruction* i) {
    return (i->more & element_bytes_bits) * (i->more >> element_count_shift & 0xFF);
}

template <verb Verb>
const instruction* any_global(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, w);
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
    shared_addresses(at, i, w);
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
    addresses(at, i, w);
    located where;
    if (!locate_local<Verb>(i, w, w->mask, at, access_bytes(i), where)) {
        return nullptr;
    }
    move_any<Verb>(i, frame, w, w->mask, where);
    return i + 1;
}

// Shared memory of the cluster's blocks.
template <verb Verb>
const instruction* any_cluster(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, w);
    lane_mask others = 0;
    each_lane(w->mask, [&](unsigned l) { others |= (at[l] >= window ? 1u : 0u) << l; });
    if (others == 0) {
        return any_shared<Verb>(i, frame, w);
    }
    located where;
    if (!locate_distributed(i, w, w->mask, at, false, access_bytes(i), verb_name<Verb>, where.each)) {
        return nullptr;
    }
    move_any<Verb>(i, frame, w, w->mask, where);
    return i + 1;
}

// Each lane's address says its space: the windows of shared and local memory, or global memory.
template <verb Verb>
const instruction* any_generic(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, w);
    const unsigned bytes = access_bytes(i);
    const std::uint64_t shared_base = w->host->launch->memory->shared_window();
    const std::uint64_t local_base = w->host->launch->memory->local_window();
    lane_mask in_shared = 0;
    lane_mask in_local = 0;
    lane_mask in_cluster = 0;
    each_lane(w->mask, [&](unsigned l) {
        in_shared |= (at[l] - shared_base < window ? 1u : 0u) << l;
        in_local |= (at[l] - local_base < window ? 1u : 0u) << l;
        in_cluster |= (is_in_cluster_window(*w->host->launch, at[l]) ? 1u : 0u) << l;
    });
    const lane_mask in_global = w->mask & ~in_shared & ~in_local & ~in_cluster;
    located where;
    if (in_cluster != 0) {
        if (!locate_distributed(i, w, in_cluster, at, true, bytes, verb_name<Verb>, where.each)) {
            return nullptr;
        }
        move_any<Verb>(i, frame, w, in_cluster, where);
    }
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
    addresses(at, i, w);
    if (i->width[1] != 8) { // PTX's addresses of constants are offsets, and fit into 32 bits
        each_lane(w->mask, [&](unsigned l) {
            at[l] = whole_constant_address(*w->host->launch->home, static_cast<std::uint32_t>(at[l]));
        });
    }
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
    case suffix::shared_cluster: return any_cluster<Verb>;
    case suffix::local: return any_local<Verb>;
    case suffix::none: return any_generic<Verb>;
    case suffix::param:
    case suffix::param_entry: return Verb == verb::load ? any_constant<false> : nullptr;
    case suffix::const_: return Verb == verb::load ? any_constant<true> : nullptr;
    default: return nullptr;
    }
}

template <verb Verb>
handler choose_access(const form& f) {
    const unsigned bytes = ptx::bytes_of(f.type[0]);
    if (bytes == 0 || bytes > 16 || bytes * f.vector > 32 || f.type[0] == suffix::pred) {
        return nullptr;
    }
    const bool strong = f.has(suffix::volatile_) || f.has(suffix::relaxed) || f.has(suffix::acquire) ||
                        f.has(suffix::release) || f.has(suffix::mmio);
    handler quick = nullptr;
    if (strong && f.vector > 1) {
        quick = nullptr; // each lane's vector at once
    } else if (f.space == suffix::global) {
        quick = quick_global<Verb>(bytes, f.vector, f.register_bytes);
    } else if (f.space == suffix::shared || f.space == suffix::shared_cta) {
        quick = quick_shared<Verb>(bytes, f.vector, f.register_bytes);
    }
    return quick != nullptr ? quick : any<Verb>(f);
}

// A cache policy: caches are not simulated.
const instruction* no_policy(const instruction* i, std::byte* frame, warp* w) {
    auto* const d = written<std::uint64_t>(frame, i->d);
    each_lane(w->mask, [&](unsigned l) { d[l] = 0; });
    return i + 1;
}

const instruction* nothing(const instruction* i, std::byte* /*frame*/, warp* /*w*/) { return i + 1; }

// Element k of the Ts, in a register of Rs.
template <class R, class T>
SOFTGPU_INLINE void spread(const instruction* i, R* d, unsigned k, lane_mask mask, const T* in) {
    using whole = std::conditional_t<sizeof(T) == 8 || sizeof(R) == 8, std::uint64_t, std::uint32_t>;
    const unsigned bits = 8 * (i->more & element_bytes_bits);
    const unsigned down = 8 * sizeof(whole) - bits;
    const unsigned up = down - k * bits;
    if ((i->more & element_is_signed) != 0) {
        map_lanes(
            mask, d,
            [=](T v) {
                return static_cast<R>(static_cast<std::make_signed_t<whole>>(static_cast<whole>(v) << up) >> down);
            },
            in);
    } else {
        map_lanes(
            mask, d, [=](T v) { return static_cast<R>(static_cast<whole>(static_cast<whole>(v) << up) >> down); }, in);
    }
}

template <class R, class T>
SOFTGPU_INLINE void collect(const instruction* i, const R* s, unsigned k, T* out) {
    const unsigned bits = 8 * (i->more & element_bytes_bits);
    const std::uint64_t all = ~0ull >> (64 - bits);
    const unsigned up = k * bits;
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        const auto v = static_cast<T>((s[l] & all) << up);
        out[l] = static_cast<T>(k == 0 ? v : out[l] | v);
    }
}

} // namespace

template <class T>
void spread_lanes(const instruction* i, std::byte* frame, lane_mask mask, const T* in) {
    const unsigned n = i->more >> element_count_shift & 0xFF;
    for (unsigned k = 0; k < n; ++k) {
        const place p = n == 1 ? i->d : i->places[k];
        if (p == nowhere) {
            continue;
        }
        switch (i->width[0]) {
        case 2: spread(i, written<std::uint16_t>(frame, p), k, mask, in); break;
        case 4: spread(i, written<std::uint32_t>(frame, p), k, mask, in); break;
        default: spread(i, written<std::uint64_t>(frame, p), k, mask, in); break;
        }
    }
}

template <class T>
void collect_lanes(const instruction* i, const warp* w, T* out) {
    const unsigned n = i->more >> element_count_shift & 0xFF;
    for (unsigned k = 0; k < n; ++k) {
        const place p = n == 1 ? i->b : i->places[k];
        switch (i->width[2]) {
        case 1: collect(i, read<std::uint8_t>(w, p), k, out); break; // of constants
        case 2: collect(i, read<std::uint16_t>(w, p), k, out); break;
        case 4: collect(i, read<std::uint32_t>(w, p), k, out); break;
        default: collect(i, read<std::uint64_t>(w, p), k, out); break;
        }
    }
}
#define SOFTGPU_NARROW(T)                                                                                              \
    template void spread_lanes<T>(const instruction*, std::byte*, lane_mask, const T*);                                \
    template void collect_lanes<T>(const instruction*, const warp*, T*);
SOFTGPU_NARROW(std::uint8_t)
SOFTGPU_NARROW(std::uint16_t)
SOFTGPU_NARROW(std::uint32_t)
SOFTGPU_NARROW(std::uint64_t)
#undef SOFTGPU_NARROW

handler choose_memory(const form& f) {
    if (f.has(suffix::async)) { // st.async
        const unsigned bytes = ptx::bytes_of(f.type[0]);
        return f.space == suffix::shared_cluster && (bytes == 4 || bytes == 8) && bytes * f.vector <= 16
                   ? start_async_store
                   : nullptr;
    }
    if (f.has(suffix::bulk)) {
        return f.op == opcode::st && (f.space == suffix::shared_cta || f.space == suffix::none) ? store_zeros : nullptr;
    }
    switch (f.op) {
    case opcode::ld:
    case opcode::ldu: return choose_access<verb::load>(f);
    case opcode::st: return choose_access<verb::store>(f);
    case opcode::createpolicy: return no_policy;
    case opcode::prefetch:
    case opcode::prefetchu:
    case opcode::discard:
    case opcode::applypriority: return nothing;
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
