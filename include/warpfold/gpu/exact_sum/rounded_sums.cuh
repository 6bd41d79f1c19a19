// SPDX-License-Identifier: MIT
// The sums of windows at the fixed place, rounded.
#pragma once

#include <cstdint>

#include "warpfold/detail/exact/exact_integer.hpp"
#include "warpfold/gpu/exact_sum/block_accumulator.cuh"
#include "warpfold/gpu/exact_sum/multiword_integer.cuh"
#include "warpfold/gpu/exact_sum/window.cuh"

namespace warpfold::detail {

// The sum of the levels of windows at the fixed place, in halves: those of levels 0, 1, ..., the lower one first.
template <class T, unsigned Factors>
using window_halves = level_sums<2 * window_parameters<T, Factors>::levels>;

template <class T, unsigned Factors>
__device__ window_halves<T, Factors> in_halves(const level_sums<window_parameters<T, Factors>::levels>& sums) {
    window_halves<T, Factors> halves;
#pragma unroll
    for (unsigned w = 0; w < window_parameters<T, Factors>::levels; ++w) {
        halves.of[2 * w] = sums.of[w] & 0xffffffff;
        halves.of[2 * w + 1] = sums.of[w] >> 32;
    }
    return halves;
}

// Their sum, rounded to R. The second form adds the block's limbs, which it changes. Called by one thread.
template <class R, class T, unsigned Factors>
__device__ R rounded_sums(const window_halves<T, Factors>& sums) {
    using kind = window_parameters<T, Factors>;
    using window = exact_window<kind::levels>;
    multiword_integer<(window::depth + 74 + 63) / 64> total;
    total.template set<exact_spacing, kind::levels>(sums.of);
    return total.template rounded<R>(kind::highest - window::depth);
}
template <class R, class T, unsigned Factors>
__device__ R rounded_sums(const window_halves<T, Factors>& sums, block_accumulator<T, Factors>& limbs) {
    using kind = window_parameters<T, Factors>;
    using layout = exact_layout<T, Factors>;
    constexpr int lowest_place = kind::highest - exact_window<kind::levels>::depth - layout::lowest;
    auto* const limb = reinterpret_cast<std::int64_t*>(limbs.limb);
    const to_limbs add{limb};
#pragma unroll
    for (unsigned w = 0; w < kind::levels; ++w) {
        const unsigned place = static_cast<unsigned>(lowest_place) + (kind::levels - 1 - w) * exact_spacing;
        add_integer(sums.of[2 * w], place, add);
        add_integer(sums.of[2 * w + 1], place + 32, add);
    }
    return rounded<R>(limb, layout::limbs, layout::lowest, limbs.met);
}

} // namespace warpfold::detail
