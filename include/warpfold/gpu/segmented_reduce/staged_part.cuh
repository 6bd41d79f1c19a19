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
        const auto is_inside = [&](std::uintptr_t from, std::uintptr_t bytes) {
            return from >= address(array.begin) && from + bytes <= address(array.end);
        };
        const auto lead = static_cast<unsigned>(address(first) % granule);
        const unsigned bytes = (lead + count * static_cast<unsigned>(sizeof(T)) + granule - 1) / granule * granule;
        const std::uintptr_t from = address(first) - lead;
        if (is_inside(from, bytes)) {
#pragma unroll 1
            for (unsigned k = thread * granule; k < bytes; k += threads * granule) {
                copy_async<granule, copy_cache::l2>(item + k, reinterpret_cast<const void*>(from + k));
            }
        } else if (granule % sizeof(T) != 0 || address(first) % sizeof(T) != 0) { // elements lie in two granules each
#pragma unroll 1
            for (unsigned k = thread; k < count; k += threads) {
                if (is_inside(address(first + k), sizeof(T))) {
                    at(first)[k] = first[k];
                }
            }
        } else {
#pragma unroll 1
            for (unsigned k = thread * granule; k < bytes; k += threads * granule) {
                if (is_inside(from + k, granule)) {
                    copy_async<granule, copy_cache::l2>(item + k, reinterpret_cast<const void*>(from + k));
                }
            }
            // Elements of the first and of the last granule, where the array does not hold all of it.
            constexpr unsigned edge = granule / sizeof(T);
            for (unsigned k = thread; k < 2 * edge; k += threads) {
                const T* const element = k < edge ? first + k : first + count - 1 - (k - edge);
                if (k < count && is_inside(address(element), sizeof(T)) &&
                    !is_inside(address(element) / granule * granule, granule)) {
                    at(first)[element - first] = *element;
                }
            }
        }
    }
};

// The fold of the elements from, from + step, ... before `to` of a part: four at a time without a condition, so that their
// reads overlap, then the rest. value(element, index)
template <class A, class T, class Op, class Value>
__device__ A fold_staged(const T* x, int from, int to, int step, const Op& op, const Value& value) {
    constexpr int together = 4;
    A mine = Op::template identity<A>();
    const T* at = x + from;
    const auto add = [&](int i) { mine = op(mine, value(at[i * step], static_cast<unsigned>(at - x) + i * step)); };
    int rest = to - from;
#pragma unroll 1
    for (; rest > (together - 1) * step; rest -= together * step, at += together * step) {
#pragma unroll
        for (int i = 0; i < together; ++i) {
            add(i);
        }
    }
#pragma unroll
    for (int i = 0; i < together - 1; ++i) {
        if (rest > i * step) {
            add(i);
        }
    }
    return mine;
}

} // namespace warpfold::detail
