// SPDX-License-Identifier: MIT
// Quantiles of timings.
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

namespace warpfold::measure {
namespace {

TEST(Statistics, MedianOfOddAndEvenCounts) {
    EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0.5), 2);
    EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
    EXPECT_DOUBLE_EQ(quantile({7}, 0.05), 7);
}

TEST(Statistics, QuantilesAreInterpolated) {
    const std::vector<double> samples{50, 10, 30, 20, 40};
    EXPECT_DOUBLE_EQ(quantile(samples, 0), 10);
    EXPECT_DOUBLE_EQ(quantile(samples, 1), 50);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.25), 20);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.05), 12);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.95), 48);
}

TEST(Statistics, OneOutlierDoesNotMoveTheMedian) {
    const auto s = summarize({1, 1, 1, 1, 1, 1, 1, 1, 1, 1000});
    EXPECT_DOUBLE_EQ(s.median, 1);
    EXPECT_DOUBLE_EQ(s.low, 1);
    EXPECT_GT(s.high, 1);
    EXPECT_EQ(s.samples, 10u);
}

TEST(Statistics, BadInputIsAnError) {
    EXPECT_THROW((void)quantile({}, 0.5), std::invalid_argument);
    EXPECT_THROW((void)quantile({1}, 1.5), std::invalid_argument);
    EXPECT_THROW((void)quantile({1}, std::nan("")), std::invalid_argument);
}

TEST(Statistics, BandwidthIsBytesOverSeconds) { EXPECT_DOUBLE_EQ(gigabytes_per_second(3e9, 2), 1.5); }

} // namespace
} // namespace warpfold::measure
