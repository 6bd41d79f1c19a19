// SPDX-License-Identifier: MIT
// Sums with a bound of their error against the accumulator: what the bound decides is right, and usual data are decided.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "warpfold/exact_moments.hpp"

namespace warpfold {
namespace {

// Elements that are no pointer: they are added to the accumulator.
template <class T>
struct behind {
    T operator[](std::uint64_t k) const { return from[k]; }

    const T* from;
};

constexpr unsigned kinds = 10;

template <class T>
std::vector<T> numbers(std::uint64_t n, unsigned kind, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    const double scale = std::ldexp(1.0, sizeof(T) == 4 ? static_cast<int>(random() % 100) - 50
                                                        : static_cast<int>(random() % 900) - 450);
    std::vector<T> all(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        double x = normal(random);
        switch (kind) {
        case 0: break;
        case 1: x = std::abs(x); break;
        case 2: x = std::round(1000 * x); break;
        case 3: x = std::ldexp(x, static_cast<int>(random() % 40)); break;
        case 4: x = k % 2 == 1 ? -static_cast<double>(all[k - 1]) / scale : x; break;                // cancels
        case 5: x = static_cast<double>(k + 1); break;                                               // grows
        case 6: x = random() % 2 == 0 ? 1 : std::ldexp(1.0, -std::numeric_limits<T>::digits); break; // ties
        case 7: x = std::ldexp(1 + static_cast<double>(random() % 4) * 0x1p-23, static_cast<int>(random() % 3)); break;
        case 8: x = std::ldexp(x, k == n / 2 ? 200 : 0); break; // one is much larger, of floats infinite
        default: x = k % 1000 == 999 ? x : 0; break;
        }
        all[k] = static_cast<T>(x * scale);
    }
    return all;
}

template <class T>
class BoundedSums : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BoundedSums, Types);

TYPED_TEST(BoundedSums, AreThoseOfTheAccumulator) {
    using T = TypeParam;
    std::mt19937_64 random(1);
    const auto same = [](T x, T y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    for (unsigned round = 0; round < 100 * kinds; ++round) {
        const std::uint64_t n = 1 + random() % (round % 100 == 0 ? 150'000 : round % 10 == 0 ? 5'000 : 70);
        const std::vector<T> a = numbers<T>(n, round % kinds, random), b = numbers<T>(n, round / kinds % kinds, random);
        const T *const x = a.data(), *const y = b.data();
        const behind<T> slow_x{x}, slow_y{y};
        ASSERT_PRED2(same, exact_sum(host{}, x, n), exact_sum(host{}, slow_x, n)) << n << " of kind " << round % kinds;
        ASSERT_PRED2(same, exact_dot(host{}, x, y, n), exact_dot(host{}, slow_x, slow_y, n)) << n;
        ASSERT_PRED2(same, exact_mean(host{}, x, n), exact_mean(host{}, slow_x, n))
            << n << " of kind " << round % kinds;
        ASSERT_PRED2(same, exact_norm(host{}, x, n), exact_norm(host{}, slow_x, n))
            << n << " of kind " << round % kinds;
    }
}

TYPED_TEST(BoundedSums, AreDecidedForUsualNumbers) {
    using T = TypeParam;
#if defined(WARPFOLD_AVX2)
    if (!detail::has_avx2() || __builtin_cpu_supports("fma") == 0 || !detail::has_default_arithmetic()) {
        GTEST_SKIP() << "there are no fused multiply-adds here";
    }
    std::mt19937_64 random(2);
    for (const std::uint64_t n : {100, 1000, 200'001}) {
        const std::vector<T> a = numbers<T>(n, 1, random), b = numbers<T>(n, 1, random);
        const T *const x = a.data(), *const y = b.data();
        EXPECT_TRUE(detail::bounded_on_host<T>(host{}, n, detail::finish_sum<T>{}, x));
        EXPECT_TRUE(detail::bounded_on_host<T>(host{}, n, detail::finish_sum<T>{}, x, y));
        EXPECT_TRUE(detail::bounded_on_host<T>(host{}, n, detail::finish_norm<T>{}, x, x));
        const bool has_means = detail::bounded_on_host<T>(host{}, n, detail::finish_mean<T>{n}, x).has_value();
        EXPECT_EQ(has_means, sizeof(T) == 4);
    }
#else
    GTEST_SKIP() << "there are no fused multiply-adds here";
#endif
}

} // namespace
} // namespace warpfold
