// SPDX-License-Identifier: MIT
// Data, references and tolerances.
#include "ladder/reduce/definition/data.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace warpfold::ladder::reduce {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class T>
std::vector<T> data_of(element_type type, operation op, std::uint64_t n, std::uint64_t seed = 587) {
    std::vector<T> values(n);
    fill_data(reinterpret_cast<std::byte*>(values.data()), type, op, n, seed);
    return values;
}

scalar real_result(double value) {
    scalar s;
    s.type = element_type::float32;
    s.real = value;
    return s;
}

TEST(Data, DependsOnTheSeedAndOnNothingElse) {
    const auto once = data_of<std::int32_t>(element_type::int32, operation::sum, 1 << 20);
    EXPECT_EQ(once, data_of<std::int32_t>(element_type::int32, operation::sum, 1 << 20));
    EXPECT_NE(once, data_of<std::int32_t>(element_type::int32, operation::sum, 1 << 20, 588));
    const auto fewer = data_of<std::int32_t>(element_type::int32, operation::sum, 1000);
    EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), once.begin()));
}

TEST(Data, FloatsAreInRangeAndSpread) {
    double sum_of_all = 0;
    const auto values = data_of<float>(element_type::float32, operation::sum, 100'000);
    for (const float x : values) {
        ASSERT_GE(x, -1.0f);
        ASSERT_LT(x, 1.0f);
        sum_of_all += static_cast<double>(x);
    }
    EXPECT_LT(std::fabs(sum_of_all), 5 * std::sqrt(100'000 / 3.0));
}

TEST(Data, ProductsStayMeaningful) {
    for (const auto x : data_of<std::int64_t>(element_type::int64, operation::product, 1000)) {
        ASSERT_EQ(x & 1, 1);
    }
    double product_of_all = 1;
    for (const auto x : data_of<double>(element_type::float64, operation::product, 100'000)) {
        product_of_all *= x;
    }
    EXPECT_GE(std::fabs(product_of_all), std::ldexp(1.0, -12));
    EXPECT_LE(std::fabs(product_of_all), std::ldexp(1.0, 12));
}

TEST(Reference, IntegersAreExactModuloThePowerOfTwo) {
    const auto values = data_of<std::int32_t>(element_type::int32, operation::sum, 1'000'003);
    std::uint64_t all = 0;
    for (const auto x : values) {
        all += static_cast<std::uint64_t>(x);
    }
    const auto right = reference_of(element_type::int32, operation::sum, values.data(), values.size());
    EXPECT_EQ(right.expected.integer, static_cast<std::int32_t>(all));
    EXPECT_TRUE(right.exact);
    EXPECT_EQ(tolerance_of(right, 20, false), 0);
}

TEST(Reference, FloatSumsAreCompensated) {
    const std::vector<double> values{1e300, 1, -1e300, 1e-20};
    const auto right = reference_of(element_type::float64, operation::sum, values.data(), values.size());
    EXPECT_EQ(right.expected.real, 1.0);
    EXPECT_DOUBLE_EQ(right.magnitude, 2e300);
}

TEST(Reference, OfNothingIsTheIdentity) {
    EXPECT_EQ(reference_of(element_type::int32, operation::product, nullptr, 0).expected.integer, 1);
    EXPECT_EQ(reference_of(element_type::float32, operation::minimum, nullptr, 0).expected.real,
              static_cast<double>(infinite));
    EXPECT_EQ(reference_of(element_type::float64, operation::sum, nullptr, 0).expected.real, 0.0);
}

TEST(Reference, NanIsIgnoredByExtremesAndKeptBySums) {
    const std::vector<float> values{not_a_number, 2, not_a_number, -3};
    const auto least = reference_of(element_type::float32, operation::minimum, values.data(), values.size());
    EXPECT_EQ(least.expected.real, -3.0);
    const auto all = reference_of(element_type::float32, operation::sum, values.data(), values.size());
    EXPECT_TRUE(std::isnan(all.expected.real));
    EXPECT_TRUE(agrees(all, real_result(std::nan("")), tolerance_of(all, 3, false)));
    EXPECT_FALSE(agrees(all, real_result(1), tolerance_of(all, 3, false)));
}

TEST(Reference, InfinitiesAreKept) {
    const std::vector<float> values{1, infinite, 2};
    const auto right = reference_of(element_type::float32, operation::sum, values.data(), values.size());
    EXPECT_TRUE(agrees(right, real_result(static_cast<double>(infinite)), tolerance_of(right, 3, false)));
    EXPECT_FALSE(agrees(right, real_result(3), tolerance_of(right, 3, false)));
}

TEST(Reference, ProductsDoNotOverflowOnTheWay) {
    const std::vector<double> values{0x1p900, 0x1p900, 0x1p-900, 0x1p-900, 3};
    const auto right = reference_of(element_type::float64, operation::product, values.data(), values.size());
    EXPECT_EQ(right.expected.real, 3.0);
    EXPECT_TRUE(std::isinf(right.magnitude)); // other orders do overflow: no result can be held to 3
}

TEST(Tolerance, GrowsWithTheHeightAndRejectsWhatIsFartherOff) {
    const std::vector<float> values(1024, 0.25f);
    const auto right = reference_of(element_type::float32, operation::sum, values.data(), values.size());
    EXPECT_EQ(right.expected.real, 256.0);
    const double low = tolerance_of(right, 10, false);
    const double high = tolerance_of(right, 1023, false);
    EXPECT_NEAR(low, 11 * 0x1p-24 * 256, 1e-3 * low);
    EXPECT_GT(high, 50 * low);
    EXPECT_TRUE(agrees(right, real_result(256.0 + low), low));
    EXPECT_FALSE(agrees(right, real_result(256.0 + 1.01 * low), low));
    EXPECT_FALSE(agrees(right, real_result(std::nan("")), low));
    EXPECT_LT(tolerance_of(right, 1023, true), low / 5); // accumulated in double, rounded once
}

TEST(FoldOnHost, FoldsIntoTheIdentity) {
    const float all_nan[2]{not_a_number, not_a_number};
    EXPECT_EQ(fold_on_host(element_type::float32, operation::maximum, all_nan, 2).real, -static_cast<double>(infinite));
    const std::int32_t partial[3]{std::numeric_limits<std::int32_t>::max(), 1, 5};
    EXPECT_EQ(fold_on_host(element_type::int32, operation::sum, partial, 3).integer,
              std::int64_t{std::numeric_limits<std::int32_t>::lowest()} + 5);
    EXPECT_EQ(fold_on_host(element_type::int64, operation::sum, nullptr, 0).integer, 0);
}

} // namespace
} // namespace warpfold::ladder::reduce
