// SPDX-License-Identifier: MIT
// Consecutive elements of one thread: between memory and registers in words of up to 16 bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpfold/gpu/core/async_copy.cuh"

namespace warpfold::detail {

// The largest power of two, up to 16, that divides `bytes`.
__host__ __device__ constexpr unsigned access_width(std::size_t bytes) {
    return bytes % 16 == 0 ? 16 : (bytes % 8 == 0 ? 8 : (bytes % 4 == 0 ? 4 : (bytes % 2 == 0 ? 2 : 1)));
}

template <unsigned Bytes>
struct access_word;
template <>
struct access_word<16> {
    using type = uint4;
};
template <>
struct access_word<8> {
    using type = uint2;
};
template <>
struct access_word<4> {
    using type = unsigned;
};
template <>
struct access_word<2> {
    using type = unsigned short;
};
template <>
struct access_word<1> {
    using type = unsigned char;
};

// The alignment in bytes that load_items and store_items need for `Count` elements.
template <class T, unsigned Count>
inline constexpr unsigned items_alignment_v = access_width(sizeof(T) * Count);

// items[j] = from[j]; `from` is aligned to items_alignment_v.
template <class T, unsigned Count>
__device__ void load_items(const T* from, T (&items)[Count]) {
    constexpr unsigned bytes = sizeof(T) * Count;
    using word = typename access_word<access_width(bytes)>::type;
    constexpr unsigned words = bytes / sizeof(word);
    word held[words];
#pragma unroll
    for (unsigned w = 0; w < words; ++w) {
        const word* const at = reinterpret_cast<const word*>(from) + w;
        held[w] = *at;
    }
    std::memcpy(items, held, bytes);
}

// to[j] = items[j]; `to` is aligned to items_alignment_v.
template <class T, unsigned Count>
__device__ void store_items(T* to, const T (&items)[Count]) {
    constexpr unsigned bytes = sizeof(T) * Count;
    using word = typename access_word<access_width(bytes)>::type;
    constexpr unsigned words = bytes / sizeof(word);
    word held[words];
    std::memcpy(held, items, bytes);
#pragma unroll
    for (unsigned w = 0; w < words; ++w) {
        word* const at = reinterpret_cast<word*>(to) + w;
        *at = held[w];
    }
}

// The same for 16 bytes, by an instruction that nvcc leaves whole, where it would split the vector into elements because
// other code near it stores elements.
template <class T, unsigned Count>
__device__ void store_whole_vector(T* to, const T (&items)[Count]) {
    static_assert(sizeof(items) == 16);
    unsigned held[4];
    std::memcpy(held, items, 16);
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "r"(held[0]),
                 "r"(held[1]), "r"(held[2]), "r"(held[3])
                 : "memory");
}

// Starts to copy `Count` elements from global to shared memory, both aligned as for load_items. The thread reads them
// after wait_copies() or wait_all_copies(). Sizes that cp.async has no instruction for go through registers.
template <class T, unsigned Count>
__device__ void copy_items_async(const T* from, T* shared) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    constexpr unsigned bytes = sizeof(T) * Count;
    if constexpr (bytes == 16) {
        copy_async<16, copy_cache::l2>(shared, from);
        return;
    } else if constexpr (bytes == 8 || bytes == 4) {
        copy_async<bytes>(shared, from);
        return;
    }
#endif
    T items[Count];
    load_items(from, items);
    store_items(shared, items);
}

template <class T, unsigned Count>
__device__ void reverse_items(T (&items)[Count]) {
    if constexpr (Count > 1) { // nvcc warns of a loop that is never entered
#pragma unroll
        for (unsigned j = 0; j < Count / 2; ++j) {
            const T kept = items[j];
            items[j] = items[Count - 1 - j];
            items[Count - 1 - j] = kept;
        }
    }
}

} // namespace warpfold::detail
