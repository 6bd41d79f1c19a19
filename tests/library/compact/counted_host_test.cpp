// SPDX-License-Identifier: MIT
// count_at in reductions and scans on the host's cores: the same as with the number itself.
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/compact/counted_cases.hpp"
#include "warpfold/by_key.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"
#include "warpfold/select.hpp"

namespace warpfold {

namespace {

TEST(CountedOnHost, ReductionsAndScans) {
    const auto data = tests::counted_data(tests::counted_most);
    const host on{2};
    for (const std::uint32_t number : tests::counted_numbers()) {
        const count_at count(&number, tests::counted_most);
        const std::uint64_t n = std::min<std::uint64_t>(number, tests::counted_most);
        EXPECT_EQ(reduce(on, data.data(), count), reduce(on, data.data(), n));
        EXPECT_EQ(transform_reduce(on, data.data(), count, tests::times_index{}, tests::larger_low_half{}, 3u),
                  transform_reduce(on, data.data(), n, tests::times_index{}, tests::larger_low_half{}, 3u));
        std::uint64_t sum = 9;
        transform_reduce(on, data.data(), count, &sum, tests::times_index{});
        EXPECT_EQ(sum, transform_reduce(on, data.data(), n, tests::times_index{}));
        EXPECT_EQ(count_if(on, data.data(), count, tests::is_multiple_of_three{}),
                  count_if(on, data.data(), n, tests::is_multiple_of_three{}));
        if (n == 0) {
            EXPECT_EQ(arg_min(on, data.data(), count).index, no_element);
            EXPECT_EQ(min_max(on, data.data(), count).smallest, minimum::identity<float>());
        } else {
            EXPECT_EQ(arg_min(on, data.data(), count).index, arg_min(on, data.data(), n).index);
            EXPECT_EQ(min_max(on, data.data(), count).largest, min_max(on, data.data(), n).largest);
        }
        std::vector<float> scanned(n + 1, 77), right(n + 1, 77);
        inclusive_scan(on, data.data(), count, scanned.data());
        inclusive_scan(on, data.data(), n, right.data());
        EXPECT_EQ(scanned, right);
        exclusive_scan(on, data.data(), count, scanned, std::plus<>{}, 1.0f);
        exclusive_scan(on, data.data(), n, right, std::plus<>{}, 1.0f);
        EXPECT_EQ(scanned, right);
        EXPECT_EQ(exact_sum(on, data.data(), count), exact_sum(on, data.data(), n));
        const std::vector<double> others(data.rbegin(), data.rend());
        double dot = 0;
        exact_dot(on, data.data(), others.data(), count, &dot);
        EXPECT_EQ(dot, exact_dot(on, data.data(), others.data(), n));
        inclusive_scan(on, data.data(), count, scanned, maximum{}, reversed);
        inclusive_scan(on, data.data(), n, right, maximum{}, reversed);
        EXPECT_EQ(scanned, right);
    }
    const std::uint32_t number = 5;
    std::vector<float> little(4);
    EXPECT_THROW(inclusive_scan(on, data.data(), count_at(&number, 100), little), invalid_argument);
    EXPECT_THROW((void)reduce(on, data.data(), count_at(static_cast<const int*>(nullptr), 100)), invalid_argument);
    EXPECT_THROW((void)reduce(on, static_cast<const float*>(nullptr), count_at(&number, 100)), invalid_argument);
    const float array[6] = {1, 2, 3, 4, 5, 6};
    EXPECT_EQ(reduce(on, array, count_at(&number, 6)), 15);
    EXPECT_EQ(exact_sum(on, array, count_at(&number, 6)), 15);
    EXPECT_EQ(exact_dot(on, array, array, count_at(&number, 6)), 55);
}

TEST(CountedOnHost, ExactSumsAndMoments) {
    tests::each_counted_exact_sum([](const auto& data, const auto& call) {
        for (const std::uint32_t number : {0u, 1u, 2u, 4099u, 1u << 31}) {
            const count_at count(&number, data.size());
            const auto right = call(host{1}, data.data(), std::min<std::uint64_t>(number, data.size()));
            auto out = right;
            const auto got = call(host{2}, data.data(), count);
            EXPECT_EQ(std::memcmp(&got, &right, sizeof(right)), 0) << number;
            std::memset(static_cast<void*>(&out), 0x77, sizeof(out));
            call(host{2}, data.data(), count, &out);
            EXPECT_EQ(std::memcmp(&out, &right, sizeof(right)), 0) << number;
        }
        EXPECT_THROW((void)call(host{}, data.data(), count_at(static_cast<const int*>(nullptr), 4)), invalid_argument);
    });
}

TEST(CountedOnHost, ScansByKey) {
    const auto data = tests::counted_data(tests::counted_most);
    const auto keys = tests::counted_keys(tests::counted_most);
    for (const std::uint32_t number : tests::counted_numbers()) {
        const count_at count(&number, tests::counted_most);
        const std::uint64_t n = std::min<std::uint64_t>(number, tests::counted_most);
        std::vector<float> got(n + 1, 77), right(n + 1, 77);
        inclusive_scan_by_key(host{2}, keys.data(), count, data.data(), got.data());
        inclusive_scan_by_key(host{2}, keys.data(), n, data.data(), right.data());
        EXPECT_EQ(got, right);
        exclusive_scan_by_key(host{2}, keys.data(), count, data.data(), got.data(), maximum{}, equals{}, -1.0f);
        exclusive_scan_by_key(host{2}, keys.data(), n, data.data(), right.data(), maximum{}, equals{}, -1.0f);
        EXPECT_EQ(got, right);
    }
}

TEST(CountedOnHost, Histograms) {
    const auto data = tests::counted_data(tests::counted_most);
    const auto keys = tests::counted_keys(tests::counted_most);
    const even_bins<float> bins(-8, 8, 32);
    const even_bins<int> of_keys(0, 400, 20);
    const host on{2};
    for (const std::uint32_t number : tests::counted_numbers()) {
        const count_at count(&number, tests::counted_most);
        const std::uint64_t n = std::min<std::uint64_t>(number, tests::counted_most);
        const auto right = histogram(on, data.data(), n, bins);
        EXPECT_EQ(histogram(on, data.data(), count, bins), right);
        std::vector<std::uint64_t> counts(32, 5);
        histogram(on, data.data(), count, counts, bins);
        EXPECT_EQ(counts, right);
        std::vector<double> sums(32, 5), of_number(32, 6);
        weighted_histogram(on, data.data(), keys.data(), count, sums.data(), bins);
        weighted_histogram(on, data.data(), keys.data(), n, of_number.data(), bins);
        EXPECT_EQ(sums, of_number);
        std::vector<std::uint32_t> joint(32 * 20, 5), joint_right(32 * 20, 6);
        const std::tuple both{data.data(), keys.data()};
        histogram_nd(on, both, count, joint, std::tuple{bins, of_keys});
        histogram_nd(on, both, n, joint_right, std::tuple{bins, of_keys});
        EXPECT_EQ(joint, joint_right);
        std::vector<double> weighted(32 * 20), weighted_right(32 * 20, 1);
        weighted_histogram_nd(on, both, data.data(), count, weighted, std::tuple{bins, of_keys});
        weighted_histogram_nd(on, both, data.data(), n, weighted_right, std::tuple{bins, of_keys});
        EXPECT_EQ(weighted, weighted_right);
    }
    const std::uint32_t number = 3;
    const float array[4] = {1, 2, 1, 1};
    EXPECT_EQ(histogram(on, array, count_at(&number, 4), even_bins<float>(1, 3, 2)),
              (std::vector<std::uint64_t>{2, 1}));
    std::uint64_t counts[2];
    histogram(on, array, count_at(&number, 4), counts, even_bins<float>(1, 3, 2));
    EXPECT_EQ(counts[0], 2u);
    EXPECT_THROW(histogram(on, array, count_at(&number, ~std::uint64_t{0}), counts, even_bins<float>(1, 3, 2)),
                 invalid_argument);
}

// select -> reduce -> scan without the number on the way.
TEST(CountedOnHost, Chains) {
    const auto data = tests::counted_data(9001);
    std::vector<float> kept(data.size());
    std::uint64_t number = 0;
    select(host{}, data.data(), data.size(), kept.data(), &number, tests::is_multiple_of_three{});
    const float total = reduce(host{}, kept.data(), count_at(&number, data.size()));
    float right = 0;
    for (const float x : data) {
        right += tests::is_multiple_of_three{}(x) ? x : 0;
    }
    EXPECT_EQ(total, right);
}

} // namespace
} // namespace warpfold
