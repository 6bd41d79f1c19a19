// SPDX-License-Identifier: MIT
// Reading arrays 16 bytes at a time, wherever they begin: the elements before the first 16-byte boundary, vectors, and
// the elements after the last vector.
//
// Every function here is inlined into loops whose speed depends on the number of registers and on the loads in flight.
// Two facts about nvcc shape them. A loop that passes vectors on to its next iteration by register moves waits for the
// newest load; so each vector in flight has registers of its own. An element read by memcpy from a reference is read
// byte by byte; so elements are unpacked by value.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace warpfold::detail {

// True where elements of T fill 16 bytes exactly.
template <class T>
inline constexpr bool fits_vectors_v = sizeof(T) <= 16 && 16 % sizeof(T) == 0;

// How a load uses the caches: read-only data that may be read again (ld.global.nc), or data that is read once and
// evicted first (ld.global.cs).
enum class cache_hint { keep, stream };

template <cache_hint Hint>
__device__ uint4 load_vector(const uint4* from) {
    if constexpr (Hint == cache_hint::keep) {
        return __ldg(from);
    } else {
        return __ldcs(from);
    }
}

// Loads vectors from[0], from[stride], ... and leaves them all in flight.
template <cache_hint Hint, unsigned Count, class Size>
__device__ void load_vectors(uint4 (&to)[Count], const uint4* from, Size stride) {
#pragma unroll
    for (unsigned i = 0; i < Count; ++i) {
        to[i] = load_vector<Hint>(from + i * stride);
    }
}

// Element j of a vector; j is a constant after unrolling.
template <class T>
__device__ T element_of(const uint4& vector, unsigned j) {
    T held[16 / sizeof(T)];
    std::memcpy(held, &vector, 16);
    return held[j];
}

template <class T, unsigned Width>
__device__ void unpack(const uint4& vector, T (&to)[Width]) {
#pragma unroll
    for (unsigned j = 0; j < Width; ++j) {
        to[j] = element_of<T>(vector, j);
    }
}

// n elements as `head` elements, `vectors` vectors from `data` on, and the elements from index `tail` on. Where the
// address is no multiple of sizeof(T), all n are `head`.
template <class T>
struct vector_view {
    static constexpr unsigned width = 16 / sizeof(T);

    __host__ __device__ vector_view(const T* first, std::uint64_t n) {
        const std::uint64_t beyond = reinterpret_cast<std::uintptr_t>(first) % 16;
        head = beyond == 0 ? 0 : (beyond % sizeof(T) == 0 ? width - beyond / sizeof(T) : n);
        if (head > n) {
            head = n;
        }
        vectors = (n - head) / width;
        tail = head + vectors * width;
        data = reinterpret_cast<const uint4*>(first + head);
    }

    // Rounds of `Loads` vectors in flight: take(vector, index) for the vectors k, k + stride, ... before `count`, then
    // the same from k + Loads * threads on. Stops before the first incomplete round and returns its k.
    template <unsigned Loads, cache_hint Hint, class Size, class Stride, class Take>
    __device__ Size for_rounds(Size k, Size count, Stride stride, Stride threads, const Take& take) const {
        for (; k + (Loads - 1) * stride < count; k += Loads * threads) {
            uint4 loaded[Loads];
            load_vectors<Hint>(loaded, data + k, stride);
#pragma unroll
            for (unsigned i = 0; i < Loads; ++i) {
                take(loaded[i], k + i * stride);
            }
        }
        return k;
    }

    // Calls take(k) for the indices of the elements outside the vectors, as thread `thread` of `threads`.
    template <class Size, class Thread, class Take>
    __device__ void for_edges(Size n, Thread thread, Thread threads, const Take& take) const {
        for (Size k = thread; k < static_cast<Size>(head); k += threads) {
            take(k);
        }
        for (Size k = static_cast<Size>(tail) + thread; k < n; k += threads) {
            take(k);
        }
    }

    std::uint64_t head;
    std::uint64_t vectors;
    std::uint64_t tail;
    const uint4* data;
};

} // namespace warpfold::detail
