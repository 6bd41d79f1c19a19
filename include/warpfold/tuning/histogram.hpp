// SPDX-License-Identifier: MIT
// How histogram, histogram_channels and weighted_histogram are launched on a GPU. See policy.hpp. Counts and sums of
// integer weights are the same with any policy. Sums of floating-point weights are atomic additions, whose order is not
// fixed with any.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/tuning/policy.hpp"

namespace warpfold::tuning {

// Private counters are a block's own, in shared memory: full ones have 32 bits, packed ones 8. Loads are of 16 bytes, in
// each thread.
struct histogram_kernels {
    unsigned block_threads = 1024;
    unsigned resident_blocks = 1;               // of a multiprocessor, for which registers are left: full counters,
    unsigned packed_resident_blocks = 1;        // and packed ones
    unsigned vector_loads_in_flight = 4;        // full counters, and none
    unsigned packed_vector_loads_in_flight = 6; // packed counters
    unsigned byte_vector_loads_in_flight = 4;   // samples of 8 bits
    unsigned few_bytes_block_threads = 512;     // that count few samples of 8 bits, 256 or 512; a warp more is there
    unsigned partition_block_threads = 384;     // that sort samples by partition: threads,
    unsigned partition_samples_per_thread = 32; // samples of each, a multiple of 16, in a tile of up to 32,768,
    unsigned partition_resident_blocks = 3;     // and blocks of a multiprocessor, for which registers are left

    bool operator==(const histogram_kernels&) const = default;
};

template <histogram_kernels Kernels = histogram_kernels{}>
struct histogram_policy {
    static constexpr primitive calls = primitive::histogram;
    static constexpr histogram_kernels kernels = Kernels;
    static_assert(is_block_size(Kernels.block_threads),
                  "histogram_kernels: block_threads is not a multiple of 32 from 32 to 1024");
    static_assert(
        Kernels.resident_blocks >= 1 && Kernels.packed_resident_blocks >= 1 &&
            std::max(Kernels.resident_blocks, Kernels.packed_resident_blocks) * Kernels.block_threads <= 2048,
        "histogram_kernels: resident_blocks have no thread, or more than 2,048, the most of a multiprocessor");
    static_assert(Kernels.vector_loads_in_flight >= 1 && Kernels.packed_vector_loads_in_flight >= 1 &&
                      Kernels.byte_vector_loads_in_flight >= 1,
                  "histogram_kernels: a thread has at least one load in flight");
    static_assert(Kernels.few_bytes_block_threads == 256 || Kernels.few_bytes_block_threads == 512,
                  "histogram_kernels: few_bytes_block_threads is neither 256 nor 512");

    static_assert(
        is_block_size(Kernels.partition_block_threads) && Kernels.partition_samples_per_thread >= 16 &&
            Kernels.partition_samples_per_thread % 16 == 0 &&
            Kernels.partition_block_threads * Kernels.partition_samples_per_thread <= 32768,
        "histogram_kernels: a tile of partitions has no multiple of 16 samples per thread, or more than 32,768");
    static_assert(Kernels.partition_resident_blocks >= 1 &&
                      Kernels.partition_resident_blocks * Kernels.partition_block_threads <= 2048,
                  "histogram_kernels: partition_resident_blocks have no thread, or more than 2,048");

    // Private counters are full where so many blocks hold all bins together, else packed where so many do. Else there are
    // none, and samples are added to global memory. None too where there are fewer samples a counter.
    unsigned full_counters_max_blocks = 3;
    unsigned packed_counters_max_blocks = 9;
    unsigned private_min_samples_per_counter = 2;
    unsigned copies_max_bytes = 131072;        // of shared memory for copies of a block's full counters
    unsigned block_min_samples = 16384;        // of a block, where it has private counters
    unsigned pass_max_bytes = 1u << 24;        // of counts in global memory that one pass over the samples adds to
    unsigned kernel_clears_max_counts = 65536; // the kernel itself sets so many to zero; more are a memset before it

    // Blocks of a launch for each multiprocessor, at most: full counters, packed ones, and none or weights.
    unsigned blocks_per_multiprocessor = Kernels.resident_blocks;
    unsigned packed_blocks_per_multiprocessor = Kernels.packed_resident_blocks;
    unsigned direct_blocks_per_multiprocessor = std::max(1u, 2048 / Kernels.block_threads);

    // Few samples of 8 bits have a kernel of their own, up to so many for each multiprocessor. A block has so many samples,
    // and up to twice as many where there would be more blocks than these.
    unsigned few_bytes_max_per_multiprocessor = 32768;
    unsigned few_bytes_per_block = 8192;
    unsigned few_bytes_blocks = 64;

    // Samples are sorted by partitions of the bins where more blocks than these together hold packed counters of all bins,
    // there are so many samples, and the workspace, if there is one, has the memory: 2 bytes for each sample of a chunk.
    // Fewer blocks or samples are faster otherwise (H100, decision 70).
    unsigned partition_min_packed_blocks = 2;
    unsigned partition_min_samples = 1u << 21;
    unsigned partition_max_bins = 65536; // of a partition; no more than a block has 32-bit counters for
    unsigned partition_chunk_samples = 1u << 27;

    // The table that finds a sample's bin among edges: cells in all, and for each bin.
    unsigned edge_table_max_cells = 32768;
    unsigned edge_table_cells_per_bin = 32;

    // Defaults of an architecture. Shared memory, multiprocessors and the L2 cache of the card are looked up besides.
    //   9.0            Measured on an H100 (docs/results/library/histogram-h100.md): the values above.
    //   7.5            Derived: one block of 1,024 threads fits a multiprocessor, so direct kernels have one.
    //   8.0            Derived: as 9.0, with the same threads and registers in a multiprocessor.
    //   8.6, 8.9, 12.x Derived: as 7.5; 1,536 threads fit.
    //   10.x           As 9.0, until measured.
    static constexpr histogram_policy of(unsigned compute_capability) {
        histogram_policy policy;
        policy.direct_blocks_per_multiprocessor =
            std::max(1u, threads_of_multiprocessor(compute_capability) / Kernels.block_threads);
        return policy;
    }

    // Throws invalid_argument where a value cannot work.
    constexpr void check() const {
        check_field("histogram_policy: block_min_samples", block_min_samples, 1);
        check_field("histogram_policy: pass_max_bytes", pass_max_bytes, 4);
        check_field("histogram_policy: private_min_samples_per_counter", private_min_samples_per_counter, 1);
        check_field("histogram_policy: blocks_per_multiprocessor", blocks_per_multiprocessor, 1, 32);
        check_field("histogram_policy: packed_blocks_per_multiprocessor", packed_blocks_per_multiprocessor, 1, 32);
        check_field("histogram_policy: direct_blocks_per_multiprocessor", direct_blocks_per_multiprocessor, 1, 32);
        check_field("histogram_policy: few_bytes_per_block", few_bytes_per_block, 1, 1u << 30);
        check_field("histogram_policy: partition_max_bins", partition_max_bins, 4);
        check_field("histogram_policy: partition_chunk_samples", partition_chunk_samples, 1, 1u << 30);
    }
};

} // namespace warpfold::tuning
