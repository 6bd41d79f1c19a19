// SPDX-License-Identifier: MIT
// Where a thread of a GPU adds up numbers exactly, in registers: sums of a few levels, each a double near 1.5 * 2^(52 +
// b), which only takes multiples of 2^b, the level's lowest bit, and leaves the rest of a number to the next level,
// `exact_spacing` bits lower. So a level's sum is an integer times 2^b, and what is left behind the last level tells
// whether a number was within reach. Additions in double precision are what a GPU for computing has to spare while it
// reads.
//
// After J. Demmel, H. D. Nguyen: Parallel reproducible summation, IEEE Trans. Comput. 64(7), 2015.
#pragma once

#include <cstdint>

#include "warpfold/detail/exact_integer.hpp"

namespace warpfold::detail {

// One integer for each of a window's levels.
template <unsigned Count>
struct level_sums {
    long long of[Count];
};

inline constexpr int exact_spacing = 40;
// Terms that a level takes: each is below 2^(b + 39), and together they must stay below 2^(b + 51).
inline constexpr unsigned exact_window_terms = 1u << 12;

template <unsigned Levels>
struct exact_window {
    static constexpr int depth = exact_spacing * static_cast<int>(Levels - 1);

    // The lowest bit of level j.
    __device__ int lowest_bit(unsigned j) const { return highest - exact_spacing * static_cast<int>(j); }
    // Numbers that are taken are below 2^reach().
    __device__ int reach() const { return highest + exact_spacing - 1; }

    __device__ void empty() {
#pragma unroll
        for (unsigned j = 0; j < Levels; ++j) {
            sum[j] = __longlong_as_double(origin(j));
        }
    }
    // Adds x, |x| < 2^reach(), to the levels from `From` on; what comes back is 0 if it has been added, and NaN if x is
    // no number.
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
    // Level j's sum, as a multiple of its lowest bit. |it| <= 2^51.
    __device__ long long integer(unsigned j) const { return __double_as_longlong(sum[j]) - origin(j); }

    double sum[Levels];
    int highest; // the lowest bit of level 0

private:
    __device__ long long origin(unsigned j) const {
        return static_cast<long long>(1023 + 52 + lowest_bit(j)) << 52 | 1ll << 51;
    }
};

// What a kind of sum is made of: its levels, where they begin at first, and in which range they may be moved.
template <class T, unsigned Factors>
struct window_parameters;
template <>
struct window_parameters<float, 1> {
    static constexpr unsigned levels = 3;
    static constexpr int highest = 3;
    static constexpr int least_bit = ieee<float>::lowest;
    static constexpr unsigned terms = 1; // each element's
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

// A number as a double, subnormal floats as what they are, whatever nvcc is told of them (-ftz, -use_fast_math).
__device__ inline double as_double(float x) {
    double wide;
    asm("cvt.f64.f32 %0, %1;" : "=d"(wide) : "f"(x));
    return wide;
}
__device__ inline double as_double(double x) { return x; }

// A number's magnitude as something that compares faster: of a float itself, of a double its upper half.
__device__ inline float magnitude_of(float x) { return fabsf(x); }
__device__ inline unsigned magnitude_of(double x) { return static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffu; }
__device__ inline float larger_magnitude(float a, float b) { return fmaxf(a, b); } // NaN is found by other means
__device__ inline unsigned larger_magnitude(unsigned a, unsigned b) { return max(a, b); }
// What is less than this is less than 2^reach; infinity of float where all numbers are. -126 <= reach for float, -1022
// for double.
__device__ inline float magnitude_limit(float, int reach) { return __int_as_float((min(reach, 128) + 127) << 23); }
__device__ inline unsigned magnitude_limit(double, int reach) { return static_cast<unsigned>(reach + 1023) << 20; }

} // namespace warpfold::detail
