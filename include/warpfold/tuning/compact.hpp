// SPDX-License-Identifier: MIT
// How compactions and reductions by key (select.hpp, by_key.hpp) are launched on a GPU. See policy.hpp.
//
// The size of a tile decides which values are folded first, and so the bits of floating-point sums and products of
// reduce_by_key. All other results are the same with any policy.
#pragma once

#include <cstdint>

#include "warpfold/tuning/policy.hpp"

namespace warpfold::tuning {

struct compact_tiles {
    unsigned bytes_per_thread = 64; // of the largest elements that are read or written; one element at least
    unsigned resident_blocks = 3;   // of a multiprocessor, for which registers are left

    bool operator==(const compact_tiles&) const = default;
};

// Of the kernel for long arrays, whose blocks go from tile to tile.
struct persistent_tiles {
    unsigned block_threads = 256;
    unsigned bytes_per_thread =
        128;                      // of what is read in a tile, or written of it, whichever is more; one vector at least
    unsigned stages = 3;          // tiles of a block in shared memory
    unsigned resident_blocks = 2; // of a multiprocessor, for which registers are left, and of a launch

    bool operator==(const persistent_tiles&) const = default;
};

// Of the kernel of reductions by key and run-length encodings of long arrays, whose warps have a range each.
struct range_tiles {
    unsigned block_threads;
    unsigned bytes_per_thread;    // of what is read in a tile, at most 32 elements
    unsigned kept_run = 100;      // elements of a run, on average, from which on warps keep where runs begin
    unsigned resident_blocks = 1; // of a multiprocessor, for which registers are left, and of a launch

    bool operator==(const range_tiles&) const = default;
};

struct compact_kernels {
    unsigned block_threads = 256;                // elements of more than 64 bytes have smaller blocks
    compact_tiles wide{.bytes_per_thread = 128}; // compactions of elements of 4 bytes and more
    compact_tiles narrow{.bytes_per_thread = 64, .resident_blocks = 4};       // of smaller ones
    compact_tiles keyed{};                                                    // reductions by key
    compact_tiles short_arrays{.bytes_per_thread = 32, .resident_blocks = 4}; // all of these, of few elements
    persistent_tiles persistent{};                                            // compactions of long arrays
    range_tiles ranges{.block_threads = 384, .bytes_per_thread = 128};        // reductions by key of long arrays
    range_tiles lengths{.block_threads = 768, .bytes_per_thread = 64, .kept_run = 30}; // run-length encodings of these

    bool operator==(const compact_kernels&) const = default;
};

template <compact_kernels Kernels = compact_kernels{}>
struct compact_policy {
    static constexpr primitive calls = primitive::compact;
    static constexpr compact_kernels kernels = Kernels;
    static_assert(is_block_size(Kernels.block_threads),
                  "compact_kernels: block_threads is not a multiple of 32 from 32 to 1024");
    static constexpr bool fits(const compact_tiles& tiles) {
        return tiles.bytes_per_thread >= 16 && tiles.bytes_per_thread <= 256 && tiles.resident_blocks >= 1 &&
               tiles.resident_blocks * Kernels.block_threads <= 2048;
    }
    static_assert(fits(Kernels.wide) && fits(Kernels.narrow) && fits(Kernels.keyed) && fits(Kernels.short_arrays),
                  "compact_kernels: bytes_per_thread is not from 16 to 256, or resident_blocks have no thread, or more "
                  "than 2,048, the most of a multiprocessor");

    static_assert(is_block_size(Kernels.persistent.block_threads) && Kernels.persistent.stages >= 3 &&
                      Kernels.persistent.resident_blocks >= 1 && Kernels.persistent.bytes_per_thread >= 16,
                  "compact_kernels: the block, the stages or the bytes of persistent are too few");
    static constexpr bool fits(const range_tiles& tiles) {
        return is_block_size(tiles.block_threads) && tiles.resident_blocks >= 1 && tiles.bytes_per_thread >= 16;
    }
    static_assert(fits(Kernels.ranges) && fits(Kernels.lengths),
                  "compact_kernels: the block or the bytes of ranges or lengths are too few");

    // Short arrays are those of up to so many of their tiles.
    unsigned short_max_tiles = 128;
    // Compactions that read at least so many bytes, of elements and of a stencil, have the persistent kernel.
    std::uint64_t persistent_min_bytes = std::uint64_t{64} << 20;
    // Its ranges keep selected elements in the shared memory of all blocks, and read again what does not fit. Selections that
    // read at least kept_min_bytes, twice as many of elements of a byte, have ranges for elements of up to kept_percent of that
    // memory, and in longer arrays where by a sample up to sampled_percent of it are selected.
    std::uint64_t kept_min_bytes = std::uint64_t{16} << 20;
    unsigned kept_percent = 220, sampled_percent = 150;
    unsigned kept_warp_bytes = ~0u; // of a warp, if there are more; also for where runs begin
    // Reductions by key that read at least so many bytes have the kernel of ranges, and run-length encodings.
    std::uint64_t ranges_min_bytes = std::uint64_t{12} << 20, ranges_min_key_bytes = std::uint64_t{8} << 20;

    // Defaults of an architecture: measured on an H200 (benchmarks/library/compact_tune.cu) for all.
    static constexpr compact_policy of(unsigned /*compute_capability*/) { return {}; }

    // Throws invalid_argument where a value cannot work.
    constexpr void check() const { check_field("compact_policy: short_max_tiles", short_max_tiles, 0, 256); }
};

} // namespace warpfold::tuning
