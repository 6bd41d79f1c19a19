// SPDX-License-Identifier: MIT
// A block's tile of consecutive elements, from memory into the registers of its threads, in one of three arrangements:
//   striped  items[k] of thread t is element k * threads + t: every load is of neighbours
//   blocked  items[k] of thread t is element t * Items + k: a thread has consecutive elements, as scans need them
//   rows     items[r][j] of lane l in warp w is element ((w * Rows + r) * 32 + l) * Run + j: every load is a vector of
//            Run consecutive elements beside those of the neighbouring lanes; a scan goes row by row
// The block is one-dimensional; all its threads have to call these. `in` is a pointer or any random access object.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/block/exchange.cuh"
#include "warpfold/gpu/core/thread_items.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::block {

// Elements from `first` on, striped. Of the tile only elements before `n` are there; `missing` stands for the others.
template <class In, class T, unsigned Items>
__device__ void load_striped(const In& in, std::uint64_t first, std::uint64_t n, const T& missing, T (&items)[Items]) {
#pragma unroll
    for (unsigned k = 0; k < Items; ++k) {
        const std::uint64_t at = first + k * blockDim.x + threadIdx.x;
        items[k] = at < n ? static_cast<T>(in[at]) : missing;
    }
}

// Elements from `from` on, blocked, in accesses of up to 16 bytes. All of the tile is there, and `from` is aligned to
// run_alignment<T, Items>. A warp's accesses touch the same memory Items * sizeof(T) / 16 times: from the cache, after
// the first one.
template <class T, unsigned Items>
inline constexpr unsigned run_alignment = detail::items_alignment_v<T, Items>;
template <class T, unsigned Items>
__device__ void load_vectors(const T* from, T (&items)[Items]) {
    detail::load_items(from + threadIdx.x * Items, items);
}

// Elements from `first` on, blocked: loaded striped and exchanged, so that every load is of neighbours for any Items
// and any address. One barrier; another one has to come before `storage` is used again. The block has Threads threads.
template <unsigned Threads, class In, class T, unsigned Items>
__device__ void load_blocked(const In& in, std::uint64_t first, std::uint64_t n, const T& missing, T (&items)[Items],
                             exchange_storage<T, Threads, Items>& storage) {
    load_striped(in, first, n, missing, items);
    striped_to_blocked(items, storage);
}

// The number in the tile of the calling thread's first element, in rows; its run in row r begins r * 32 * Run further
// on. `rows`: how many a warp has.
template <unsigned Run>
__device__ unsigned place_in_rows(unsigned rows) {
    return (threadIdx.x / warp::lanes * rows * warp::lanes + threadIdx.x % warp::lanes) * Run;
}

// Elements from `first` on, in rows. A run that is all there, behind a pointer and aligned to run_alignment<T, Run> is
// one access; other elements are loaded one by one, and `missing` stands for those that are not before `n`.
template <class In, class T, unsigned Rows, unsigned Run>
__device__ void load_rows(const In& in, std::uint64_t first, std::uint64_t n, const T& missing, T (&items)[Rows][Run]) {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
        const std::uint64_t at = first + place_in_rows<Run>(Rows) + r * (warp::lanes * Run);
        if constexpr (std::is_same_v<In, const T*> || std::is_same_v<In, T*>) {
            if (at + Run <= n && reinterpret_cast<std::uintptr_t>(in + at) % run_alignment<T, Run> == 0) {
                detail::load_items(in + at, items[r]);
                continue;
            }
        }
#pragma unroll
        for (unsigned j = 0; j < Run; ++j) {
            items[r][j] = at + j < n ? static_cast<T>(in[at + j]) : missing;
        }
    }
}

// Starts to copy a warp's tile of 32 * Rows runs into shared memory, past the registers where the card can (compute
// capability 8.0). `from` is aligned to run_alignment<T, Run>. The tile is there behind await_copies().
template <class T, unsigned Run, unsigned Rows>
__device__ void start_copy(const T* from, const warp_runs<T, Run, Rows>& to) {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
        detail::copy_items_async<T, Run>(from + (r * warp::lanes + threadIdx.x % warp::lanes) * Run, to.in_row(r));
    }
    detail::commit_copies();
}
// Waits for all copies that the calling warp has started, but for the last `Pending` ones.
template <unsigned Pending = 0>
__device__ void await_copies() {
    detail::wait_copies<Pending>();
    __syncwarp();
}

} // namespace warpfold::block
