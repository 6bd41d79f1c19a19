// SPDX-License-Identifier: MIT
// A block's tile of consecutive elements, from memory into the registers of its threads, in one of two arrangements:
//   striped  items[k] of thread t is element k * threads + t: every load is of neighbours
//   blocked  items[k] of thread t is element t * Items + k: a thread has neighbours, as a scan wants them
// The block is one-dimensional; all its threads have to call these. `in` is a pointer or any random access object.
#pragma once

#include <cstdint>

#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/core/run.cuh"

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
inline constexpr unsigned run_alignment = detail::run_alignment_v<T, Items>;
template <class T, unsigned Items>
__device__ void load_vectors(const T* from, T (&items)[Items]) {
    detail::load_run(from + threadIdx.x * Items, items);
}

// Shared memory for a tile of Threads * Items elements that changes from one arrangement to the other. A gap of one
// element after every 32 keeps lanes off each other's banks.
template <class T, unsigned Threads, unsigned Items>
struct exchange_storage {
    static constexpr unsigned count = Threads * Items;
    alignas(T) unsigned char element[(count + count / 32) * sizeof(T)];
};

// Striped to blocked, and back. One barrier each; another one has to come before `storage` is used again.
template <class T, unsigned Threads, unsigned Items>
__device__ void striped_to_blocked(T (&items)[Items], exchange_storage<T, Threads, Items>& storage) {
    auto* const element = reinterpret_cast<T*>(storage.element);
#pragma unroll
    for (unsigned k = 0; k < Items; ++k) {
        const unsigned at = k * Threads + threadIdx.x;
        element[at + at / 32] = items[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < Items; ++k) {
        const unsigned at = threadIdx.x * Items + k;
        items[k] = element[at + at / 32];
    }
}
template <class T, unsigned Threads, unsigned Items>
__device__ void blocked_to_striped(T (&items)[Items], exchange_storage<T, Threads, Items>& storage) {
    auto* const element = reinterpret_cast<T*>(storage.element);
#pragma unroll
    for (unsigned k = 0; k < Items; ++k) {
        const unsigned at = threadIdx.x * Items + k;
        element[at + at / 32] = items[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < Items; ++k) {
        const unsigned at = k * Threads + threadIdx.x;
        items[k] = element[at + at / 32];
    }
}

// Elements from `first` on, blocked: loaded striped and exchanged, so that every load is of neighbours whatever Items
// and the address are. One barrier; another one has to come before `storage` is used again. The block has Threads
// threads.
template <unsigned Threads, class In, class T, unsigned Items>
__device__ void load_blocked(const In& in, std::uint64_t first, std::uint64_t n, const T& missing, T (&items)[Items],
                             exchange_storage<T, Threads, Items>& storage) {
    load_striped(in, first, n, missing, items);
    striped_to_blocked(items, storage);
}

} // namespace warpfold::block
