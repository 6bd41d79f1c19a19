// SPDX-License-Identifier: MIT
// The operations: identities, wrapping, NaN, ties.
#include "ladder/reduce/definition/operations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace warpfold::ladder::reduce {
namespace {

template <class T>
class Operations : public ::testing::Test {};
using types = ::testing::Types<std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(Operations, types);

template <class Op, class T>
void expect_identity() {
    for (const T x : {T{0}, T{1}, T{-1}, T{7}, std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()}) {
        EXPECT_EQ(Op{}(Op::identity(), x), x);
        EXPECT_EQ(Op{}(x, Op::identity()), x);
    }
}

TYPED_TEST(Operations, IdentityChangesNothing) {
    expect_identity<sum<TypeParam>, TypeParam>();
    expect_identity<product<TypeParam>, TypeParam>();
    expect_identity<minimum<TypeParam>, TypeParam>();
    expect_identity<maximum<TypeParam>, TypeParam>();
    expect_identity<largest_magnitude<TypeParam>, TypeParam>();
}

TYPED_TEST(Operations, LargestMagnitudeKeepsTheSignAndPrefersThePositive) {
    const largest_magnitude<TypeParam> op;
    EXPECT_EQ(op(TypeParam{3}, TypeParam{-5}), TypeParam{-5});
    EXPECT_EQ(op(TypeParam{-5}, TypeParam{5}), TypeParam{5});
    EXPECT_EQ(op(TypeParam{5}, TypeParam{-5}), TypeParam{5});
}

TEST(WrappingOperations, IntegersWrap) {
    constexpr auto most32 = std::numeric_limits<std::int32_t>::max();
    constexpr auto least32 = std::numeric_limits<std::int32_t>::lowest();
    EXPECT_EQ(sum<std::int32_t>{}(most32, 1), least32);
    EXPECT_EQ(product<std::int32_t>{}(0x10001, 0x10001), 0x20001);
    constexpr auto most64 = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(sum<std::int64_t>{}(most64, most64), -2);
    EXPECT_EQ(product<std::int64_t>{}(most64, 2), -2);
}

TEST(WrappingOperations, TheMostNegativeIntegerHasTheLargestMagnitude) {
    constexpr auto least = std::numeric_limits<std::int32_t>::lowest();
    constexpr auto most = std::numeric_limits<std::int32_t>::max();
    EXPECT_EQ(largest_magnitude<std::int32_t>{}(least, most), least);
    EXPECT_EQ(largest_magnitude<std::int32_t>{}(most, least), least);
}

template <class Op>
void expect_nan_ignored() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(Op{}(nan, -2.5f), -2.5f);
    EXPECT_EQ(Op{}(-2.5f, nan), -2.5f);
    EXPECT_EQ(Op{}(Op::identity(), nan), Op::identity());
}

TEST(NanInOperations, IsIgnoredButInSumsAndProducts) {
    expect_nan_ignored<minimum<float>>();
    expect_nan_ignored<maximum<float>>();
    expect_nan_ignored<largest_magnitude<float>>();
    EXPECT_TRUE(std::isnan(sum<float>{}(1, std::numeric_limits<float>::quiet_NaN())));
}

} // namespace
} // namespace warpfold::ladder::reduce
