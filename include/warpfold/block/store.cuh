// SPDX-License-Identifier: MIT
// A block's tile of consecutive elements, from the registers of its threads into memory. load.cuh describes the
// arrangements.
#pragma once

#include <cstdint>

#include "warpfold/block/load.cuh"
#include "warpfold/gpu/core/thread_items.cuh"

namespace warpfold::block {

// Striped items, to out[first] and on; nothing is written to out[n] or behind.
template <class Out, class T, unsigned Items>
__device__ void store_striped(const Out& out, std::uint64_t first, std::uint64_t n, const T (&items)[Items]) {
#pragma unroll
    for (unsigned k = 0; k < Items; ++k) {
        const std::uint64_t at = first + k * blockDim.x + threadIdx.x;
        if (at < n) {
            out[at] = items[k];
        }
    }
}

// Blocked items, in accesses of up to 16 bytes: a whole tile, `to` aligned to run_alignment<T, Items>.
template <class T, unsigned Items>
__device__ void store_vectors(T* to, const T (&items)[Items]) {
    detail::store_items(to + threadIdx.x * Items, items);
}

// Blocked items, exchanged and stored striped. One barrier; another one has to come before `storage` is used again.
template <unsigned Threads, class Out, class T, unsigned Items>
__device__ void store_blocked(const Out& out, std::uint64_t first, std::uint64_t n, T (&items)[Items],
                              exchange_storage<T, Threads, Items>& storage) {
    blocked_to_striped(items, storage);
    store_striped(out, first, n, items);
}

// Items in rows, to out[first] and on; nothing is written to out[n] or behind. A run is one access as in load_rows().
template <class Out, class T, unsigned Rows, unsigned Run>
__device__ void store_rows(const Out& out, std::uint64_t first, std::uint64_t n, const T (&items)[Rows][Run]) {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
        const std::uint64_t at = first + place_in_rows<Run>(Rows) + r * (warp::lanes * Run);
        if constexpr (std::is_same_v<Out, T*>) {
            if (at + Run <= n && reinterpret_cast<std::uintptr_t>(out + at) % run_alignment<T, Run> == 0) {
                detail::store_items(out + at, items[r]);
                continue;
            }
        }
#pragma unroll
        for (unsigned j = 0; j < Run; ++j) {
            if (at + j < n) {
                out[at + j] = items[r][j];
            }
        }
    }
}

} // namespace warpfold::block
