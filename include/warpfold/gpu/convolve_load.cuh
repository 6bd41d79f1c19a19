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
