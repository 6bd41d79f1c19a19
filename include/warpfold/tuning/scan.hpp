// SPDX-License-Identifier: MIT
// How scans are launched on a GPU. See policy.hpp.
//
// Every field but two decides which elements are summed first, and so the bits of floating-point scans; the two are
// long_resident_blocks and general_resident_blocks. Defaults are the same on all architectures, so that the bits do not
// depend on the card. Scans of integers, minima and maxima are the same with any policy. The order of elements is kept
// for operations that do not commute.
#pragma once

#include <algorithm>

#include "warpfold/tuning/policy.hpp"

namespace warpfold::tuning {

// Kernels:
//   short      arrays of up to some 64 MiB: one tile a block, kept in registers
//   long       longer ones: blocks that stay and go from tile to tile through shared memory
//   general    segments, and elements of more than 16 bytes: one tile a block, kept in shared memory
struct scan_kernels {
    unsigned short_rows = 4;      // of 16 bytes a lane, that a warp has in a tile,
    unsigned short_tall_rows = 8; // and in the tallest tiles, of the longest arrays among the short ones
    unsigned short_max_block_threads = 512;
    unsigned short_private_max_tiles = 128;  // up to so many tiles, each pair of tiles has a slot of its own
    unsigned short_resident_max_tiles = 300; // tiles are tall where there would be more; tall ones are prefetched from
                                             // so many on
    unsigned long_block_threads = 256;
    unsigned long_runs_per_thread = 8; // of 16 bytes, in a tile
    unsigned long_stages = 3;          // tiles of a block in shared memory
    unsigned long_resident_blocks = 2; // of a multiprocessor, for which registers are left, and of a launch
    unsigned long_tiles_ahead = 1;     // whose totals are published before a tile is finished
    unsigned general_block_threads = 256;
    unsigned general_max_bytes_per_thread = 128; // of input or output, whichever is more
    unsigned general_resident_blocks = 4;        // of a multiprocessor, for which registers are left

    bool operator==(const scan_kernels&) const = default;
};

template <scan_kernels Kernels = scan_kernels{}>
struct scan_policy {
    static constexpr primitive calls = primitive::scan;
    static constexpr scan_kernels kernels = Kernels;
    static_assert(is_block_size(Kernels.short_max_block_threads) && is_block_size(Kernels.long_block_threads) &&
                      is_block_size(Kernels.general_block_threads),
                  "scan_kernels: the threads of a block are not a multiple of 32 from 32 to 1024");
    static_assert(Kernels.short_rows >= 1 && Kernels.short_tall_rows >= 1 && Kernels.long_runs_per_thread >= 1,
                  "scan_kernels: a tile has no rows or no runs");
    static_assert(Kernels.long_tiles_ahead >= 1 && Kernels.long_stages >= Kernels.long_tiles_ahead + 2,
                  "scan_kernels: long_stages is less than long_tiles_ahead + 2");
    static_assert(Kernels.long_block_threads * Kernels.long_runs_per_thread * 16 * Kernels.long_stages <= 227 * 1024,
                  "scan_kernels: long tiles take more than 227 KiB of shared memory");
    static_assert(Kernels.long_resident_blocks >= 1 && Kernels.general_resident_blocks >= 1,
                  "scan_kernels: no block is resident");
    static constexpr unsigned max_short_tiles = 1025; // what a tile of a short array reads at once

    // Short arrays. One block has all, up to so many threads. More are in small blocks, in medium ones or in the largest,
    // if these are no more than so many; then in tall tiles. Longer arrays go to the long kernel.
    unsigned one_block_max_threads = std::min(256u, Kernels.short_max_block_threads);
    unsigned small_block_threads = std::min(128u, Kernels.short_max_block_threads);
    unsigned small_block_max_tiles = 64;
    unsigned medium_block_threads = std::min(256u, Kernels.short_max_block_threads);
    unsigned medium_block_max_tiles = 128;
    unsigned tall_max_tiles = 1025;
    // The general kernel: one block up to so many rows of each warp. Then up to so many blocks; then tiles grow, until they
    // are as large as they can be.
    unsigned general_one_block_max_rows = 4;
    unsigned general_blocks_before_growth = 528;

    // Defaults of an architecture:
    //   9.0  Measured on an H100 (docs/results/library/scan-h100.md), the general kernel's on an H200: the values above.
    //   7.5, 8.0, 8.6, 8.9, 10.x, 12.x
    //        As 9.0, so that results have the same bits. Cards with less shared memory keep one tile of a long array there
    //        instead of long_stages.
    static constexpr scan_policy of(unsigned /*compute_capability*/) { return {}; }

    // Throws invalid_argument where a value cannot work.
    constexpr void check() const {
        check_block_threads("scan_policy: one_block_max_threads", one_block_max_threads,
                            Kernels.short_max_block_threads);
        check_block_threads("scan_policy: small_block_threads", small_block_threads, Kernels.short_max_block_threads);
        check_block_threads("scan_policy: medium_block_threads", medium_block_threads, Kernels.short_max_block_threads);
        check_field("scan_policy: small_block_max_tiles", small_block_max_tiles, 0, max_short_tiles);
        check_field("scan_policy: medium_block_max_tiles", medium_block_max_tiles, 0, max_short_tiles);
        check_field("scan_policy: tall_max_tiles", tall_max_tiles, 0, max_short_tiles);
        check_field("scan_policy: general_blocks_before_growth", general_blocks_before_growth, 1);
    }

    static_assert(Kernels.short_resident_max_tiles <= max_short_tiles,
                  "scan_kernels: short_resident_max_tiles is more than 1025");
};

} // namespace warpfold::tuning
