// SPDX-License-Identifier: MIT
// Sorting by one bit after the other, lowest first. A pass splits the keys: those whose bit is 0 come first, and each
// kind keeps its order. One scan tells how many keys with a 0 are before each.
#pragma once

#include <cstdint>
#include <utility>

#include "ladder/engine/definition/launch.hpp"
#include "ladder/engine/definition/library_workspace.hpp"
#include "ladder/scan/applications/applications.hpp"
#include "warpfold/scan.cuh"

namespace warpfold::ladder::scan {

struct bit_is_zero {
    unsigned bit;

    WARPFOLD_HD unsigned operator()(unsigned key) const { return ~key >> bit & 1; }
};

using split_kernel = void (*)(unsigned* output, const unsigned* keys, const unsigned* zeros_before, bit_is_zero is_zero,
                              std::uint64_t n);

namespace {

__global__ void split(unsigned* output, const unsigned* keys, const unsigned* zeros_before, bit_is_zero is_zero,
                      std::uint64_t n) {
    const std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k >= n) {
        return;
    }
    const std::uint64_t zeros = zeros_before[n - 1] + is_zero(keys[n - 1]);
    output[is_zero(keys[k]) ? zeros_before[k] : zeros + k - zeros_before[k]] = keys[k];
}

} // namespace

// Bytes of scratch.
[[nodiscard]] inline std::size_t sort_scratch(std::uint64_t n) { return 2 * n * sizeof(unsigned); }

// Sorts the keys by their lowest `bits` bits, an even number.
inline void sort_by_bits(const engine::stage& on, const gpu& target, split_kernel kernel, const unsigned* keys,
                         unsigned* sorted, unsigned* scratch, unsigned bits) {
    unsigned* const zeros_before = scratch;
    unsigned* to = scratch + on.n;
    unsigned* other = sorted;
    for (unsigned bit = 0; bit < bits; ++bit) {
        const bit_is_zero is_zero{bit};
        warpfold::transform_exclusive_scan(target, keys, on.n, zeros_before, is_zero);
        engine::launch(on, "split", kernel, static_cast<unsigned>(engine::divide_up(on.n, threads)), threads, 0, to,
                       keys, zeros_before, is_zero, on.n);
        keys = to;
        std::swap(to, other);
    }
}

} // namespace warpfold::ladder::scan
