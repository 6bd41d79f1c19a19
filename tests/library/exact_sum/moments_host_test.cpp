// SPDX-License-Identifier: MIT
// Exact means, variances and norms, sums of 16-bit numbers and dot products of mixed types on the host's cores.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/exact_sum/moments_reference.hpp"
#include "warpfold/exact_moments.hpp"

namespace warpfold {

namespace {

template <class T>
class Moments : public testing::Test {};
using types = testing::Types<float, double>;
TYPED_TEST_SUITE(Moments, types);

template <class T>
void expect_bits(T got, T expected, const std::string& what) {
    EXPECT_TRUE(tests::same_bits(got, expected)) << what << ": " << got << ", not " << expected;
}

TYPED_TEST(Moments, AreNearestToTheTrueValues) {
    using T = TypeParam;
    unsigned which = 0;
    for (const auto& data : tests::moment_cases<T>()) {
        const std::string name = "case " + std::to_string(which++);
        const T n = static_cast<T>(data.size());
        EXPECT_TRUE(tests::is_nearest_quotient(tests::sum_of(data), n, exact_mean(host{2}, data))) << name;
        const auto scaled = tests::scaled_variance(data);
        for (const unsigned less : {0u, 1u}) {
            const T variance = exact_variance(host{}, data, ddof{less});
            const T divisor = n * (n - static_cast<T>(less));
            if (divisor == 0) {
                expect_bits(variance, tests::one_nan<T>(), name);
            } else if (std::isinf(variance)) { // then the largest number is below
                auto above = scaled;
                above.add_product(-std::numeric_limits<T>::max(), divisor);
                EXPECT_FALSE(above.negative() || above.zero()) << name;
            } else {
                EXPECT_TRUE(tests::is_nearest_quotient(scaled, divisor, variance)) << name << ": " << variance;
            }
        }
        const auto squares = tests::sum_of_squares(data);
        const T norm = exact_norm(host{}, data);
        if (squares.zero()) {
            expect_bits(norm, T(0), name);
        } else {
            EXPECT_TRUE(tests::is_nearest_root(squares, norm)) << name << ": " << norm;
        }
    }
}

TYPED_TEST(Moments, OfSpecialValues) {
    using T = TypeParam;
    using limits = std::numeric_limits<T>;
    const T infinity = limits::infinity(), nan = tests::one_nan<T>(), largest = limits::max();
    const std::vector<T> none;
    expect_bits(exact_mean(host{}, none), nan, "no mean");
    expect_bits(exact_variance(host{}, none), nan, "no variance");
    expect_bits(exact_norm(host{}, none), T(0), "no norm");
    expect_bits(exact_variance(host{}, std::vector<T>{1, 2}, ddof{3}), nan, "ddof");
    expect_bits(exact_mean(host{}, std::vector<T>{1, -infinity}), -infinity, "mean");
    expect_bits(exact_mean(host{}, std::vector<T>{infinity, -infinity}), nan, "mean");
    expect_bits(exact_variance(host{}, std::vector<T>{1, infinity}), nan, "variance");
    expect_bits(exact_norm(host{}, std::vector<T>{1, -infinity, infinity}), infinity, "norm");
    expect_bits(exact_norm(host{}, std::vector<T>{1, -infinity, limits::quiet_NaN()}), nan, "norm");
    expect_bits(exact_mean(host{}, std::vector<T>{largest, largest, largest}), largest, "mean of the largest");
    expect_bits(exact_norm(host{}, std::vector<T>{largest, largest}), infinity, "norm of the largest");
    expect_bits(exact_norm(host{}, std::vector<T>{-largest, 1}), largest, "norm of the largest and 1");
    expect_bits(exact_variance(host{}, std::vector<T>{largest, -largest}), infinity, "variance of the largest");
    expect_bits(exact_variance(host{}, std::vector<T>(1000, largest)), T(0), "variance of equal numbers");
    expect_bits(exact_mean(host{}, std::vector<T>{-limits::denorm_min(), 0, 0}), -T(0), "a mean that vanishes");
    expect_bits(exact_mean(host{}, std::vector<T>{1, -1}), T(0), "a mean of zero");
    T out = 0;
    const std::vector<T> data{1, 2, 6};
    exact_variance(host{}, data, &out, ddof{1});
    EXPECT_EQ(out, 7);
    EXPECT_THROW(exact_mean(host{}, static_cast<const T*>(nullptr), 3, &out), invalid_argument);
    EXPECT_THROW(exact_norm(host{}, data.data(), 3, static_cast<T*>(nullptr)), invalid_argument);
}

// Many elements, by several threads: a shifted sample whose moments are known.
TYPED_TEST(Moments, OfManyElements) {
    using T = TypeParam;
    std::vector<T> data(300001);
    for (std::size_t k = 0; k < data.size(); ++k) {
        data[k] = T(4096) + (k % 2 == 0 ? T(1) : T(-1));
    }
    data.back() = T(4096);
    EXPECT_EQ(exact_mean(host{3}, data), T(4096));
    EXPECT_EQ(exact_variance(host{3}, data, ddof{1}), T(1));
}

template <class H>
void short_sums(int fraction, int lowest, int highest) {
    const auto as_short = [](const std::vector<float>& x) {
        std::vector<H> all;
        all.reserve(x.size());
        for (const float one : x) {
            all.push_back(H(one));
        }
        return all;
    };
    const auto sum = [&](const std::vector<float>& x) { return static_cast<float>(exact_sum(host{}, as_short(x))); };
    const float one = 1, half_step = std::ldexp(one, -fraction - 1), least = std::ldexp(one, lowest);
    EXPECT_EQ(sum({one, half_step}), one);
    EXPECT_EQ(sum({one, half_step, least}), one + 2 * half_step); // a sum in float would lose `least`
    EXPECT_EQ(sum({one, 2 * half_step, half_step}), one + 4 * half_step);
    EXPECT_EQ(sum({least, least, least}), 3 * least);
    const float largest = std::ldexp(2 - 2 * half_step, highest - 1);
    EXPECT_EQ(sum({largest, largest, -largest}), largest);
    EXPECT_EQ(sum({largest, largest}), std::numeric_limits<float>::infinity());
    EXPECT_EQ(exact_sum(host{}, as_short({largest, NAN})).bits, H(std::nanf("")).bits);
    EXPECT_EQ(exact_sum(host{}, as_short({-0.0f})).bits, 0);
}
TEST(ExactSumOnHost, Halves) { short_sums<half>(10, -24, 16); }
TEST(ExactSumOnHost, Bfloats) { short_sums<bfloat16>(7, -133, 128); }

// The neighbours of a result are not nearer: error(x) is the distance of x from the true value, of any scale.
template <class H, class Error>
void expect_nearest(H got, const Error& error, const char* call) {
    ASSERT_TRUE(std::isfinite(static_cast<float>(got))) << call;
    for (const int step : {-1, 1}) {
        H next = got;
        next.bits = static_cast<std::uint16_t>(got.bits + step);
        if (std::isfinite(static_cast<float>(next)) && (got.bits & 0x7fff) != 0) {
            const tests::quad here = error(static_cast<float>(got)), there = error(static_cast<float>(next));
            EXPECT_TRUE(here < there || (here == there && got.bits % 2 == 0)) << call << " " << static_cast<float>(got);
        }
    }
}
template <class H>
void short_moments() {
    using tests::quad;
    const auto magnitude = [](quad x) { return x < 0 ? -x : x; };
    for (unsigned seed = 0; seed < 40; ++seed) {
        const std::uint64_t n = 2 + seed * 5;
        std::vector<H> data, others;
        std::vector<double> wide;
        quad sum = 0, squares = 0;
        for (const float x : tests::spread<float>(n, -8, 6, seed)) {
            data.push_back(H(x));
            others.push_back(H(x * 3));
            const float kept(data.back());
            wide.push_back(kept);
            sum += kept;
            squares += quad(kept) * kept;
        }
        expect_nearest(
            exact_mean(host{}, data), [&](float x) { return magnitude(quad(x) * n - sum); }, "mean");
        expect_nearest(
            exact_variance(host{}, data, ddof{1}),
            [&](float x) { return magnitude(quad(x) * n * (n - 1) - (squares * n - sum * sum)); }, "variance");
        // x is nearer to the root than y if (x + y)^2 / 4 is on the other side of the square.
        const H norm = exact_norm(host{}, data);
        const float x(norm);
        for (const int step : {-1, 1}) {
            H next = norm;
            next.bits = static_cast<std::uint16_t>(norm.bits + step);
            const quad middle = (quad(x) + static_cast<float>(next)) / 2;
            EXPECT_TRUE(step < 0 ? middle * middle <= squares : squares <= middle * middle) << x;
        }
        const std::vector<float> singles(others.begin(), others.end());
        static_assert(std::is_same_v<decltype(exact_dot(host{}, data, others)), float>);
        EXPECT_EQ(exact_dot(host{}, data, others),
                  exact_dot(host{}, std::vector<float>(data.begin(), data.end()), singles));
        EXPECT_EQ(exact_dot(host{}, data, singles), exact_dot(host{}, data, others));
        EXPECT_EQ(exact_dot(host{}, data, wide), static_cast<double>(squares));
    }
    EXPECT_EQ(exact_mean(host{}, std::vector<H>{}).bits, H(std::nanf("")).bits);
    EXPECT_EQ(static_cast<float>(exact_norm(host{}, std::vector<H>{H(3), H(-4)})), 5.0f);
    EXPECT_EQ(static_cast<float>(exact_norm(host{}, std::vector<H>{H(INFINITY), H(1)})), INFINITY);
    EXPECT_EQ(exact_variance(host{}, std::vector<H>{H(INFINITY), H(1)}).bits, H(std::nanf("")).bits);
    EXPECT_THROW((void)exact_mean(host{}, static_cast<const H*>(nullptr), 3), invalid_argument);
}
TEST(MomentsOnHost, OfHalves) { short_moments<half>(); }
TEST(MomentsOnHost, OfBfloats) { short_moments<bfloat16>(); }

TEST(ExactSumOnHost, DotsOfMixedTypes) {
    const auto a = tests::spread<float>(5001, -40, 40, 1);
    const auto b = tests::spread<double>(5001, -100, 60, 2);
    const std::vector<double> wide(a.begin(), a.end());
    const double right = tests::expected_dot(wide, b);
    expect_bits(exact_dot(host{2}, a, b), right, "float and double");
    double out = 0;
    exact_dot(host{}, b.data(), a.data(), a.size(), &out);
    expect_bits(out, right, "double and float");
    EXPECT_THROW((void)exact_dot(host{}, a.data(), static_cast<const double*>(nullptr), 3), invalid_argument);
}

} // namespace
} // namespace warpfold
