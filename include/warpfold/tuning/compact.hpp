// SPDX-License-Identifier: MIT
// How compactions and reductions by key (select.hpp, by_key.hpp) are launched on a GPU. See policy.hpp.
//
// The size of a tile decides which values are folded first, and so the bits of floating-point sums and products of
// reduce_by_key. All other results are the same with any policy.
#pragma once

#include "warpfold/tuning/policy.hpp"

namespace warpfold::tuning {

struct compact_tiles {
    unsigned bytes_per_thread = 64; // of the largest elements that are read or written; one element at least
    unsigned resident_blocks = 3;   // of a multiprocessor, for which registers are left

    bool operator==(const compact_tiles&) const = default;
};

struct compact_kernels {
    unsigned block_threads = 256;                // elements of more than 64 bytes have smaller blocks
    compact_tiles wide{.bytes_per_thread = 128}; // compactions of elements of 4 bytes and more
    compact_tiles narrow{.bytes_per_thread = 64, .resident_blocks = 4}; // of smaller ones
    compact_tiles keyed{};                                              // reductions by key

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
    static_assert(fits(Kernels.wide) && fits(Kernels.narrow) && fits(Kernels.keyed),
                  "compact_kernels: bytes_per_thread is not from 16 to 256, or resident_blocks have no thread, or more "
                  "than 2,048, the most of a multiprocessor");

    // Defaults of an architecture: measured on an H200 (benchmarks/library/compact_tune.cu) for all.
    static constexpr compact_policy of(unsigned /*compute_capability*/) { return {}; }

    constexpr void check() const {}
};

} // namespace warpfold::tuning
