// SPDX-License-Identifier: MIT
// Beyond one block by block sums: every block scans its part and leaves its sum, the sums are scanned in the same way,
// and what comes before a block is added to its part.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ladder/engine/definition/launch.hpp"

namespace warpfold::ladder::scan {

// Scans a part of the input for each block; the sum of block b is left in sums[b] where sums is not null.
using part_kernel = void (*)(int* output, const int* input, int* sums, std::uint64_t n);

namespace {

// Adds before[b - shift] to every element of part b, from part `shift` on.
__global__ void add_before(int* output, const int* before, std::uint64_t n, unsigned part, unsigned shift) {
    const std::uint64_t block = blockIdx.x + std::uint64_t{shift};
    const int more = before[block - shift];
    for (unsigned k = threadIdx.x; k < part; k += blockDim.x) {
        const std::uint64_t i = block * part + k;
        if (i < n) {
            output[i] += more;
        }
    }
}

} // namespace

struct part_shape {
    const char* name;
    part_kernel kernel;
    unsigned part; // elements
    unsigned threads;
    std::size_t shared_bytes;
    bool inclusive;
};

// Elements of scratch for all levels of sums.
[[nodiscard]] inline std::uint64_t sums_of(std::uint64_t n, unsigned part) {
    std::uint64_t all = 0;
    while (n > part) {
        n = engine::divide_up(n, part);
        all += n;
    }
    return all;
}

inline void scan_recursively(const engine::stage& on, const part_shape& shape, int* output, const int* input,
                             std::uint64_t n, int* sums) {
    const std::uint64_t parts = engine::divide_up(n, shape.part);
    engine::launch(on, shape.name, shape.kernel, static_cast<unsigned>(parts), shape.threads, shape.shared_bytes,
                   output, input, parts > 1 ? sums : nullptr, n);
    if (parts > 1) {
        scan_recursively(on, shape, sums, sums, parts, sums + parts);
        const unsigned shift = shape.inclusive ? 1 : 0;
        engine::launch(on, "add_before", add_before, static_cast<unsigned>(parts - shift), std::min(shape.part, 1024u),
                       0, output, sums, n, shape.part, shift);
    }
}

} // namespace warpfold::ladder::scan
