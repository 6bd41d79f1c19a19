// SPDX-License-Identifier: MIT
// How compactions and reductions by key (select.hpp, by_key.hpp) are launched on a GPU. See policy.hpp.
//
// The size of a tile decides which values are folded first, and so the bits of floating-point sums and products of
// reduce_by_key. All other results are the same with any policy.
#pragma once

#include "warpfold/tuning/policy.hpp"

namespace warpfold::tuning {

struct compact_kernels {
    unsigned block_threads = 256;   // elements of more than 64 bytes have smaller blocks
    unsigned bytes_per_thread = 64; // of the largest elements that are read or written; one element at least
    unsigned resident_blocks = 4;   // of a multiprocessor, for which registers are left; by key, one

    bool operator==(const compact_kernels&) const = default;
};

template <compact_kernels Kernels = compact_kernels{}>
struct compact_policy {
    static constexpr primitive calls = primitive::compact;
    static constexpr compact_kernels kernels = Kernels;
    static_assert(is_block_size(Kernels.block_threads),
                  "compact_kernels: block_threads is not a multiple of 32 from 32 to 1024");
    static_assert(Kernels.bytes_per_thread >= 16 && Kernels.bytes_per_thread <= 256,
                  "compact_kernels: bytes_per_thread is not from 16 to 256");
    static_assert(Kernels.resident_blocks >= 1 && Kernels.resident_blocks * Kernels.block_threads <= 2048,
                  "compact_kernels: resident_blocks have no thread, or more than 2,048, the most of a multiprocessor");

    // Defaults of an architecture: chosen so that 64 KiB of input are in flight on a multiprocessor; not measured yet on any.
    static constexpr compact_policy of(unsigned /*compute_capability*/) { return {}; }

    constexpr void check() const {}
};

} // namespace warpfold::tuning
