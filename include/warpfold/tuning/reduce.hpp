// SPDX-License-Identifier: MIT
// How reduce, transform_reduce, count_if, arg_min, arg_max and min_max are launched on a GPU. See policy.hpp.
//
// Every field decides which thread folds which elements, and so the bits of floating-point sums and products. Integers,
// minima, maxima and places are the same with any policy. The order of elements is kept for operations that do not
// commute.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/tuning/policy.hpp"

namespace warpfold::tuning {

struct reduce_kernels {
    unsigned max_block_threads = 1024;
    unsigned resident_blocks = 2;                // of a multiprocessor, for which registers are left
    unsigned vector_loads_in_flight = 2;         // of 16 bytes, in each thread
    unsigned longest_vector_loads_in_flight = 4; // the same in the longest arrays, of elements of 4 bytes and more

    bool operator==(const reduce_kernels&) const = default;
};

// A vector is 16 bytes of elements, or one element where that is larger.
template <reduce_kernels Kernels = reduce_kernels{}>
struct reduce_policy {
    static constexpr primitive calls = primitive::reduce;
    static constexpr reduce_kernels kernels = Kernels;
    static_assert(is_block_size(Kernels.max_block_threads),
                  "reduce_kernels: max_block_threads is not a multiple of 32 from 32 to 1024");
    static_assert(Kernels.resident_blocks >= 1 && Kernels.resident_blocks * Kernels.max_block_threads <= 2048,
                  "reduce_kernels: resident_blocks have no thread, or more than 2,048, the most of a multiprocessor");
    static_assert(Kernels.vector_loads_in_flight >= 1 && Kernels.longest_vector_loads_in_flight >= 1,
                  "reduce_kernels: a thread has at least one load in flight");

    // One block has the whole array, if it has no more vectors and no more elements than these.
    unsigned one_block_max_vectors = 4096;
    unsigned one_block_max_elements = 20000;
    unsigned one_block_vectors_per_thread = 2;
    // Otherwise there are several, at most so many for each multiprocessor. Blocks are short until each thread of that
    // many short blocks has so many vectors.
    unsigned blocks_per_multiprocessor = Kernels.resident_blocks;
    unsigned block_threads = Kernels.max_block_threads;
    unsigned short_block_threads = std::min(256u, Kernels.max_block_threads);
    unsigned short_block_vectors_per_thread = 2;
    // Long arrays, which the cache need not keep, are those of more sixteenths of the L2 cache. The longest of them, from
    // so many bytes on, have more loads in flight.
    unsigned long_min_l2_sixteenths = 16;
    std::uint64_t longest_min_bytes = std::uint64_t{1} << 30;

    // Defaults of an architecture:
    //   9.0            Measured on an H100 (docs/results/library/reduce-h100.md): the values above.
    //   7.5            Derived: 1,024 threads fit a multiprocessor, so blocks have 512, and all of a grid run at once.
    //   8.0            Derived: as 9.0, which has the same threads and registers in a multiprocessor.
    //   8.6, 8.9, 12.x Derived: 1,536 threads fit a multiprocessor, so blocks have 768.
    //   10.x           As 9.0, until measured.
    // The thresholds in bytes and vectors are those of 9.0: one multiprocessor reads 64 bytes a clock from the L2 cache on
    // all of them.
    static constexpr reduce_policy of(unsigned compute_capability) {
        reduce_policy policy;
        const unsigned fit = threads_of_multiprocessor(compute_capability) / Kernels.resident_blocks / 32 * 32;
        policy.block_threads = std::min(Kernels.max_block_threads, fit);
        policy.short_block_threads = std::min(policy.short_block_threads, fit);
        return policy;
    }

    // Throws invalid_argument where a value cannot work.
    constexpr void check() const {
        check_field("reduce_policy: one_block_vectors_per_thread", one_block_vectors_per_thread, 1);
        check_field("reduce_policy: blocks_per_multiprocessor", blocks_per_multiprocessor, 1, 32);
        check_block_threads("reduce_policy: block_threads", block_threads, Kernels.max_block_threads);
        check_block_threads("reduce_policy: short_block_threads", short_block_threads, Kernels.max_block_threads);
        check_field("reduce_policy: short_block_vectors_per_thread", short_block_vectors_per_thread, 1);
    }
};

} // namespace warpfold::tuning
