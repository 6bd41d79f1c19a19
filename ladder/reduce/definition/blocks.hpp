// SPDX-License-Identifier: MIT
// How many blocks the steps launch, and how deep their trees of additions are.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ladder/reduce/definition/reduction.hpp"

namespace warpfold::ladder::reduce {

// One element a thread (steps 1 to 3, sum_unroll, sum_warp).
[[nodiscard]] inline std::uint64_t one_each(const shape& device, std::uint64_t n, unsigned /*round*/) {
    return divide_up(n, device.block);
}
[[nodiscard]] inline std::uint64_t height_one_each(const shape& device, std::uint64_t /*n*/, unsigned /*round*/) {
    return log2_up(device.block);
}

// Two elements a thread, added as they are loaded (steps 4 to 6).
[[nodiscard]] inline std::uint64_t two_each(const shape& device, std::uint64_t n, unsigned /*round*/) {
    return divide_up(n, 2 * std::uint64_t{device.block});
}
[[nodiscard]] inline std::uint64_t height_two_each(const shape& device, std::uint64_t /*n*/, unsigned /*round*/) {
    return 1 + log2_up(device.block);
}

// Algorithm cascading (step 7 on): a thread adds log2(n) elements or more, as Brent's theorem has it, and there are no
// more blocks than the device holds at once. One block does every later round.
[[nodiscard]] inline std::uint64_t many_each(const shape& device, std::uint64_t n, unsigned round) {
    if (round > 0) {
        return 1;
    }
    const std::uint64_t by_work = n / (std::uint64_t{device.block} * std::max(2u, log2_up(n)));
    return std::clamp<std::uint64_t>(by_work, 1, device.resident_blocks);
}
[[nodiscard]] inline std::uint64_t elements_each(const shape& device, std::uint64_t n, unsigned round) {
    return divide_up(n, many_each(device, n, round) * device.block);
}
[[nodiscard]] inline std::uint64_t height_many_each(const shape& device, std::uint64_t n, unsigned round) {
    return elements_each(device, n, round) + 1 + log2_up(device.block);
}

// Roundings of block_reduce (shuffles.cuh): the tree of a warp, and that of the warps.
[[nodiscard]] inline std::uint64_t height_warps(unsigned block) {
    return log2_up(std::min(block, 32u)) + log2_up(divide_up(block, 32));
}
[[nodiscard]] inline std::uint64_t height_shuffles(const shape& device, std::uint64_t n, unsigned round) {
    return elements_each(device, n, round) + 1 + height_warps(device.block);
}
// add_vectors (vectors.cuh): vectors of four elements at most, and the ends, which are of three at most.
[[nodiscard]] inline std::uint64_t height_vectors(const shape& device, std::uint64_t n, unsigned round) {
    return elements_each(device, n, round) + 4 + 2 * 3 + height_warps(device.block);
}

} // namespace warpfold::ladder::reduce
