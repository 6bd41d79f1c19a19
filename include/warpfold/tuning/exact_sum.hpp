// SPDX-License-Identifier: MIT
// How exact_sum, exact_dot and exact_accumulator::add are launched on a GPU. See policy.hpp. No field changes a bit of
// the results.
#pragma once

#include <algorithm>

#include "warpfold/tuning/policy.hpp"

namespace warpfold::tuning {

struct exact_sum_kernels {
    unsigned max_block_threads = 512; // three quarters of them for products of doubles, which take more registers
    unsigned resident_blocks = 2;     // of a multiprocessor, for which registers are left
    unsigned vector_loads_in_flight =
        3; // of 16 bytes, in each thread of a sum. In products each array has half as many
           // of doubles, rounded up, and one of floats.

    bool operator==(const exact_sum_kernels&) const = default;
};

template <exact_sum_kernels Kernels = exact_sum_kernels{}>
struct exact_sum_policy {
    static constexpr primitive calls = primitive::exact_sum;
    static constexpr exact_sum_kernels kernels = Kernels;
    static_assert(is_block_size(Kernels.max_block_threads) && Kernels.max_block_threads <= 512,
                  "exact_sum_kernels: max_block_threads is not a multiple of 32 from 32 to 512");
    static_assert(
        Kernels.resident_blocks >= 1 && Kernels.resident_blocks * Kernels.max_block_threads <= 2048,
        "exact_sum_kernels: resident_blocks have no thread, or more than 2,048, the most of a multiprocessor");
    static_assert(Kernels.vector_loads_in_flight >= 1, "exact_sum_kernels: a thread has at least one load in flight");

    // One block has the whole array, if it has no more vectors of 16 bytes and no more elements than these.
    unsigned one_block_max_vectors = 2048;
    unsigned one_block_max_elements = 8192;
    // Otherwise there are several, at most so many for each multiprocessor, and one for each while its threads have no more
    // vectors than these. Blocks are short until each thread of that many short blocks has a vector.
    unsigned blocks_per_multiprocessor = Kernels.resident_blocks;
    unsigned single_blocks_max_vectors = 4;
    unsigned short_block_threads = std::min(256u, Kernels.max_block_threads);
    unsigned segment_block_threads = std::min(64u, Kernels.max_block_threads); // of a block that sums whole segments

    // Defaults of an architecture:
    //   9.0  Measured on an H100 (docs/results/library/exact-sum-h100.md): the values above.
    //        segment_block_threads is a guess.
    //   7.5, 8.0, 8.6, 8.9, 12.x
    //        Derived: as 9.0. Registers limit the blocks of a multiprocessor, 64 for each of 1,024 threads, and all of
    //        them have 65,536 registers and at least 1,024 threads.
    //   10.x As 9.0, until measured.
    static constexpr exact_sum_policy of(unsigned /*compute_capability*/) { return {}; }

    // Throws invalid_argument where a value cannot work.
    constexpr void check() const {
        check_field("exact_sum_policy: blocks_per_multiprocessor", blocks_per_multiprocessor, 1, 32);
        check_block_threads("exact_sum_policy: short_block_threads", short_block_threads, Kernels.max_block_threads);
        check_block_threads("exact_sum_policy: segment_block_threads", segment_block_threads,
                            Kernels.max_block_threads);
    }
};

} // namespace warpfold::tuning
