// SPDX-License-Identifier: MIT
// count_at in reductions and scans on the host's cores: the same as with the number itself.
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/compact/counted_cases.hpp"
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
    }
    const std::uint32_t number = 5;
    std::vector<float> little(4);
    EXPECT_THROW(inclusive_scan(on, data.data(), count_at(&number, 100), little), invalid_argument);
    EXPECT_THROW((void)reduce(on, data.data(), count_at(static_cast<const int*>(nullptr), 100)), invalid_argument);
    EXPECT_THROW((void)reduce(on, static_cast<const float*>(nullptr), count_at(&number, 100)), invalid_argument);
    const float array[6] = {1, 2, 3, 4, 5, 6};
    EXPECT_EQ(reduce(on, array, count_at(&number, 6)), 15);
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
