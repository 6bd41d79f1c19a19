// SPDX-License-Identifier: MIT
// Counters in shared memory that bins claim on their first sample. If there are more bins than counters, bins with many
// samples claim one early, and their samples are not added to global memory one by one.
#pragma once

#include <cstdint>

#include "warpfold/detail/bins/even_bins.hpp"
#include "warpfold/gpu/histogram/packed_counters.cuh"

namespace warpfold::detail {

class owned_counters {
public:
    // `slots` is a power of two from 2 on, or 0.
    __device__ owned_counters(unsigned* words, unsigned slots)
        : owner_(words), count_(words + slots), slots_(slots), shift_(32) {
        for (; slots > 1; slots /= 2) {
            --shift_;
        }
    }

    __device__ void clear() {
        for (unsigned k = threadIdx.x; k < slots_; k += blockDim.x) {
            owner_[k] = outside;
            count_[k] = 0;
        }
    }

    // Adds one to a bin. Returns false if its slot belongs to another bin.
    __device__ bool add(unsigned bin) {
        const unsigned slot = bin * 2654435761u >> shift_;
        unsigned owner;
        asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];"
                     : "=r"(owner)
                     : "r"(static_cast<unsigned>(__cvta_generic_to_shared(owner_ + slot)))
                     : "memory");
        if (owner == outside) {
            owner = atomicCAS(owner_ + slot, outside, bin);
            owner = owner == outside ? bin : owner;
        }
        if (owner == bin) {
            atomicAdd(count_ + slot, 1u);
        }
        return owner == bin;
    }

    template <class Counter>
    __device__ void flush(Counter* counts) {
        for (unsigned k = threadIdx.x; k < slots_; k += blockDim.x) {
            if (count_[k] != 0) {
                add_to_count(counts + owner_[k], count_[k]);
            }
        }
    }

private:
    unsigned* owner_;
    unsigned* count_;
    unsigned slots_, shift_;
};

} // namespace warpfold::detail
