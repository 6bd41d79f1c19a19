// SPDX-License-Identifier: MIT
// Reading samples and writing results, several at a time.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpfold/detail/convolve.hpp"
#include "warpfold/gpu/core/async_copy.cuh"
#include "warpfold/gpu/core/thread_items.cuh"

namespace warpfold::detail {

// The largest power of two up to 16 that divides `bytes`.
constexpr std::size_t alignment_of(std::size_t bytes) {
    return (bytes & (~bytes + 1)) < 16 ? bytes & (~bytes + 1) : 16;
}

// Consecutive samples, read and written together if their address is aligned.
template <class T, int N>
struct alignas(alignment_of(sizeof(T[N]))) group_of {
    T value[N];
};
template <class T>
using four = group_of<T, 4>;

// A word of 4, 8 or 16 bytes.
template <std::size_t Bytes>
using word_of = std::conditional_t<Bytes == 4, unsigned, std::conditional_t<Bytes == 8, uint2, uint4>>;

template <int N, class T>
__device__ group_of<T, N> load_group(const T* from) {
    group_of<T, N> got;
    constexpr std::size_t bytes = sizeof(got) < 16 ? sizeof(got) : 16;
    using word = word_of<bytes>;
    word loaded[sizeof(got) / bytes];
#pragma unroll
    for (int k = 0; k < static_cast<int>(sizeof(got) / bytes); ++k) {
        loaded[k] = __ldg(reinterpret_cast<const word*>(from) + k);
    }
    std::memcpy(&got, loaded, sizeof(got));
    return got;
}
template <class T>
__device__ four<T> load_four(const T* from) {
    return load_group<4>(from);
}

// Integers become floats without conversion instructions, which have low throughput: the integer is placed in the last
// bits of 2^23, and 2^23 is subtracted. Signed integers have their sign bit flipped and half their range subtracted.
template <class T>
inline constexpr float integer_origin_v = 8388608.0f + (std::is_signed_v<T> ? float(1 << (8 * sizeof(T) - 1)) : 0.0f);
template <class T>
inline constexpr unsigned sign_bits_v = std::is_signed_v<T> ? (sizeof(T) == 1 ? 0x80808080u : 0x80008000u) : 0u;

// The samples of a group from `First` on, as numbers.
template <int First, class A, int Count, class T, int N>
__device__ void numbers_of(A (&number)[Count], const group_of<T, N>& from) {
    static_assert(First >= 0 && First + Count <= N);
    if constexpr (std::is_integral_v<T> && sizeof(A) == 4 && sizeof(T[N]) % 4 == 0) {
        unsigned word[sizeof(from) / 4];
        std::memcpy(word, &from, sizeof(word));
#pragma unroll
        for (int k = 0; k < Count; ++k) {
            constexpr int each = 4 / static_cast<int>(sizeof(T));
            const int at = First + k;
            const unsigned which =
                each == 4 ? 0x7440u | static_cast<unsigned>(at % 4) : (at % 2 == 0 ? 0x7410u : 0x7432u);
            number[k] = __uint_as_float(__byte_perm(word[at / each] ^ sign_bits_v<T>, 0x4b000000u, which)) -
                        integer_origin_v<T>;
        }
    } else {
#pragma unroll
        for (int k = 0; k < Count; ++k) {
            number[k] = number_of<A>(from.value[First + k]);
        }
    }
}

// Sums as results, rounded like sample_of. Integers are rounded by adding 2^23, which leaves them in the last bits.
template <class O, int N, class A>
__device__ group_of<O, N> results_of(const A (&sum)[N]) {
    group_of<O, N> results;
    if constexpr (std::is_integral_v<O> && sizeof(A) == 4) {
        constexpr float least = std::is_signed_v<O> ? -float(1 << (8 * sizeof(O) - 1)) : 0.0f;
        constexpr float most = float((1 << (8 * sizeof(O) - (std::is_signed_v<O> ? 1 : 0))) - 1);
        unsigned bits[N], word[N * sizeof(O) / 4];
#pragma unroll
        for (int c = 0; c < N; ++c) {
            const float x = !std::is_signed_v<O> || sum[c] == sum[c] ? sum[c] : 0.0f;
            bits[c] = __float_as_uint(fminf(fmaxf(x, least), most) + integer_origin_v<O>); // fmaxf(NaN, 0) is 0
        }
#pragma unroll
        for (int w = 0; w < static_cast<int>(N * sizeof(O) / 4); ++w) {
            if constexpr (sizeof(O) == 1) {
                const unsigned low = __byte_perm(bits[4 * w], bits[4 * w + 1], 0x0040);
                word[w] = __byte_perm(low, __byte_perm(bits[4 * w + 2], bits[4 * w + 3], 0x0040), 0x5410);
            } else {
                word[w] = __byte_perm(bits[2 * w], bits[2 * w + 1], 0x5410);
            }
            word[w] ^= sign_bits_v<O>;
        }
        std::memcpy(&results, word, sizeof(results));
    } else {
#pragma unroll
        for (int c = 0; c < N; ++c) {
            results.value[c] = sample_of<O>(sum[c]);
        }
    }
    return results;
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

// How results are written: one by one, four at a time, or all of a thread at a time.
enum class result_alignment { anyhow, in_fours, in_groups };

// Writes the results [begin, end) of a group to `out`. Whole: vectors of 16 bytes by an instruction that nvcc leaves whole, but
// does not move either.
template <bool Whole = false, class O, int N, class A>
__device__ void store_results(O* out, const A (&sum)[N], std::int64_t begin, std::int64_t end, result_alignment how) {
    const group_of<O, N> results = results_of<O>(sum);
    if (how != result_alignment::anyhow && begin <= 0 && end >= N) {
        const auto store = [&](auto bytes_each) {
            constexpr std::size_t bytes = decltype(bytes_each)::value;
            word_of<bytes> word[sizeof(results) / bytes];
            std::memcpy(word, &results, sizeof(results));
#pragma unroll
            for (int k = 0; k < static_cast<int>(sizeof(results) / bytes); ++k) {
                if constexpr (Whole && bytes == 16) {
                    const word_of<bytes> whole[1] = {word[k]};
                    store_whole_vector(reinterpret_cast<word_of<bytes>*>(out) + k, whole);
                } else {
                    reinterpret_cast<word_of<bytes>*>(out)[k] = word[k];
                }
            }
        };
        constexpr std::size_t of_group = alignof(group_of<O, N>), of_four = alignof(four<O>);
        if (of_group == of_four || how == result_alignment::in_groups) {
            store(std::integral_constant<std::size_t, of_group>{});
        } else {
            store(std::integral_constant<std::size_t, of_four>{});
        }
        return;
    }
#pragma unroll
    for (int c = 0; c < N; ++c) {
        if (c >= begin && c < end) {
            out[c] = results.value[c];
        }
    }
}
template <bool Whole = false, class O, class A>
__device__ void store_four(O* out, const A (&sum)[4], std::int64_t begin, std::int64_t end, bool aligned) {
    store_results<Whole>(out, sum, begin, end, aligned ? result_alignment::in_fours : result_alignment::anyhow);
}

// Reads what store_four wrote, by the same thread or in an earlier launch.
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

// The samples that a thread with `Cols` results reads per row of a mask of K values: aligned groups, of which the first
// begins `before` samples before the first one needed.
template <int K, int Cols = 4>
struct window {
    static constexpr int before = (Cols - K / 2 % Cols) % Cols;
    static constexpr int length = Cols - 1 + K;
    static constexpr int groups = (before + length + Cols - 1) / Cols;
};

} // namespace warpfold::detail
