// SPDX-License-Identifier: MIT
// Exact sums of many segments, rows and columns on the host against the accumulator, which sums the elements of each result
// alone. Data on which sums of doubles are inexact, tie, cancel, overflow on the way or are not finite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/library/cases.hpp"
#include "tests/library/exact_sum/exact_reference.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/exact_sum_along.hpp"
#include "warpfold/segmented_exact_sum.hpp"

namespace warpfold {
namespace {

template <class T>
T number(double x) {
    return static_cast<T>(static_cast<detail::computed_t<T>>(x));
}

constexpr unsigned kinds = 9;

// Numbers that are awkward in one way.
template <class T>
std::vector<T> awkward(std::uint64_t n, unsigned kind, std::mt19937_64& random) {
    using format = detail::ieee<T>;
    const auto power = [](int exponent) { return std::ldexp(1.0, exponent); };
    const auto below = [&](std::uint64_t many) { return static_cast<int>(random() % many); };
    const auto signed_one = [&](double x) { return random() % 2 == 0 ? x : -x; };
    const double largest = (2 - power(-format::fraction)) * power(format::highest - 1), tiny = power(format::lowest);
    const double infinity = std::numeric_limits<double>::infinity();
    const int digits = format::fraction + 1, range = format::highest - format::lowest;
    const double ties[]{1,    power(-digits), power(-digits), power(1 - digits), 3 * power(-digits), power(-2 * digits),
                        tiny, power(1)};
    const double large[]{largest,
                         largest,
                         power(format::highest - digits - 1),
                         power(format::highest - digits - 2),
                         power(format::highest - 1),
                         tiny,
                         1};
    const double special[]{infinity, -infinity, std::nan(""), 1, 0, largest, tiny, -1};
    std::vector<T> data(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        const double fraction = 1 + std::ldexp(static_cast<double>(random() >> 12), -52);
        double x = 0;
        switch (kind) {
        case 0: x = signed_one(fraction * power(below(6))); break;
        case 1: x = signed_one(fraction * power(format::lowest + below(static_cast<std::uint64_t>(range)))); break;
        case 2: x = signed_one(ties[random() % std::size(ties)]); break;
        case 3: // pairs that cancel, and a rest
            x = k % 2 == 1 && k + 1 != n ? -static_cast<double>(static_cast<detail::computed_t<T>>(data[k - 1]))
                                         : signed_one(fraction * power(below(20) * format::highest / 20));
            break;
        case 4: x = signed_one(tiny * below(9)); break;
        case 5: x = signed_one(large[random() % std::size(large)]); break;
        case 6: x = random() % 8 == 0 ? special[random() % std::size(special)] : fraction; break;
        case 7: x = signed_one(0); break;
        default: x = signed_one(fraction * power(below(static_cast<std::uint64_t>(digits) + 30))); break;
        }
        data[k] = number<T>(x);
    }
    std::shuffle(data.begin(), data.end(), random);
    return data;
}

template <class T>
class ShortExactSums : public testing::Test {
protected:
    using row_list = std::vector<std::vector<T>>;

    static T alone(const std::vector<T>& row) { return exact_sum(host{1}, row.data(), row.size()); }

    static void expect_segments(const row_list& segments, const std::string& what) {
        std::vector<T> data, sums(segments.size());
        std::vector<std::uint64_t> offsets{0};
        for (const auto& one : segments) {
            data.insert(data.end(), one.begin(), one.end());
            offsets.push_back(data.size());
        }
        for (const unsigned threads : {1u, 3u}) {
            segmented_exact_sum(host{threads}, data.data(), offsets.data(), segments.size(), sums.data());
            for (std::size_t s = 0; s < segments.size(); ++s) {
                ASSERT_TRUE(tests::same_bits(sums[s], alone(segments[s]))) << what << ", segment " << s;
            }
        }
    }
    // Rows of one length, as rows, as columns, as rows with gaps and as columns of a strided output.
    static void expect_along(const row_list& all, const std::string& what) {
        const std::uint64_t m = all.size(), n = all[0].size();
        std::vector<T> by_rows(m * n), by_columns(m * n), with_gaps(2 * m * n, number<T>(77)), sums(2 * m);
        for (std::uint64_t r = 0; r < m; ++r) {
            for (std::uint64_t k = 0; k < n; ++k) {
                by_rows[r * n + k] = by_columns[k * m + r] = with_gaps[2 * (r * n + k)] = all[r][k];
            }
        }
        const auto expect = [&](const strided_view<const T>& in, int axis, std::int64_t step, const char* how) {
            for (const unsigned threads : {1u, 3u}) {
                exact_sum_along(host{threads}, in, {axis}, strided_view<T>(sums.data(), {m}, {step}));
                for (std::uint64_t r = 0; r < m; ++r) {
                    const T sum = sums[r * static_cast<std::uint64_t>(step)];
                    ASSERT_TRUE(tests::same_bits(sum, alone(all[r]))) << what << ", " << how << " " << r;
                }
            }
        };
        const auto wide = static_cast<std::int64_t>(2 * n);
        expect(strided_view<const T>(by_rows.data(), {m, n}), 1, 1, "row");
        expect(strided_view<const T>(by_columns.data(), {n, m}), 0, 1, "column");
        expect(strided_view<const T>(by_columns.data(), {n, m}), 0, 2, "column with a strided output");
        expect(strided_view<const T>(with_gaps.data(), {m, n}, {wide, 2}), 1, 1, "row with gaps");
    }
};
using Formats = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(ShortExactSums, Formats);

TYPED_TEST(ShortExactSums, Segments) {
    std::mt19937_64 random(1);
    for (unsigned kind = 0; kind < kinds; ++kind) {
        std::vector<std::vector<TypeParam>> segments;
        for (unsigned s = 0; s < 600; ++s) {
            segments.push_back(awkward<TypeParam>(random() % (s % 3 == 0 ? 6 : 40), kind, random));
        }
        for (const std::uint64_t n : {100u, 1023u, 1024u, 1025u, 3000u}) {
            segments.push_back(awkward<TypeParam>(n, kind, random));
        }
        this->expect_segments(segments, "kind " + std::to_string(kind));
    }
}

TYPED_TEST(ShortExactSums, RowsAndColumns) {
    std::mt19937_64 random(2);
    for (unsigned kind = 0; kind < kinds; ++kind) {
        for (const std::uint64_t n : {1u, 2u, 3u, 7u, 8u, 9u, 33u, 100u}) {
            for (const std::uint64_t m : {1u, 7u, 150u}) {
                std::vector<std::vector<TypeParam>> rows(m);
                for (auto& row : rows) {
                    row = awkward<TypeParam>(n, kind, random);
                }
                this->expect_along(rows, "kind " + std::to_string(kind) + ", " + std::to_string(n));
            }
        }
    }
}

// Columns that are copied in several steps, and in several pieces.
TYPED_TEST(ShortExactSums, LongColumns) {
    std::mt19937_64 random(3);
    for (const unsigned kind : {1u, 3u, 6u, 8u}) {
        for (const std::uint64_t n : {1024u, 1025u, 2500u, 40001u}) {
            std::vector<std::vector<TypeParam>> rows(n > 10000 ? 5 : 70);
            for (auto& row : rows) {
                row = awkward<TypeParam>(n, kind, random);
            }
            this->expect_along(rows, "kind " + std::to_string(kind) + ", " + std::to_string(n));
        }
    }
}

template <class T>
class ShortExactSumsOf : public ShortExactSums<T> {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(ShortExactSumsOf, Numbers);

// Against integers. Each case also among numbers that cancel, so that it is long enough for vectors.
TYPED_TEST(ShortExactSumsOf, BordersAndSpecialValues) {
    using T = TypeParam;
    std::vector<T> data, expected;
    std::vector<std::uint64_t> offsets{0};
    for (const auto& one : tests::special_sums<T>()) {
        for (const std::size_t more : {0u, 3u, 9u, 50u}) {
            data.insert(data.end(), one.begin(), one.end());
            for (std::size_t k = 0; k < more; ++k) {
                data.push_back(T(0.7));
                data.push_back(-T(0.7));
            }
            offsets.push_back(data.size());
            expected.push_back(tests::expected_sum(one));
        }
    }
    std::vector<T> sums(expected.size());
    segmented_exact_sum(host{1}, data.data(), offsets.data(), sums.size(), sums.data());
    for (std::size_t s = 0; s < sums.size(); ++s) {
        EXPECT_TRUE(tests::same_bits(sums[s], expected[s])) << s / 4 << ", " << s % 4;
    }
}

// Ordinary numbers need no accumulator. What two doubles cannot hold, or what is not finite, does.
TYPED_TEST(ShortExactSumsOf, WithoutAnAccumulator) {
    using T = TypeParam;
    std::mt19937_64 random(4);
    std::normal_distribution<T> normal;
    T sum;
    for (unsigned n = 0; n < 200; ++n) {
        std::vector<T> row(n);
        std::generate(row.begin(), row.end(), [&] { return normal(random); });
        ASSERT_TRUE(detail::add_few(row.data(), n, sum)) << n;
        ASSERT_TRUE(tests::same_bits(sum, tests::expected_sum(row))) << n;
    }
    const T infinity = std::numeric_limits<T>::infinity(), tiny = std::numeric_limits<T>::denorm_min();
    for (const std::vector<T>& row : {std::vector<T>{infinity},
                                      {-infinity},
                                      {std::numeric_limits<T>::quiet_NaN()},
                                      {std::ldexp(T(1), 100), 1, tiny}}) {
        ASSERT_FALSE(detail::add_few(row.data(), static_cast<unsigned>(row.size()), sum));
    }
}

} // namespace
} // namespace warpfold
