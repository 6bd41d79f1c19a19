// SPDX-License-Identifier: MIT
// Loads of 16 bytes from arrays that start anywhere.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace warpfold::detail {

// Whether elements of T fill 16 bytes without a rest.
template <class T>
inline constexpr bool fits_vectors_v = sizeof(T) <= 16 && 16 % sizeof(T) == 0;

// An array seen as elements before the first 16-byte boundary, vectors of 16 bytes, and elements behind the last of
// them. Where its address is no multiple of its element's size, all are `head`.
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

    std::uint64_t head;    // elements before
    std::uint64_t vectors; // of `width` elements each
    std::uint64_t tail;    // index of the first element behind
    const uint4* data;
};

// The j-th element of a vector, j known when loops are unrolled.
template <class T>
__device__ T element_of(const uint4& vector, unsigned j) {
    T held[16 / sizeof(T)];
    std::memcpy(held, &vector, 16);
    return held[j];
}

} // namespace warpfold::detail
