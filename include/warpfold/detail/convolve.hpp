// SPDX-License-Identifier: MIT
// Convolution for every target: borders, sizes, conversions between samples and numbers.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/portable.hpp"

namespace warpfold {

// What surrounds the samples a b c d.
enum class border {
    zero,    // 0 0 0 | a b c d | 0 0 0   the lectures' ghost elements
    clamp,   // a a a | a b c d | d d d
    mirror,  // d c b | a b c d | c b a   about the last sample
    reflect, // c b a | a b c d | d c b   about the edge after it
    wrap,    // b c d | a b c d | a b c
};

// Which results n samples and a mask of k values have.
enum class outputs {
    same,  // n: one per sample, with the middle of the mask on it
    full,  // n + k - 1: wherever the mask touches a sample; none without samples
    valid, // n - k + 1, or none: where the mask touches only samples
};

namespace detail {

// Sums are in float, or in double if samples or results are double.
template <class T, class O>
using convolve_sum_t = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<O, double>, double, float>;

template <class T>
inline constexpr bool is_sample_v = (std::is_integral_v<T> && sizeof(T) <= 2 && !std::is_same_v<T, bool>) ||
                                    std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                    (std::is_class_v<T> && sizeof(T) == 2 && std::is_trivially_copyable_v<T>);

template <class A, class T>
WARPFOLD_HD constexpr A number_of(const T& x) {
    if constexpr (std::is_class_v<T>) {
        return static_cast<A>(static_cast<float>(x));
    } else {
        return static_cast<A>(x);
    }
}

// Integers are rounded to nearest, ties to even, and clamped to their range; NaN becomes 0.
template <class O, class A>
WARPFOLD_HD constexpr O sample_of(A sum) {
    if constexpr (std::is_integral_v<O>) {
        constexpr A least = std::is_signed_v<O> ? -A(1 << (8 * sizeof(O) - 1)) : A(0);
        constexpr A most = A((1 << (8 * sizeof(O) - (std::is_signed_v<O> ? 1 : 0))) - 1);
        constexpr A shift = sizeof(A) == 4 ? A(12582912.0) : A(6755399441055744.0); // its last place is 1
        A x = sum == sum ? sum : A(0);
        x = x < least ? least : x;
        x = most < x ? most : x;
        return static_cast<O>(static_cast<std::int32_t>((x + shift) - shift));
    } else if constexpr (std::is_class_v<O>) {
        return O(static_cast<float>(sum));
    } else {
        return static_cast<O>(sum);
    }
}

// The index of the sample read for index i of n > 0 samples; -1 for a ghost element of 0. The type holds 2 n.
template <class I>
WARPFOLD_HD constexpr I source_index(I i, std::type_identity_t<I> n, border kind) {
    if (i >= 0 && i < n) {
        return i;
    }
    if (kind == border::zero) {
        return -1;
    }
    if (kind == border::clamp) {
        return i < 0 ? 0 : n - 1;
    }
    const I period = kind == border::wrap ? n : (kind == border::reflect ? 2 * n : 2 * n - 2);
    if (period == 0) {
        return 0;
    }
    I at = i % period;
    at = at < 0 ? at + period : at;
    return at < n ? at : (kind == border::reflect ? period - 1 : period) - at;
}

// A correlation: result (x, y) of an image is the sum over (i, j) of mask(i, j) * sample(x + i - lead_x, y + j -
// lead_y). Sizes, pitches and distances are in elements.
template <class T, class O>
struct convolve_task {
    using sample = T;
    using result = O;
    using sized = const convolve_task&; // what a kernel reads: itself, without a copy
    static constexpr bool counted = false;

    const T* in;
    O* out;
    std::int64_t width, height, pitch, distance;
    std::int64_t out_width, out_height, out_pitch, out_distance;
    std::int64_t count;
    std::int64_t lead_x, lead_y;
    border outside;
};

// True if all sizes are above 0.
template <class T, class O>
WARPFOLD_HD bool has_results(const convolve_task<T, O>& task) {
    return task.count != 0 && task.out_width != 0 && task.out_height != 0;
}

// A correlation of as many samples (OfLine), or rows of them, as a number in the target's memory says; without it, of the most.
// There are `more` results than samples, or none.
template <class T, class O, class I, bool OfLine>
struct counted_task : convolve_task<T, O> {
    static constexpr bool counted = true;

    struct sized : convolve_task<T, O> {
        WARPFOLD_HD explicit sized(const counted_task& of)
            : convolve_task<T, O>(static_cast<const convolve_task<T, O>&>(of)) {
            const auto n = static_cast<std::int64_t>(of.number.value());
            const std::int64_t results = n == 0 || n + of.more < 0 ? 0 : n + of.more;
            (OfLine ? this->width : this->height) = n;
            (OfLine ? this->out_width : this->out_height) = results;
        }
    };

    count_at<I> number;
    std::int64_t more;
};

} // namespace detail
} // namespace warpfold
