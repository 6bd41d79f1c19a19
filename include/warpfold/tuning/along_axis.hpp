// SPDX-License-Identifier: MIT
// How calls along axes are launched on a GPU. See policy.hpp.
//
// Every field decides which thread folds which elements, and so the bits of floating-point sums and products. Integers,
// minima, maxima and places are the same with any policy.
#pragma once

#include <cstdint>

#include "warpfold/tuning/policy.hpp"

namespace warpfold::tuning {

struct along_axis_kernels {
    unsigned block_threads = 256; // a power of two; fewer where values have more than 128 bytes
    unsigned loads_in_flight = 4; // of up to 16 bytes, in each thread
    unsigned resident_blocks = 4; // of a multiprocessor, for which registers are left

    // The same of reductions to few results, of which a multiprocessor has one block.
    unsigned few_block_threads = 512;
    unsigned few_loads_in_flight = 8;

    bool operator==(const along_axis_kernels&) const = default;
};

template <along_axis_kernels Kernels = along_axis_kernels{}>
struct along_axis_policy {
    static constexpr primitive calls = primitive::along_axis;
    static constexpr along_axis_kernels kernels = Kernels;
    static constexpr bool is_side(unsigned threads) { return is_block_size(threads) && (threads & (threads - 1)) == 0; }
    static_assert(is_side(Kernels.block_threads) && is_side(Kernels.few_block_threads),
                  "along_axis_kernels: block_threads is not a power of two from 32 to 1024");
    static_assert(Kernels.resident_blocks >= 1 && Kernels.resident_blocks * Kernels.block_threads <= 2048,
                  "along_axis_kernels: resident_blocks have no thread, or more than 2,048, the most of a "
                  "multiprocessor");
    static_assert(Kernels.loads_in_flight >= 1 && Kernels.few_loads_in_flight >= 1,
                  "along_axis_kernels: a thread has at least one load in flight");

    unsigned blocks_per_multiprocessor = Kernels.resident_blocks; // of many results
    unsigned thread_min_elements = 8;      // vectors or elements of a thread, where threads share those of a result
    unsigned alone_elements = 32;          // of a thread: with no more, blocks do not share those of a result
    unsigned block_row_min_vectors = 4096; // rows of so many vectors of 16 bytes are a block's, shorter ones a warp's

    // Results are few if a block of some, or of a share of their elements, for each multiprocessor is enough, or if a
    // thread has so many times as many loads as are in flight. Where blocks share elements, the last one joins their
    // values.
    unsigned few_min_rounds = 8;
    // More shares than this for each thread that joins them make blocks read narrower parts of more rows: of a line of
    // 128 bytes, or, of arrays of up to so many bytes, of a sector of 32.
    unsigned thread_max_shares = 1;
    std::uint64_t by_sector_max_bytes = std::uint64_t{32} << 20;

    // Rows are scanned one after the other, by a launch each, if there are no more than this and a row has so many bytes.
    std::uint64_t scanned_alone_max_rows = 16;
    std::uint64_t scanned_alone_min_bytes = std::uint64_t{16} << 20;

    // Rows below 2 KiB are folded from shared memory if all of them have more bytes than this, rows of up to 4 KiB if they have
    // more than that.
    std::uint64_t short_rows_max_bytes = std::uint64_t{1} << 20;
    std::uint64_t middle_rows_max_bytes = std::uint64_t{32} << 20;

    // Defaults of an architecture: measured on an H200 (decision 89), derived for others.
    static constexpr along_axis_policy of(unsigned compute_capability) {
        along_axis_policy policy;
        const unsigned fit = threads_of_multiprocessor(compute_capability) / Kernels.block_threads;
        policy.blocks_per_multiprocessor =
            fit < Kernels.resident_blocks ? (fit == 0 ? 1 : fit) : Kernels.resident_blocks;
        return policy;
    }

    // Throws invalid_argument where a value cannot work.
    constexpr void check() const {
        check_field("along_axis_policy: blocks_per_multiprocessor", blocks_per_multiprocessor, 1, 32);
        check_field("along_axis_policy: thread_min_elements", thread_min_elements, 1);
        check_field("along_axis_policy: alone_elements", alone_elements, 1);
        check_field("along_axis_policy: block_row_min_vectors", block_row_min_vectors, 1);
        check_field("along_axis_policy: few_min_rounds", few_min_rounds, 1);
        check_field("along_axis_policy: thread_max_shares", thread_max_shares, 1);
    }
};

} // namespace warpfold::tuning
