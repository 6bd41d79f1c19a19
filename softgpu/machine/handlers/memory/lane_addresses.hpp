// SPDX-License-Identifier: MIT
// Where the lanes of an access find their bytes: addresses, bounds, alignment, counters. Serves every access; the common
// ones take a shorter way by address_pattern.hpp.
#pragma once

#include "softgpu/machine/handlers/memory/access_cost.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// Lane l's bytes start at run + l * step, or at each[l] where run is null.
struct located {
    std::byte* run = nullptr;
    std::uint64_t step = 0;
    std::byte* each[lanes];

    [[nodiscard]] SOFTGPU_INLINE std::byte* of(unsigned l) const { return run != nullptr ? run + l * step : each[l]; }
};

// false: a fault was raised.
template <verb Verb>
__attribute__((noinline)) bool check_each(const instruction* i, warp* w, lane_mask mask, const std::uint64_t* at,
                                          unsigned bytes) {
    bool fine = true;
    each_lane(mask, [&](unsigned l) {
        const bool misaligned = (at[l] & (bytes - 1)) != 0;
        const auto allocated = [&] {
            return is_allocated(w, at[l], bytes, Verb) || (Verb == verb::load && uses_allocated_bytes(w, i, at[l]));
        };
        if (fine && (misaligned || !allocated())) {
            fine = false;
            raise_access(w, i, verb_name<Verb>, "global", at[l], bytes, misaligned, l);
        }
    });
    return fine;
}

// A run of addresses in one allocation: the fast case. `at` may be short of the address by `offset` in every lane.
// false: the addresses are no run, or not all valid.
template <verb Verb>
SOFTGPU_INLINE bool locate_global_run(warp* w, lane_mask mask, const std::uint64_t* at, std::uint64_t offset,
                                      unsigned bytes, located& where) {
    const unsigned first = first_lane(mask);
    const unsigned last = last_lane(mask);
    const std::uint64_t origin = at[first] - std::uint64_t{first} * bytes;
    const std::uint64_t begin = at[first] + offset;
    const std::uint64_t length = std::uint64_t{last - first + 1} * bytes;
    const bool gapless = mask >> first == all_lanes >> (31 - last + first);
    if (!gapless || !is_run(mask, at, origin, bytes) || (begin & (bytes - 1)) != 0 ||
        !is_allocated(w, begin, length, Verb)) {
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
    if (((ored & (bytes - 1)) != 0 || !is_allocated(w, low, high - low + bytes, Verb)) &&
        !check_each<Verb>(i, w, mask, at, bytes)) {
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
    const unsigned first = first_lane(mask);
    const unsigned last = last_lane(mask);
    const std::uint32_t origin = at[first] - first * bytes;
    const std::uint32_t begin = at[first] + offset;
    if (!is_run(mask, at, origin, bytes) || (begin & (bytes - 1)) != 0 ||
        std::uint64_t{begin} + (last - first + 1) * bytes > w->host->launch->shared_bytes) {
        return false;
    }
    if (w->host->count) {
        const bank_cost cost = bytes <= 4          ? bank_cost{1, 0}
                               : mask == all_lanes ? bank_cost{bytes == 8 ? 2u : bytes / 4, 0}
                                                   : count_wavefronts<Verb>(mask, at, bytes);
        count_shared<Verb>(w, mask, cost, bytes);
    }
    where.run = w->owner->shared + static_cast<std::int32_t>(origin + offset);
    where.step = bytes;
    return true;
}

// false: a fault was raised.
template <verb Verb>
SOFTGPU_INLINE bool check_shared(const instruction* i, warp* w, lane_mask mask, const std::uint32_t* at,
                                 unsigned bytes) {
    const std::uint32_t size = w->host->launch->shared_bytes;
    std::uint32_t wrong = 0;
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        const bool bad = (at[l] & (bytes - 1)) != 0 || at[l] > size - bytes;
        wrong |= (mask & (1u << l)) != 0 && bad ? 1u : 0u;
    }
    bool fine = true;
    if (wrong != 0 || size < bytes) [[unlikely]] {
        each_lane(mask, [&](unsigned l) {
            const bool misaligned = (at[l] & (bytes - 1)) != 0;
            if (fine && (misaligned || std::uint64_t{at[l]} + bytes > size)) {
                fine = false;
                raise_access(w, i, verb_name<Verb>, "shared", at[l], bytes, misaligned, l);
            }
        });
    }
    return fine;
}

template <verb Verb>
__attribute__((noinline)) bool locate_shared(const instruction* i, warp* w, lane_mask mask, const std::uint32_t* at,
                                             unsigned bytes, located& where) {
    if (!check_shared<Verb>(i, w, mask, at, bytes)) {
        return false;
    }
    for (unsigned l = 0; l < lanes; ++l) {
        where.each[l] = w->owner->shared + at[l];
    }
    if (w->host->count) {
        count_shared<Verb>(w, mask, wavefronts_of<Verb>(w, mask, at, bytes), bytes);
    }
    where.run = nullptr;
    return true;
}

// A thread's local memory is its own: the address is the same in every thread.
template <verb Verb>
inline bool locate_local(const instruction* i, warp* w, lane_mask mask, const std::uint64_t* at, unsigned bytes,
                         located& where) {
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

SOFTGPU_INLINE void addresses(std::uint64_t* at, const instruction* i, warp* w) {
    const auto offset = static_cast<std::uint64_t>(i->immediate);
    if (i->width[1] == 8) [[likely]] {
        const auto* const a = read<std::uint64_t>(w, i->a);
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            at[l] = a[l] + offset;
        }
    } else {
        const auto* const a = read<std::uint32_t>(w, i->a);
        for (unsigned l = 0; l < lanes; ++l) {
            at[l] = static_cast<std::uint32_t>(a[l] + offset);
        }
    }
}

// What stands for a shared address beyond 32 bits: out of bounds, and no less aligned than it is.
inline constexpr std::uint32_t beyond_shared = 0xFFFFFFF0u;

SOFTGPU_INLINE void shared_addresses(std::uint32_t* at, const instruction* i, warp* w) {
    if (i->width[1] == 4) [[likely]] {
        const auto offset = static_cast<std::uint32_t>(i->immediate);
        const auto* const a = read<std::uint32_t>(w, i->a);
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            at[l] = a[l] + offset;
        }
    } else {
        const auto* const a = read<std::uint64_t>(w, i->a);
        for (unsigned l = 0; l < lanes; ++l) {
            const std::uint64_t whole = a[l] + static_cast<std::uint64_t>(i->immediate);
            at[l] = whole > beyond_shared ? beyond_shared : static_cast<std::uint32_t>(whole);
        }
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
