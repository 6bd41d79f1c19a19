// SPDX-License-Identifier: MIT
// The window of a thread: exact addition in registers. A window has a few levels, `exact_spacing` bits apart. A level
// is a double near 1.5 * 2^(52 + b) that takes multiples of 2^b, its lowest bit, and leaves the remainder to the next
// level. So a level is an integer times 2^b, and the remainder after the last level says whether a number fit. The
// method needs double precision additions, of which data center GPUs have enough while memory is read.
//
// J. Demmel, H. D. Nguyen: Parallel reproducible summation, IEEE Trans. Comput. 64(7), 2015.
#pragma once

#include <cstdint>

#include "warpfold/detail/exact/exact_integer.hpp"

namespace warpfold::detail {

// One integer per level.
template <unsigned Count>
struct level_sums {
    long long of[Count];
};

inline constexpr int exact_spacing = 40;
// The most terms of a level: each is below 2^(b + 39), and their sum has to stay below 2^(b + 51).
inline constexpr unsigned exact_window_terms = 1u << 12;

template <unsigned Levels>
struct exact_window {
    static constexpr int depth = exact_spacing * static_cast<int>(Levels - 1);

    // The lowest bit of level j.
    __device__ int lowest_bit(unsigned j) const { return highest - exact_spacing * static_cast<int>(j); }
    // Numbers below 2^reach() fit.
    __device__ int reach() const { return highest + exact_spacing - 1; }

    __device__ void empty() {
#pragma unroll
        for (unsigned j = 0; j < Levels; ++j) {
            sum[j] = __longlong_as_double(origin(j));
        }
    }
    // Adds x, |x| < 2^reach(), to the levels from `From` on. Returns the remainder: 0 if x was added completely, NaN if
    // x is not finite.
    template <unsigned From = 0>
    __device__ double add(double x) {
#pragma unroll
        for (unsigned j = From; j < Levels; ++j) {
            const double with = __dadd_rn(sum[j], x);
            x = __dsub_rn(x, __dsub_rn(with, sum[j]));
            sum[j] = with;
        }
        return x;
    }
    // Level j as a multiple of its lowest bit; its magnitude is at most 2^51.
    __device__ long long integer(unsigned j) const { return __double_as_longlong(sum[j]) - origin(j); }

    double sum[Levels];
    int highest; // lowest bit of level 0

private:
    __device__ long long origin(unsigned j) const {
        return static_cast<long long>(1023 + 52 + lowest_bit(j)) << 52 | 1ll << 51;
    }
};

// The window of a kind of sum: its levels, its first place, the lowest bit that it may move to, and terms per element.
template <class T, unsigned Factors>
struct window_parameters;
template <>
struct window_parameters<float, 1> {
    static constexpr unsigned levels = 3;
    static constexpr int highest = 3;
    static constexpr int least_bit = ieee<float>::lowest;
    static constexpr unsigned terms = 1; // per element
};
template <>
struct window_parameters<double, 1> {
    static constexpr unsigned levels = 4;
    static constexpr int highest = 5;
    static constexpr int least_bit = ieee<double>::lowest;
    static constexpr unsigned terms = 1;
};
template <>
struct window_parameters<float, 2> {
    static constexpr unsigned levels = 4;
    static constexpr int highest = 11;
    static constexpr int least_bit = 2 * ieee<float>::lowest;
    static constexpr unsigned terms = 1;
};
template <>
struct window_parameters<double, 2> {
    static constexpr unsigned levels = 6;
    static constexpr int highest = 21;
    static constexpr int least_bit = -960; // products are exact as a pair of doubles
    static constexpr unsigned terms = 2;
};
inline constexpr int exact_most_highest = 960;

// A float as a double. Subnormal numbers are kept, also with -ftz or -use_fast_math.
__device__ inline double as_double(float x) {
    double wide;
    asm("cvt.f64.f32 %0, %1;" : "=d"(wide) : "f"(x));
    return wide;
}
__device__ inline double as_double(double x) { return x; }

// The magnitude of a number in a form that compares faster: a float itself, the upper word of a double.
__device__ inline float magnitude_of(float x) { return fabsf(x); }
__device__ inline unsigned magnitude_of(double x) { return static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffu; }
__device__ inline float larger_magnitude(float a, float b) { return fmaxf(a, b); } // NaN is found elsewhere
__device__ inline unsigned larger_magnitude(unsigned a, unsigned b) { return max(a, b); }
// Numbers with a magnitude below this are below 2^reach. For float, infinity if all numbers are. reach >= -126 for
// float, -1022 for double.
__device__ inline float magnitude_limit(float, int reach) { return __int_as_float((min(reach, 128) + 127) << 23); }
__device__ inline unsigned magnitude_limit(double, int reach) { return static_cast<unsigned>(reach + 1023) << 20; }

} // namespace warpfold::detail
