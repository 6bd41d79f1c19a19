// SPDX-License-Identifier: MIT
// Maps, places, extremes and exact sums of segments on the host's cores.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/segmented_reduce/segmented_kinds_cases.hpp"
#include "tests/message_of.hpp"
#include "warpfold/segmented_exact_sum.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold {

namespace {

TEST(SegmentedKindsOnHost, Places) {
    for (const auto& one : tests::segment_kinds()) {
        const auto data = tests::numbers_with_nan(one.offsets.back());
        const std::uint64_t segments = one.offsets.size() - 1;
        for (const bool smallest : {true, false}) {
            std::vector<located<float>> got(segments);
            if (smallest) {
                segmented_arg_min(host{2}, data.data(), one.offsets.data(), segments, got.data());
            } else {
                segmented_arg_max(host{2}, data, one.offsets, got);
            }
            for (std::uint64_t s = 0; s < segments; ++s) {
                const auto right = tests::expected_extreme(data, one.offsets[s], one.offsets[s + 1], smallest);
                EXPECT_EQ(got[s].index, right.index) << one.name << ": " << s;
                EXPECT_TRUE(tests::same_bits(got[s].value, right.value)) << one.name << ": " << s;
            }
        }
    }
}

// A type that only has <.
struct named {
    int key, name;
    friend bool operator<(const named& a, const named& b) { return a.key < b.key; }
};

TEST(SegmentedKindsOnHost, PlacesOfATypeOfTheUsers) {
    const std::vector<named> data{{3, 0}, {1, 1}, {1, 2}, {5, 3}};
    const std::vector<int> offsets{0, 3, 3, 4};
    std::vector<located<named>> got(3);
    segmented_arg_min(host{}, data, offsets, got);
    EXPECT_EQ(got[0].index, 1u);
    EXPECT_EQ(got[0].value.name, 1);
    EXPECT_EQ(got[1].index, no_element);
    EXPECT_EQ(got[1].value.key, 0);
    EXPECT_EQ(got[2].value.key, 5);
}

TEST(SegmentedKindsOnHost, Extremes) {
    const std::vector<int> data{5, -3, 7, 2};
    std::vector<extremes<int>> got(3);
    segmented_min_max(host{}, data, std::vector<int>{0, 3, 3, 4}, got);
    EXPECT_EQ(got[0].smallest, -3);
    EXPECT_EQ(got[0].largest, 7);
    EXPECT_EQ(got[1].smallest, minimum::identity<int>());
    EXPECT_EQ(got[1].largest, maximum::identity<int>());
    EXPECT_EQ(got[2].smallest, 2);
    const auto numbers = tests::numbers_with_nan(700);
    std::vector<extremes<float>> both(7);
    segmented_min_max(host{}, numbers.data(), equal_segments{100}, 7, both.data());
    EXPECT_TRUE(std::isnan(both[1].smallest) && std::isnan(both[1].largest)); // element 100
    EXPECT_EQ(both[2].smallest, -7);
    EXPECT_EQ(both[2].largest, 7);
}

TEST(SegmentedKindsOnHost, Maps) {
    for (const auto& one : tests::segment_kinds()) {
        const auto data = tests::small_numbers<std::int32_t>(one.offsets.back(), 3);
        const std::uint64_t segments = one.offsets.size() - 1;
        std::vector<std::uint64_t> sums(segments), least(segments);
        segmented_transform_reduce(host{2}, data, one.offsets, sums, tests::times_index{});
        segmented_transform_reduce(host{2}, data.data(), one.offsets.data(), segments, least.data(),
                                   tests::times_index{}, tests::larger_low_half{}, std::uint64_t{5});
        for (std::uint64_t s = 0; s < segments; ++s) {
            std::uint64_t sum = 0, kept = 5;
            for (std::uint64_t k = one.offsets[s]; k < one.offsets[s + 1]; ++k) {
                sum += tests::times_index{}(data[k], k);
                kept = tests::larger_low_half{}(kept, tests::times_index{}(data[k], k));
            }
            EXPECT_EQ(sums[s], sum) << one.name << ": " << s;
            EXPECT_EQ(least[s], kept) << one.name << ": " << s;
        }
    }
}

template <class T>
void exact() {
    auto cases = tests::segment_kinds();
    cases.push_back({"a very long one", {1, 5, 300000, 300000, 300100}}); // all threads sum it
    for (const auto& one : cases) {
        const auto data = tests::summands<T>(one.offsets.back());
        const std::uint64_t segments = one.offsets.size() - 1;
        std::vector<T> got(segments + 1, T(9)), from_iterator(segments);
        segmented_exact_sum(host{2}, data.data(), one.offsets.data(), segments, got.data());
        segmented_exact_sum(host{2}, data.begin(), one.offsets.begin(), segments, from_iterator.begin());
        for (std::uint64_t s = 0; s < segments; ++s) {
            const T right = exact_sum(host{1}, data.data() + one.offsets[s], one.offsets[s + 1] - one.offsets[s]);
            EXPECT_TRUE(tests::same_bits(got[s], right)) << one.name << ": " << s;
            EXPECT_TRUE(tests::same_bits(from_iterator[s], right)) << one.name << ": " << s;
        }
        EXPECT_EQ(got[segments], T(9));
    }
}
TEST(SegmentedKindsOnHost, ExactFloats) { exact<float>(); }
TEST(SegmentedKindsOnHost, ExactDoubles) { exact<double>(); }

TEST(SegmentedKindsOnHost, BadArguments) {
    const std::vector<double> data(10, 1.0);
    std::vector<double> out(3, 7.0);
    const auto says = [&](const std::vector<int>& offsets, const std::string& words) {
        const std::string message =
            tests::message_of<invalid_argument>([&] { segmented_exact_sum(host{}, data, offsets, out); });
        EXPECT_NE(message.find("segmented_exact_sum: " + words), std::string::npos) << message;
        EXPECT_EQ(out, std::vector<double>(3, 7.0));
    };
    says({}, "there are no offsets");
    says({0, 5, 4, 10}, "the offsets decrease at 2");
    says({-1, 5, 6, 10}, "the first offset is negative");
    says({0, 5, 6, 11}, "the last offset is 11, and there are 10 elements");
    says({0, 1, 2, 3, 4}, "the output has room for 3 of 4");
    EXPECT_THROW(segmented_exact_sum(host{}, static_cast<const float*>(nullptr), equal_segments{2}, 2,
                                     static_cast<float*>(nullptr)),
                 invalid_argument);
    std::vector<located<double>> places(2);
    EXPECT_THROW(segmented_arg_min(host{}, data, std::vector<int>{0, 5, 4, 10}, places), invalid_argument);
}

} // namespace
} // namespace warpfold
