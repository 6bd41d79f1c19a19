// SPDX-License-Identifier: MIT
// Exact sums of few numbers, without a long accumulator where the sum fits two doubles.
//
// The error of a rounded addition is itself a number of the format, and TwoSum finds it. `sum` and `rest` add the numbers
// and the errors; the errors of `rest` are collected as bits. If all of these are zero, sum + rest is the true sum, and
// the addition of the two rounds it once. Subnormal sums have no errors. After an overflow, an infinity or NaN an error is
// infinite or NaN, and its bits are not zero. `sum` starts at +0, so that no sum of zeros is -0.
//
// D. Knuth: The Art of Computer Programming, volume 2, 4.2.2. S. Boldo, S. Graillat, J.-M. Muller: On the robustness of the
// 2Sum and Fast2Sum algorithms, ACM Trans. Math. Softw. 44(1), 2017: what happens on overflow.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpfold/detail/exact/exact_half.hpp"
#include "warpfold/detail/exact/exact_integer.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/core/vectors.hpp"
#include "warpfold/host/exact_sum/bounded.hpp"
#include "warpfold/host/exact_sum/chunk.hpp"
#include "warpfold/host/exact_sum/exact_sum.hpp"

namespace warpfold::detail {

// Elements; of more, setting up an accumulator takes little of the time.
inline constexpr std::uint64_t short_sum = 1024;

// Elements, from which on a bounded sum is the fastest.
inline constexpr std::uint64_t least_bounded = 128;

// Without `Rest` there is no second sum: of floats, doubles are often enough.
template <class V, class Bits, bool Rest>
struct checked_sum {
    [[gnu::always_inline]] void add(const V& x) { // by reference: see load_four()
        V error = x;
        two_sum(sum, error);
        if constexpr (Rest) {
            two_sum(rest, error);
        }
        Bits bits;
        std::memcpy(&bits, &error, sizeof(bits));
        lost |= bits;
    }

    V sum{}, rest{};
    Bits lost{};
};

// Adds n numbers. Returns true if sum + rest is their sum.
template <bool Rest, class T>
[[gnu::always_inline]] inline bool add_checked(const T* x, unsigned n, double& sum, double& rest) {
    checked_sum<double, std::uint64_t, Rest> total;
    unsigned k = 0;
    if (n >= 8) {
        checked_sum<four_doubles, four_longs, Rest> lanes;
        for (; k + 4 <= n; k += 4) {
            four_doubles four;
            load_four(four, x + k);
            lanes.add(four);
        }
        for (unsigned lane = 0; lane < 4; ++lane) {
            total.add(lanes.sum[lane]);
            if constexpr (Rest) {
                total.add(lanes.rest[lane]);
            }
            total.lost |= static_cast<std::uint64_t>(lanes.lost[lane]);
        }
    }
    for (; k < n; ++k) {
        total.add(x[k]);
    }
    sum = total.sum;
    rest = total.rest;
    return total.lost << 1 == 0; // -0 is no error
}

// sum + rest, rounded to double, but of two neighbours that with an odd last bit unless one of them is exact. So it can
// be rounded again, to fewer bits: nothing lies half-way that did not before.
//
// S. Boldo, G. Melquiond: Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd, IEEE
// Trans. Comput. 57(4), 2008.
inline double rounded_to_odd(double sum, double rest) {
    two_sum(sum, rest);
    std::uint64_t bits;
    std::memcpy(&bits, &sum, sizeof(bits));
    if (rest != 0 && bits % 2 == 0) {
        bits += (rest > 0) == (sum > 0) ? std::uint64_t{1} : ~std::uint64_t{0};
        std::memcpy(&sum, &bits, sizeof(bits));
    }
    return sum;
}

// Rounds x to R.
template <class R>
R narrowed(double x) {
    if constexpr (std::is_floating_point_v<R>) {
        return static_cast<R>(x);
    } else {
        const number_parts<double> parts = parts_of(x);
        const std::int64_t limb[2] = {static_cast<std::int64_t>(parts.mantissa & 0xffffffff),
                                      static_cast<std::int64_t>(parts.mantissa >> 32)};
        return rounded_magnitude<R>(limb, 2, static_cast<int>(parts.place) + ieee<double>::lowest, parts.negative);
    }
}

// The sum of n <= short_sum numbers, rounded to R, in `result`. Returns false if it was not found so. The thread has default
// arithmetic.
template <class R, class T>
[[gnu::always_inline]] inline bool add_few(const T* x, unsigned n, R& result) {
    double sum, rest;
    if constexpr (std::is_same_v<R, double>) {
        const bool found = add_checked<true>(x, n, sum, rest);
        result = sum + rest;
        return found;
    } else {
        if (add_checked<false>(x, n, sum, rest)) {
            result = narrowed<R>(sum);
            return true;
        }
        const bool found = add_checked<true>(x, n, sum, rest);
        result = narrowed<R>(rounded_to_odd(sum, rest));
        return found;
    }
}

// Sums one after another, by one thread.
template <class T, class R>
class exact_sums {
public:
    // The sum of n elements, rounded to R.
    template <class In>
    R operator()(std::uint64_t n, const In& in) const {
        if (n >= least_bounded) {
            if (const auto found = bounded_on_host<T>(host{1}, n, finish_sum<R>{}, in)) {
                return *found;
            }
        }
        R result;
        return quick_ && n <= short_sum && few(static_cast<unsigned>(n), in, result)
                   ? result
                   : exact_on_host<T, R>(host{1}, n, in);
    }

private:
    template <class In>
    static bool few(unsigned n, const In& in, R& result) {
        const T* from;
        T buffer[std::is_pointer_v<In> ? 1 : short_sum];
        if constexpr (std::is_pointer_v<In>) {
            from = in;
        } else {
            from = chunk_of<T>(in, 0, n, n, buffer);
        }
        return n < 8 ? add_few(from, n, result) : with_widest_vectors([&] { return add_few(from, n, result); });
    }

    const bool quick_ = has_default_arithmetic();
};

} // namespace warpfold::detail
