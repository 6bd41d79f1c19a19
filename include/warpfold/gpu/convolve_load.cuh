// SPDX-License-Identifier: MIT
// Samples read and results written four at a time.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpfold/detail/convolve.hpp"

namespace warpfold::detail {

// A mask that travels as a parameter of the kernel: where an index is known to the compiler, its value is an operand of
// the multiplication.
template <class A, int N>
struct mask_parameter {
    A value[N];
};

// Four samples that lie side by side; an address of them is a multiple of their size, or of 16 bytes.
template <class T>
struct alignas(sizeof(T) >= 4 ? 16 : 4 * sizeof(T)) four {
    T value[4];
};

template <class T>
__device__ four<T> load_four(const T* from) {
    four<T> got;
    if constexpr (sizeof(T) == 8) {
        const uint4* const p = reinterpret_cast<const uint4*>(from);
        const uint4 halves[2] = {__ldg(p), __ldg(p + 1)};
        std::memcpy(&got, halves, 32);
    } else {
        using word = std::conditional_t<sizeof(T) == 4, uint4, std::conditional_t<sizeof(T) == 2, uint2, unsigned>>;
        const word loaded = __ldg(reinterpret_cast<const word*>(from));
        std::memcpy(&got, &loaded, sizeof(word));
    }
    return got;
}

template <class T>
__device__ T load_one(const T* from) {
    if constexpr (std::is_class_v<T>) {
        const unsigned short bits = __ldg(reinterpret_cast<const unsigned short*>(from));
        T got;
        std::memcpy(&got, &bits, 2);
        return got;
    } else {
        return __ldg(from);
    }
}

// Copies `Bytes` bytes, 4, 8 or 16, to shared memory while the thread goes on; until copies_done they may not be there.
// Cards before compute capability 8.0 wait.
template <int Bytes>
__device__ void copy_ahead(void* to, const void* from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from)), "n"(Bytes)
                 : "memory");
#else
    using word = std::conditional_t<Bytes == 4, unsigned, std::conditional_t<Bytes == 8, uint2, uint4>>;
    *static_cast<word*>(to) = __ldg(static_cast<const word*>(from));
#endif
}

// Ends a group of this thread's copies.
__device__ inline void end_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for this thread's copies but for its last `Groups` groups.
template <int Groups>
__device__ void copies_done() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#endif
}

template <class T>
__device__ T no_sample() {
    T zero;
    std::memset(&zero, 0, sizeof(T));
    return zero;
}

// Writes results to `out`, of which those from index `begin` up to `end` are wanted.
template <class O, class A>
__device__ void store_four(O* out, const A (&sum)[4], std::int64_t begin, std::int64_t end, bool aligned) {
    four<O> results;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        results.value[c] = sample_of<O>(sum[c]);
    }
    if (aligned && begin <= 0 && end >= 4) {
        if constexpr (sizeof(O) == 8) {
            uint4 halves[2];
            std::memcpy(halves, &results, 32);
            reinterpret_cast<uint4*>(out)[0] = halves[0];
            reinterpret_cast<uint4*>(out)[1] = halves[1];
        } else {
            using word = std::conditional_t<sizeof(O) == 4, uint4, std::conditional_t<sizeof(O) == 2, uint2, unsigned>>;
            word stored;
            std::memcpy(&stored, &results, sizeof(word));
            *reinterpret_cast<word*>(out) = stored;
        }
        return;
    }
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        if (c >= begin && c < end) {
            out[c] = results.value[c];
        }
    }
}

// Reads what store_four has written, by the same thread or in an earlier launch.
template <class A>
__device__ void load_results(A (&sum)[4], const A* out, std::int64_t begin, std::int64_t end, bool aligned) {
    if (aligned && begin <= 0 && end >= 4) {
#pragma unroll
        for (int k = 0; k < 4; k += 16 / static_cast<int>(sizeof(A))) {
            const uint4 loaded = *reinterpret_cast<const uint4*>(out + k);
            std::memcpy(&sum[k], &loaded, 16);
        }
        return;
    }
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        sum[c] = c >= begin && c < end ? out[c] : A(0);
    }
}

template <class A>
__device__ A fused(A a, A b, A c) {
    if constexpr (sizeof(A) == 4) {
        return __fmaf_rn(a, b, c);
    } else {
        return __fma_rn(a, b, c);
    }
}

// What a thread with four results reads for each row of a mask of K values: groups of four samples, the first of which
// starts at an aligned address, `before` samples before the first that it needs.
template <int K>
struct window {
    static constexpr int before = (4 - K / 2 % 4) % 4;
    static constexpr int length = 3 + K;
    static constexpr int groups = (before + length + 3) / 4;
};

} // namespace warpfold::detail
