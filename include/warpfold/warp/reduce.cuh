// SPDX-License-Identifier: MIT
// Reduction over the lanes of a warp.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "warpfold/operation.hpp"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold {

namespace detail {

// True if devices of compute capability 8.0 and later reduce it with redux instructions.
template <class Op, class A>
inline constexpr bool reduces_at_once_v = std::is_integral_v<A> && (sizeof(A) == 4 || sizeof(A) == 8) &&
                                          (std::is_same_v<Op, sum> || std::is_same_v<Op, minimum> ||
                                           std::is_same_v<Op, maximum>);

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(WARPFOLD_NO_REDUX)
inline constexpr bool has_at_once = true;
#else
inline constexpr bool has_at_once = false;
#endif

// Called by a whole warp on a device with redux; every lane gets the result.
template <class Op, class A>
__device__ A reduce_at_once([[maybe_unused]] A value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    constexpr unsigned all = warp::all_lanes;
    using word = std::conditional_t<std::is_signed_v<A>, int, unsigned>;
    [[maybe_unused]] const auto extreme = [](auto x) {
        if constexpr (std::is_same_v<Op, minimum>) {
            return __reduce_min_sync(all, x);
        } else {
            return __reduce_max_sync(all, x);
        }
    };
    if constexpr (sizeof(A) == 4) {
        if constexpr (std::is_same_v<Op, sum>) {
            return static_cast<A>(__reduce_add_sync(all, static_cast<unsigned>(value)));
        } else {
            return static_cast<A>(extreme(static_cast<word>(value)));
        }
    } else {
        const auto bits = static_cast<std::uint64_t>(value);
        if constexpr (std::is_same_v<Op, sum>) {
            // In parts of 24 bits: 32 of them fit in a word.
            const unsigned low = __reduce_add_sync(all, static_cast<unsigned>(bits) & 0xffffffu);
            const unsigned middle = __reduce_add_sync(all, static_cast<unsigned>(bits >> 24) & 0xffffffu);
            const unsigned high = __reduce_add_sync(all, static_cast<unsigned>(bits >> 48));
            return static_cast<A>(low + (std::uint64_t{middle} << 24) + (std::uint64_t{high} << 48));
        } else {
            const auto upper = static_cast<word>(bits >> 32);
            const word best = extreme(upper);
            constexpr unsigned none = std::is_same_v<Op, minimum> ? ~0u : 0u;
            const unsigned lower = extreme(upper == best ? static_cast<unsigned>(bits) : none);
            return static_cast<A>(std::uint64_t{static_cast<unsigned>(best)} << 32 | lower);
        }
    }
#else
    return value;
#endif
}

} // namespace detail

namespace warp {

// Returns op(v0, op(v1, ... v31)) in lane order, in lane 0 only. The whole warp calls it. Five shuffles per word of A;
// a few instructions for integer sums, minima and maxima where the device has redux.
template <class A, class Op>
__device__ A reduce(A value, const Op& op) {
    if constexpr (detail::has_at_once && detail::reduces_at_once_v<Op, A>) {
        return detail::reduce_at_once<Op>(value);
    } else {
#pragma unroll
        for (unsigned distance = 1; distance < lanes; distance *= 2) {
            value = op(value, shuffle_down(value, distance));
        }
        return value;
    }
}

} // namespace warp
} // namespace warpfold
