// SPDX-License-Identifier: MIT
// Exact sums of complex numbers against sums in 113 bits, on any target. `Place<C>` is an array of the target's memory:
// made of a vector and a number of elements to skip, with data() and read().
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/library/exact_sum/moments_reference.hpp"
#include "warpfold/exact_moments.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/exact_sum_along.hpp"
#include "warpfold/float16.hpp"
#include "warpfold/segmented_exact_sum.hpp"

namespace warpfold::tests {

template <class C>
using part = detail::complex_part_t<C>;

// Their sums and sums of products have fewer than 113 bits.
template <class C>
std::vector<C> complex_numbers(std::uint64_t n, unsigned seed) {
    using T = part<C>;
    std::mt19937_64 draw(seed);
    std::uniform_int_distribution<std::int64_t> bits(-(std::int64_t{1} << (sizeof(T) == 4 ? 23 : 36)),
                                                     std::int64_t{1} << (sizeof(T) == 4 ? 23 : 36));
    std::uniform_int_distribution<int> exponent(-6, 6);
    const auto one = [&] { return std::ldexp(static_cast<T>(bits(draw)), exponent(draw)); };
    std::vector<C> all(n);
    for (C& c : all) {
        const T real = one();
        c = C{real, one()};
    }
    return all;
}
template <class C>
quad real_of(const C& c) {
    return detail::part_at<part<C>>(&c, 0, 0);
}
template <class C>
quad imag_of(const C& c) {
    return detail::part_at<part<C>>(&c, 0, 1);
}

// The same bits; a sum of zero is +0.
template <class C>
void expect_parts(const C& got, quad real, quad imag, const char* call) {
    const C right{static_cast<part<C>>(real), static_cast<part<C>>(imag)};
    EXPECT_EQ(std::memcmp(&got, &right, sizeof(C)), 0)
        << call << ": " << static_cast<double>(real_of(got)) << ", " << static_cast<double>(imag_of(got))
        << "; expected " << static_cast<double>(real) << ", " << static_cast<double>(imag);
}

inline std::vector<std::uint64_t> complex_sizes() { return {0, 1, 2, 3, 31, 33, 1021, 1023, 1024, 1025, 4099, 40009}; }

template <class C, template <class> class Place, class On>
void complex_sums(const On& on) {
    for (const std::uint64_t n : complex_sizes()) {
        SCOPED_TRACE(n);
        const auto a = complex_numbers<C>(n, static_cast<unsigned>(n)), b = complex_numbers<C>(n, 7);
        quad re = 0, im = 0, dot_re = 0, dot_im = 0, vdot_re = 0, vdot_im = 0;
        for (std::uint64_t k = 0; k < n; ++k) {
            const quad r = real_of(a[k]), i = imag_of(a[k]), s = real_of(b[k]), t = imag_of(b[k]);
            re += r;
            im += i;
            dot_re += r * s - i * t;
            dot_im += r * t + i * s;
            vdot_re += r * s + i * t;
            vdot_im += r * t - i * s;
        }
        for (const std::size_t skip : {0u, 1u}) {
            const Place<C> left(a, skip), right(b, 3 * skip), out(std::vector<C>(2));
            const auto written = [&] { return out.read()[0]; };
            expect_parts(exact_sum(on, left.data(), n), re, im, "exact_sum");
            exact_sum(on, left.data(), n, out.data());
            expect_parts(written(), re, im, "exact_sum into");
            expect_parts(exact_dot(on, left.data(), right.data(), n), dot_re, dot_im, "exact_dot");
            exact_dot(on, left.data(), right.data(), n, out.data());
            expect_parts(written(), dot_re, dot_im, "exact_dot into");
            expect_parts(exact_vdot(on, left.data(), right.data(), n), vdot_re, vdot_im, "exact_vdot");
            exact_vdot(on, left.data(), right.data(), n, out.data());
            expect_parts(written(), vdot_re, vdot_im, "exact_vdot into");
        }
    }
}

// The mean and the norm of equal numbers, and of none.
template <class C, template <class> class Place, class On>
void complex_moments(const On& on) {
    using T = part<C>;
    for (const std::uint64_t n : {1u, 7u, 1000u, 16385u}) {
        std::vector<C> numbers(n, C{T(0.5), T(-3)});
        const Place<C> in(numbers, 1), out(std::vector<C>(1));
        const Place<T> norm(std::vector<T>(1), 0);
        expect_parts(exact_mean(on, in.data(), n), quad(0.5), quad(-3), "exact_mean");
        exact_mean(on, in.data(), n, out.data());
        expect_parts(out.read()[0], quad(0.5), quad(-3), "exact_mean into");
        const Place<C> of(std::vector<C>(n, C{T(3), T(-4)}), 1);
        const T right = static_cast<T>(std::sqrt(static_cast<long double>(25 * n)));
        EXPECT_EQ(exact_norm(on, of.data(), n), right);
        exact_norm(on, of.data(), n, norm.data());
        EXPECT_EQ(norm.read()[0], right);
    }
    const Place<C> none(std::vector<C>{}, 0);
    const C mean = exact_mean(on, none.data(), 0);
    EXPECT_TRUE(std::isnan(static_cast<double>(real_of(mean))) && std::isnan(static_cast<double>(imag_of(mean))));
    EXPECT_EQ(exact_norm(on, none.data(), 0), T(0));
}

// Variances of complex numbers whose parts are those of moments_reference.hpp, and of special values.
template <class C, template <class> class Place, class On>
void complex_variances(const On& on) {
    using T = part<C>;
    const Place<T> out(std::vector<T>(1));
    const auto variance_of = [&](const std::vector<C>& all, unsigned less) {
        const Place<C> in(all, 1);
        const T variance = exact_variance(on, in.data(), all.size(), ddof{less});
        exact_variance(on, in.data(), all.size(), out.data(), ddof{less});
        EXPECT_TRUE(same_bits(out.read()[0], variance));
        return variance;
    };
    unsigned which = 0;
    for (const auto& real : moment_cases<T>()) {
        SCOPED_TRACE(which++);
        std::vector<T> imag(real.rbegin(), real.rend());
        imag[0] = imag[0] / 4;
        std::vector<C> all(real.size());
        for (std::size_t k = 0; k < real.size(); ++k) {
            all[k] = C{real[k], imag[k]};
        }
        int128 scaled = scaled_variance(real);
        scaled.add(scaled_variance(imag));
        const T n = static_cast<T>(real.size());
        for (const unsigned less : {0u, 1u}) {
            const T variance = variance_of(all, less), divisor = n * (n - static_cast<T>(less));
            if (divisor == 0) {
                EXPECT_TRUE(same_bits(variance, one_nan<T>()));
            } else if (!std::isinf(variance)) {
                EXPECT_TRUE(is_nearest_quotient(scaled, divisor, variance)) << variance;
            } else {
                scaled.add_product(-std::numeric_limits<T>::max(), divisor);
                EXPECT_FALSE(scaled.negative() || scaled.zero());
            }
        }
    }
    const T inf = std::numeric_limits<T>::infinity();
    EXPECT_TRUE(same_bits(variance_of({}, 0), one_nan<T>()));
    EXPECT_TRUE(same_bits(variance_of({C{1, 2}, C{1, inf}}, 0), one_nan<T>()));
    EXPECT_TRUE(same_bits(variance_of({C{-inf, 2}, C{1, 2}}, 0), one_nan<T>()));
    std::vector<C> many(30001, C{T(4095), T(-64)}); // by several threads and blocks
    for (std::size_t k = 0; k < many.size() / 2; ++k) {
        many[k] = C{T(4097), T(-67)};
    }
    many.back() = C{T(4096), T(-65.5)};
    EXPECT_EQ(variance_of(many, 1), T(3.25));
}

template <class C, template <class> class Place, class On>
void complex_special_values(const On& on) {
    using T = part<C>;
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const T least = std::numeric_limits<T>::denorm_min(), most = std::numeric_limits<T>::max();
    const auto sum_of = [&](const std::vector<C>& all) {
        const Place<C> in(all, 1);
        return exact_sum(on, in.data(), all.size());
    };
    expect_parts(sum_of({C{inf, 1}, C{1, least}}), quad(inf), quad(1), "an infinity stays in its part");
    expect_parts(sum_of({C{1, -inf}, C{most, 1}, C{-most, 1}}), quad(1), quad(-inf), "and cancels");
    expect_parts(sum_of({C{T(-0.0), most}, C{T(-0.0), most}}), quad(0), quad(inf), "zeros, overflow");
    expect_parts(sum_of({C{least, -least}, C{least, -least}}), quad(2) * least, quad(-2) * least, "subnormal numbers");
    const C mixed = sum_of({C{nan, 3}, C{1, inf}, C{1, -inf}});
    EXPECT_TRUE(std::isnan(static_cast<double>(real_of(mixed))) && std::isnan(static_cast<double>(imag_of(mixed))));
    const C one = sum_of({C{nan, 3}, C{1, 4}});
    EXPECT_EQ(static_cast<double>(imag_of(one)), 7.0);
    // An infinity times a part that is zero is NaN, as in the true sum of products.
    const Place<C> a({C{inf, 0}}, 0), b({C{1, 0}}, 0), c({C{1, 2}}, 0);
    const C zero = exact_dot(on, a.data(), b.data(), 1), product = exact_dot(on, b.data(), c.data(), 1);
    EXPECT_TRUE(std::isnan(static_cast<double>(imag_of(zero))));
    expect_parts(product, quad(1), quad(2), "exact_dot");
}

template <class C, template <class> class Place, class On>
void complex_segments_and_axes(const On& on) {
    const std::vector<std::uint64_t> bounds{0, 0, 1, 5000, 5003, 40009};
    const auto a = complex_numbers<C>(bounds.back(), 3);
    const Place<C> in(a, 1), out(std::vector<C>(bounds.size() - 1));
    const Place<std::uint64_t> offsets(bounds, 0);
    segmented_exact_sum(on, in.data(), offsets.data(), bounds.size() - 1, out.data());
    const auto sums = out.read();
    for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
        quad re = 0, im = 0;
        for (std::uint64_t k = bounds[s]; k < bounds[s + 1]; ++k) {
            re += real_of(a[k]);
            im += imag_of(a[k]);
        }
        expect_parts(sums[s], re, im, "segmented_exact_sum");
    }
    // Of 37 * 51 * 11 elements, the middle axis backwards, into every other place.
    const std::uint64_t x = 37, y = 51, z = 11;
    const Place<C> results(std::vector<C>(2 * x * z, C{7, 7}));
    const strided_view<const C> view(in.data() + (y - 1) * z, {x, y, z},
                                     {static_cast<std::int64_t>(y * z), -static_cast<std::int64_t>(z), 1});
    exact_sum_along(on, view, axes{1}, strided_view<C>(results.data(), {x, z}, {2 * static_cast<std::int64_t>(z), 2}));
    const auto along = results.read();
    for (std::uint64_t k = 0; k < x * z; ++k) {
        quad re = 0, im = 0;
        for (std::uint64_t j = 0; j < y; ++j) {
            const C& c = a[k / z * y * z + j * z + k % z];
            re += real_of(c);
            im += imag_of(c);
        }
        expect_parts(along[2 * k], re, im, "exact_sum_along");
        expect_parts(along[2 * k + 1], quad(7), quad(7), "between results");
    }
    exact_sum_along(on, strided_view<const C>(in.data(), {bounds.back()}), axes::all(), out.data());
    quad re = 0, im = 0;
    for (const C& c : a) {
        re += real_of(c);
        im += imag_of(c);
    }
    expect_parts(out.read()[0], re, im, "exact_sum_along all");
    try {
        exact_sum_along(on, strided_view<const C>(in.data(), {1, 1, 1, 1, 1, 1, 1, 1}), axes{0}, out.data());
        ADD_FAILURE();
    } catch (const invalid_argument& e) {
        EXPECT_NE(std::string(e.what()).find("8 dimensions, more than 7"), std::string::npos) << e.what();
    }
}

// Dot products with real numbers of type R, in both orders. An infinity reaches the other part only through its own.
template <class C, class R, template <class> class Place, class On>
void dots_with_real(const On& on) {
    using T = std::common_type_t<part<C>, std::conditional_t<std::is_same_v<R, double>, double, float>>;
    using Z = typename detail::with_parts<C, T>::type;
    const Place<Z> out(std::vector<Z>(2));
    const auto expect_dots = [&](const std::vector<R>& real, const std::vector<C>& complex, quad re, quad im) {
        const std::uint64_t n = real.size();
        for (const std::size_t skip : {0u, 1u}) {
            const Place<R> a(real, skip);
            const Place<C> b(complex, 3 * skip);
            const auto written = [&] { return out.read()[0]; };
            expect_parts<Z>(exact_dot(on, a.data(), b.data(), n), re, im, "real by complex");
            expect_parts<Z>(exact_dot(on, b.data(), a.data(), n), re, im, "complex by real");
            exact_dot(on, a.data(), b.data(), n, out.data());
            expect_parts(written(), re, im, "real by complex into");
            exact_dot(on, b.data(), a.data(), n, out.data());
            expect_parts(written(), re, im, "complex by real into");
            const quad conjugate = 0 - im; // +0 of +0
            expect_parts<Z>(exact_vdot(on, a.data(), b.data(), n), re, im, "real by complex, vdot");
            expect_parts<Z>(exact_vdot(on, b.data(), a.data(), n), re, conjugate, "conjugate by real");
            exact_vdot(on, a.data(), b.data(), n, out.data());
            expect_parts(written(), re, im, "real by complex, vdot into");
            exact_vdot(on, b.data(), a.data(), n, out.data());
            expect_parts(written(), re, conjugate, "conjugate by real into");
        }
    };
    for (const std::uint64_t n : complex_sizes()) {
        SCOPED_TRACE(n);
        const auto complex = complex_numbers<C>(n, static_cast<unsigned>(n));
        std::vector<R> real;
        quad re = 0, im = 0;
        for (const auto& c : complex_numbers<std::complex<double>>(n, 7)) {
            real.push_back(static_cast<R>(static_cast<float>(c.real() * 0x1p-36)));
            const auto x = static_cast<float>(real.back());
            re += x * real_of(complex[real.size() - 1]);
            im += x * imag_of(complex[real.size() - 1]);
        }
        expect_dots(real, complex, re, im);
    }
    using P = part<C>;
    const P most = std::numeric_limits<P>::max(), inf = std::numeric_limits<P>::infinity();
    expect_dots({R(1.0f), R(2.0f)}, {C{inf, P(1)}, C{P(1), P(3)}}, quad(inf), quad(7));
    expect_dots({R(2.0f), R(-2.0f)}, {C{most, P(-0.0)}, C{most, P(-0.0)}}, quad(0), quad(0));
}

template <class C, template <class> class Place, class On>
void complex_arguments(const On& on) {
    const C* const null = nullptr;
    EXPECT_THROW((void)exact_sum(on, null, 3), invalid_argument);
    EXPECT_THROW((void)exact_sum(on, null, ~std::uint64_t{0}), invalid_argument);
    const Place<C> in(std::vector<C>(3), 0);
    EXPECT_THROW(exact_sum(on, in.data(), 3, static_cast<C*>(nullptr)), invalid_argument);
    EXPECT_THROW((void)exact_dot(on, in.data(), null, 3), invalid_argument);
    auto* const misaligned = reinterpret_cast<const C*>(reinterpret_cast<const char*>(in.data()) + 1);
    EXPECT_THROW((void)exact_sum(on, misaligned, 1), invalid_argument);
}

// Of every kind above.
template <class C, template <class> class Place, class On>
void complex_calls(const On& on) {
    complex_sums<C, Place>(on);
    complex_moments<C, Place>(on);
    complex_variances<C, Place>(on);
    complex_special_values<C, Place>(on);
    complex_segments_and_axes<C, Place>(on);
    complex_arguments<C, Place>(on);
}

// Complex numbers of two widths with real ones of three.
template <class Single, class Double, template <class> class Place, class On>
void all_dots_with_real(const On& on) {
    dots_with_real<Single, float, Place>(on);
    dots_with_real<Single, half, Place>(on);
    dots_with_real<Single, double, Place>(on);
    dots_with_real<Double, float, Place>(on);
    dots_with_real<Double, double, Place>(on);
}

} // namespace warpfold::tests
