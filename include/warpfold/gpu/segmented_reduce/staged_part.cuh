// SPDX-License-Identifier: MIT
// Consecutive elements of an array on their way to shared memory, by asynchronous copies of 16 bytes. See async_copy.cuh
// for what older devices do.
#pragma once

#include <cstdint>

#include "warpfold/gpu/core/async_copy.cuh"

namespace warpfold::detail {

// The array of which parts are copied.
template <class T>
struct staged_array {
    const T* begin;
    const T* end;
};

// Room for `Most` elements in shared memory.
template <class T, unsigned Most>
struct staged_part {
    static constexpr unsigned granule = 16; // bytes
    static_assert(alignof(T) <= granule);

    alignas(granule) unsigned char item[(Most * sizeof(T) / granule + 2) * granule];

    // Where the element *first is: places keep their addresses modulo 16.
    __device__ T* at(const T* first) {
        return reinterpret_cast<T*>(item + reinterpret_cast<std::uintptr_t>(first) % granule);
    }

    // Starts to copy `count` elements from `first` on, those that are in the array. Called by `threads` threads, of which
    // this is number `thread`. They are there after wait_copies() and a barrier.
    __device__ void copy(const staged_array<T>& array, const T* first, unsigned count, unsigned thread,
                         unsigned threads) {
        const auto address = [](const T* element) { return reinterpret_cast<std::uintptr_t>(element); };
        const auto lead = static_cast<unsigned>(address(first) % granule);
        const unsigned bytes = lead + count * static_cast<unsigned>(sizeof(T));
        const std::uintptr_t from = address(first) - lead;
        if (from >= address(array.begin) && from + (bytes + granule - 1) / granule * granule <= address(array.end)) {
#pragma unroll 1
            for (unsigned k = thread * granule; k < bytes; k += threads * granule) {
                copy_async<granule, copy_cache::l2>(item + k, reinterpret_cast<const void*>(from + k));
            }
        } else { // one by one where a granule is not in the array as a whole
#pragma unroll 1
            for (unsigned k = thread; k < count; k += threads) {
                if (first + k >= array.begin && first + k < array.end) {
                    at(first)[k] = first[k];
                }
            }
        }
    }
};

} // namespace warpfold::detail
