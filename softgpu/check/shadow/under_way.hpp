// SPDX-License-Identifier: MIT
// The stamp of a word of shared memory that a copy of cp.async will write, and that its thread has not waited for:
// several lanes, and as its time the highest bit and the start of the block. Stamps of an earlier block of the same shared
// memory are ignored.
#pragma once

#include "softgpu/check/shadow/stamp.hpp"

namespace softgpu::check {

inline constexpr std::uint64_t under_way_bit = 1ull << 34;

constexpr stamp under_way(std::uint64_t started) noexcept {
    return static_cast<stamp>((under_way_bit | started) << time_shift) | several_lanes;
}
constexpr bool may_be_under_way(stamp s) noexcept {
    constexpr std::uint64_t ones =
        2 * under_way_bit - 1; // all ones: lanes of a warp overwrote each other, machine/inspect/races/word_races.cpp
    const std::uint64_t time = static_cast<std::uint64_t>(s) >> time_shift;
    return time >= under_way_bit && time != ones;
}
constexpr bool is_under_way(stamp s, std::uint64_t started) noexcept {
    return static_cast<std::uint64_t>(s) >> time_shift == (under_way_bit | started);
}

} // namespace softgpu::check
