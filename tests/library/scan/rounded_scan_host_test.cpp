// SPDX-License-Identifier: MIT
// Scans of floating-point sums on the host: errors, and no decreases of sums of numbers that are not negative.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "warpfold/along_axis.hpp"
#include "warpfold/scan.hpp"

namespace warpfold {
namespace {

const std::vector<std::uint64_t> sizes = {1,    5,    63,   64,   65,   511,  512,  513,   1023,  2047,
                                          2048, 2049, 4095, 4096, 4097, 8191, 8193, 10000, 50001, 1000000};

template <class T>
std::vector<T> numbers(std::uint64_t n, int kind) {
    std::mt19937_64 random(n + static_cast<unsigned>(kind));
    std::uniform_real_distribution<T> uniform;
    std::vector<T> made(n);
    for (T& x : made) {
        switch (kind) {
        case 0: x = static_cast<T>(0.1); break;
        case 1: x = uniform(random); break;
        case 2: x = uniform(random) < static_cast<T>(0.01) ? uniform(random) : T{0}; break;
        default: x = std::exp(40 * uniform(random) - 20); break;
        }
    }
    return made;
}

// `most`: the largest relative error, in units of half an ulp of 1.
template <class T>
void check_sums(const std::vector<T>& in, const std::vector<T>& sums, bool inclusive, bool backwards, double most,
                const std::string& what) {
    const std::uint64_t n = in.size();
    long double exact = 0;
    double worst = 0;
    std::uint64_t decreases = 0;
    T last = 0;
    for (std::uint64_t k = 0; k < n; ++k) {
        const std::uint64_t place = backwards ? n - 1 - k : k;
        const long double with = exact + static_cast<long double>(in[place]);
        exact = inclusive ? with : exact;
        const long double error = std::abs(static_cast<long double>(sums[place]) - exact);
        worst = std::max(worst, static_cast<double>(exact > 0 ? error / exact : error));
        decreases += sums[place] < last ? 1 : 0;
        last = sums[place];
        exact = with;
    }
    EXPECT_EQ(decreases, 0u) << what << " of " << n;
    EXPECT_LE(worst * 2 / static_cast<double>(std::numeric_limits<T>::epsilon()), most) << what << " of " << n;
}

template <class T>
class rounded_scan : public testing::Test {};
using types = testing::Types<float, double>;
TYPED_TEST_SUITE(rounded_scan, types);

TYPED_TEST(rounded_scan, never_decreases) {
    for (const std::uint64_t n : sizes) {
        for (int kind = 0; kind < 4; ++kind) {
            const auto in = numbers<TypeParam>(n, kind);
            std::vector<TypeParam> out(n), of_one_thread(n);
            for (const unsigned threads : {1u, 3u}) {
                const host on{threads};
                inclusive_scan(on, in.data(), n, out.data());
                check_sums(in, out, true, false, 60, "inclusive");
                if (threads == 1) {
                    of_one_thread = out;
                }
                EXPECT_EQ(std::memcmp(out.data(), of_one_thread.data(), n * sizeof(TypeParam)), 0) << n;
                exclusive_scan(on, in.data(), n, out.data());
                check_sums(in, out, false, false, 60, "exclusive");
                inclusive_scan(on, in.data(), n, out.data(), sum{}, reversed);
                check_sums(in, out, true, true, 60, "reversed");
                transform_inclusive_scan(on, in.data(), n, out.data(), [](TypeParam x) { return x; });
                check_sums(in, out, true, false, 60, "mapped");
                out = in;
                inclusive_scan(on, out.data(), n, out.data());
                EXPECT_EQ(std::memcmp(out.data(), of_one_thread.data(), n * sizeof(TypeParam)), 0) << n << " in place";
            }
        }
    }
}

TYPED_TEST(rounded_scan, never_decreases_in_a_segment) {
    constexpr std::uint64_t n = 100000;
    for (int kind = 0; kind < 4; ++kind) {
        const auto in = numbers<TypeParam>(n, kind);
        std::vector<TypeParam> out(n);
        std::vector<char> flags(n);
        flags[30000] = 1;
        inclusive_scan(host{2}, in.data(), n, out.data(), sum{}, heads(flags));
        EXPECT_EQ(out[30000], in[30000]);
        for (std::uint64_t k = 1; k < n; ++k) {
            ASSERT_TRUE(k == 30000 || out[k] >= out[k - 1]) << k;
        }
    }
}

TYPED_TEST(rounded_scan, never_decreases_along_an_axis) {
    for (int kind = 0; kind < 4; ++kind) {
        for (const bool rows : {true, false}) {
            constexpr std::uint64_t length = 200000, others = 2;
            const auto in = numbers<TypeParam>(length * others, kind);
            std::vector<TypeParam> out(in.size());
            const std::uint64_t step = rows ? 1 : others, apart = rows ? length : 1;
            const auto first = rows ? others : length, second = rows ? length : others;
            inclusive_scan_along(host{2}, strided_view<const TypeParam>(in.data(), {first, second}), rows ? -1 : 0,
                                 strided_view<TypeParam>(out.data(), {first, second}));
            for (std::uint64_t r = 0; r < others; ++r) {
                for (std::uint64_t k = 1; k < length; ++k) {
                    ASSERT_GE(out[r * apart + k * step], out[r * apart + (k - 1) * step])
                        << rows << " " << r << " " << k;
                }
            }
        }
    }
}

TEST(rounded_scan_signs, minus_zero_stays) {
    const std::vector<float> in(3000, -0.0f);
    std::vector<float> out(in.size());
    inclusive_scan(host{}, in.data(), in.size(), out.data());
    for (const float x : out) {
        ASSERT_TRUE(std::signbit(x));
    }
}

} // namespace
} // namespace warpfold
