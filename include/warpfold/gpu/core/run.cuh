// SPDX-License-Identifier: MIT
// Runs of consecutive elements between memory and one thread's registers, 16 bytes at a time where that goes.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace warpfold::detail {

// The largest power of two, up to 16, that divides `bytes`.
__host__ __device__ constexpr unsigned access_bytes(std::size_t bytes) {
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

// To what the address of a run of `Count` elements has to be aligned for load_run and store_run.
template <class T, unsigned Count>
inline constexpr unsigned run_alignment_v = access_bytes(sizeof(T) * Count);

// Count elements from `from` on, which is aligned to run_alignment_v.
template <class T, unsigned Count>
__device__ void load_run(const T* from, T (&items)[Count]) {
    constexpr unsigned bytes = sizeof(T) * Count;
    using word = typename access_word<access_bytes(bytes)>::type;
    constexpr unsigned words = bytes / sizeof(word);
    word held[words];
#pragma unroll
    for (unsigned w = 0; w < words; ++w) {
        const word* const at = reinterpret_cast<const word*>(from) + w;
        held[w] = *at;
    }
    std::memcpy(items, held, bytes);
}

// The same the other way.
template <class T, unsigned Count>
__device__ void store_run(T* to, const T (&items)[Count]) {
    constexpr unsigned bytes = sizeof(T) * Count;
    using word = typename access_word<access_bytes(bytes)>::type;
    constexpr unsigned words = bytes / sizeof(word);
    word held[words];
    std::memcpy(held, items, bytes);
#pragma unroll
    for (unsigned w = 0; w < words; ++w) {
        word* const at = reinterpret_cast<word*>(to) + w;
        *at = held[w];
    }
}

// Count elements from memory into shared memory, both aligned as for load_run; they are there after await_runs(), for
// the thread that asked. Where the card can, they do not pass through registers.
template <class T, unsigned Count>
__device__ void fetch_run(const T* from, T* shared) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    constexpr unsigned bytes = sizeof(T) * Count;
    if constexpr (bytes == 16) {
        asm volatile(
            "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
            "l"(__cvta_generic_to_global(from))
            : "memory");
        return;
    } else if constexpr (bytes == 8 || bytes == 4) {
        asm volatile(
            "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
            "l"(__cvta_generic_to_global(from)), "n"(bytes)
            : "memory");
        return;
    }
#endif
    T items[Count];
    load_run(from, items);
    store_run(shared, items);
}

// Closes a group of fetched runs; await_runs_but<N>() waits for all groups but the last N.
__device__ inline void close_runs() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <unsigned N>
__device__ void await_runs_but() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

__device__ inline void await_runs() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

template <class T, unsigned Count>
__device__ void reverse_run(T (&items)[Count]) {
#pragma unroll
    for (unsigned j = 0; j < Count / 2; ++j) {
        const T kept = items[j];
        items[j] = items[Count - 1 - j];
        items[Count - 1 - j] = kept;
    }
}

} // namespace warpfold::detail
