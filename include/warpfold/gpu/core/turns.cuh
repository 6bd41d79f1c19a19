// SPDX-License-Identifier: MIT
// Blocks that begin in turn. Where all blocks that fit begin at once and wait for each other's totals, all of them read,
// then all wait, then all write, and memory idles between. Where each one begins as much after the one before as memory
// takes for a tile, tiles arrive in order, and the first are written while the last are read (decision 97).
#pragma once

#include <cstdint>

#include "warpfold/gpu/core/target.hpp"

namespace warpfold::detail {

// Cycles of a multiprocessor in which the current device's memory moves so many bytes, at seven eighths of its peak, which
// copies reach; 0 where the device does not say how fast it is.
inline unsigned cycles_of_memory(std::uint64_t bytes) {
    const std::uint64_t bytes_per_second = std::uint64_t{device_attribute<cudaDevAttrMemoryClockRate>()} * 2 * 1000 *
                                           (device_attribute<cudaDevAttrGlobalMemoryBusWidth>() / 8) / 8 * 7;
    const std::uint64_t cycles_per_second = std::uint64_t{device_attribute<cudaDevAttrClockRate>()} * 1000;
    return bytes_per_second == 0 ? 0 : static_cast<unsigned>(bytes * cycles_per_second / bytes_per_second);
}

// By one thread: waits about so many cycles. By a chain of dependent instructions, of which, unlike of looks at a clock, every
// run executes as many. Not inlined: the kernel behind it keeps its registers.
__device__ __noinline__ inline void wait_cycles(unsigned cycles) {
    constexpr unsigned chain = 8, round = 40; // instructions, and cycles that they and the loop take
    unsigned x = 1;
#pragma unroll 1
    for (unsigned k = cycles / round; k != 0; --k) {
#pragma unroll
        for (unsigned j = 0; j < chain; ++j) {
            x = x * x + 1;
        }
    }
    if (x == 0) { // it is not, since no square is -1; but the compiler keeps the chain for it
        __trap();
    }
}

// The turns of a grid whose blocks have a tile each: the first `resident` blocks begin `cycles` after one another, all
// others when one of those ends.
struct block_turns {
    unsigned resident = 0, cycles = 0;

    // Of so many blocks, `resident_` of which fit at once, each with so many bytes to read.
    static block_turns of(unsigned blocks, unsigned resident_, std::uint64_t bytes) {
        return blocks <= resident_ ? block_turns{} : block_turns{resident_, cycles_of_memory(bytes)};
    }
    // By all threads of the block.
    __device__ void await() const {
        if (blockIdx.x < resident) {
            if (threadIdx.x == 0) {
                wait_cycles(blockIdx.x * cycles);
            }
            __syncthreads();
        }
    }
};

} // namespace warpfold::detail
