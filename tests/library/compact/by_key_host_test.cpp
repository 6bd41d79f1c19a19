// SPDX-License-Identifier: MIT
// Reductions and scans by key on the host.
#include "warpfold/by_key.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/library/compact/compact_cases.hpp"
#include "warpfold/error.hpp"

namespace warpfold {
namespace {

const std::uint64_t sizes[] = {0, 1, 2, 127, 128, 129, 4099, 8191, 8192, 8193, 70001};

template <class A, class V, class Op>
void reduces(const std::vector<V>& values, const Op& op) {
    for (const std::uint64_t n : sizes) {
        const std::vector<V> some(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
        for (const auto& keys : tests::key_cases(n, 20000)) {
            const auto heads = tests::heads_of(keys, std::equal_to<>{});
            const auto firsts = tests::partitioned(keys, heads).first;
            const auto folds = tests::folded_runs<A>(heads, some, op);
            for (const unsigned threads : {1u, 3u}) {
                std::vector<std::uint32_t> keys_out(n);
                std::vector<A> out(n);
                EXPECT_EQ(reduce_by_key(host{threads}, keys, some, keys_out, out, op), folds.size());
                EXPECT_TRUE(tests::begins_with(keys_out, firsts)) << n;
                EXPECT_TRUE(tests::begins_with(out, folds)) << n;
            }
        }
    }
}
TEST(ByKeyHost, Sums) { reduces<std::int64_t>(tests::any_numbers<std::int32_t>(70001, 1), sum{}); }
TEST(ByKeyHost, InOrder) {
    std::vector<tests::affine> maps;
    for (std::uint32_t k = 0; k < 70001; ++k) {
        maps.push_back({2 * k + 1, k * k + 1});
    }
    reduces<tests::affine>(maps, tests::then{});
}

TEST(ByKeyHost, SameBitsForAnyThreads) {
    const auto keys = tests::key_cases(200001, 100000).back();
    std::vector<float> values(keys.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = 1.0f / static_cast<float>(k + 1);
    }
    std::vector<std::uint32_t> keys_out(keys.size());
    std::vector<float> one(keys.size()), four(keys.size());
    const auto count = reduce_by_key(host{1}, keys, values, keys_out, one);
    EXPECT_EQ(reduce_by_key(host{4}, keys, values, keys_out, four), count);
    four.resize(count);
    EXPECT_TRUE(tests::begins_with(one, four));
}

TEST(ByKeyHost, RunLengths) {
    for (const std::uint64_t n : sizes) {
        const auto data = tests::floats_in_runs(n);
        const auto heads = tests::heads_of(data, std::equal_to<>{});
        const auto lengths = tests::folded_runs<std::uint16_t>(heads, std::vector<std::uint16_t>(n, 1), sum{});
        std::vector<float> out(n);
        std::vector<std::uint16_t> got(n);
        int count = -1;
        run_length_encode(host{2}, data, out, got, &count);
        EXPECT_EQ(static_cast<std::size_t>(count), lengths.size());
        EXPECT_TRUE(tests::begins_with(out, tests::partitioned(data, heads).first)) << n;
        EXPECT_TRUE(tests::begins_with(got, lengths)) << n;
        const std::uint64_t fewer = n / 2;
        const auto some = run_length_encode(host{}, data.data(), count_at(&fewer, n), out.data(), got.data());
        EXPECT_EQ(some, run_length_encode(host{}, data.data(), fewer, out.data(), got.data()));
    }
}

TEST(ByKeyHost, Scans) {
    for (const std::uint64_t n : sizes) {
        for (const auto& keys : tests::key_cases(n, 20000)) {
            const auto values = tests::any_numbers<std::uint32_t>(n, 2);
            const auto heads_here = tests::heads_of(keys, tests::low_bits_equal{});
            std::vector<std::uint32_t> got(n), expected(n), exclusive(n);
            inclusive_scan_by_key(host{2}, keys, values, got, sum{}, tests::low_bits_equal{});
            std::uint32_t total = 0;
            for (std::uint64_t k = 0; k < n; ++k) {
                total = (heads_here[k] != 0 ? 0 : total) + values[k];
                expected[k] = total;
                exclusive[k] = total - values[k] + 9;
            }
            EXPECT_EQ(got, expected);
            got = values;
            exclusive_scan_by_key(host{2}, keys.data(), n, got.data(), got, sum{}, tests::low_bits_equal{}, 9u);
            EXPECT_EQ(got, exclusive);
        }
    }
}

TEST(ByKeyHost, BadArguments) {
    std::vector<int> x(100, 1), out(100), short_one(99);
    EXPECT_THROW((void)reduce_by_key(host{}, x, x, short_one, out), invalid_argument);
    EXPECT_THROW((void)reduce_by_key(host{}, x, short_one, out, out), invalid_argument);
    EXPECT_THROW((void)reduce_by_key(host{}, x, x, out, x), invalid_argument);
    EXPECT_THROW((void)run_length_encode(host{}, x, x, out), invalid_argument);
    EXPECT_THROW(inclusive_scan_by_key(host{}, static_cast<int*>(nullptr), 5, x, out), invalid_argument);
    EXPECT_THROW(exclusive_scan_by_key(host{}, x, short_one, out), invalid_argument);
}

} // namespace
} // namespace warpfold
