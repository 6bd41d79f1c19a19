// SPDX-License-Identifier: MIT
// Scans on the host's cores.
#include "warpfold/scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/scan/scan_cases.hpp"

namespace warpfold {

namespace {

using tests::scanned;

constexpr std::uint64_t lengths[] = {1,    2,     63,    64,    65,    511,   512,   513,   1000,   8191,  8192,
                                     8193, 16383, 16384, 16385, 32767, 32768, 32769, 33300, 131072, 200003};

template <class T>
class ScanOnHost : public testing::Test {};
using Numbers = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::int32_t, std::uint32_t, std::int64_t,
                               std::uint64_t, float, double>;
TYPED_TEST_SUITE(ScanOnHost, Numbers);

TYPED_TEST(ScanOnHost, SumsOfEveryLength) {
    using T = TypeParam;
    for (const std::uint64_t n : lengths) {
        const auto x = tests::small_numbers<T>(n, static_cast<unsigned>(n));
        std::vector<T> a(n), b(n), c(n);
        inclusive_scan(host{1}, x, a);
        EXPECT_EQ(a, (scanned<T, T>(x, sum{}, true))) << n;
        exclusive_scan(host{3}, x.data(), n, b.data());
        EXPECT_EQ(b, (scanned<T, T>(x, sum{}, false, T{0}))) << n;
        inclusive_scan(host{2}, x, c, sum{}, reversed, T{5});
        EXPECT_EQ(c, (scanned<T, T>(x, sum{}, true, T{5}, true))) << n;
    }
}

TYPED_TEST(ScanOnHost, InPlace) {
    using T = TypeParam;
    for (const std::uint64_t n : {std::uint64_t{700}, std::uint64_t{100003}}) {
        const auto x = tests::any_numbers<T>(n, 3);
        auto a = x, b = x;
        inclusive_scan(host{2}, a, a, minimum{}, reversed);
        EXPECT_TRUE(tests::same_bits(a, scanned<T, T>(x, minimum{}, true, {}, true)));
        exclusive_scan(host{2}, b, b, maximum{});
        EXPECT_TRUE(tests::same_bits(b, scanned<T, T>(x, maximum{}, false, maximum::identity<T>())));
    }
}

// In vectors where the machine has them: few different values, zeros of both signs, infinities, and at last a NaN.
TYPED_TEST(ScanOnHost, Extremes) {
    using T = TypeParam;
    const auto alike = [](T a, T b) { return tests::same_bits(a, b) || (a != a && b != b); };
    for (const std::uint64_t n : lengths) {
        auto x = tests::any_numbers<T>(n, 4);
        if constexpr (std::is_floating_point_v<T>) {
            const T values[]{
                T(0), -T(0), 1, -1, std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity()};
            for (std::uint64_t k = 0; k < n; ++k) {
                const std::uint64_t among = k < n / 2 ? 2 : std::size(values);
                x[k] = values[static_cast<std::uint64_t>(std::abs(std::fmod(x[k], T(1000)))) % among];
            }
            x[n * 3 / 4] = n < 3 ? x[0] : std::numeric_limits<T>::quiet_NaN();
        }
        std::vector<T> low(n), high(n);
        inclusive_scan(host{2}, x, low, minimum{});
        exclusive_scan(host{2}, x, high, maximum{}, T(1));
        EXPECT_TRUE(std::ranges::equal(low, scanned<T, T>(x, minimum{}, true), alike)) << n;
        EXPECT_TRUE(std::ranges::equal(high, scanned<T, T>(x, maximum{}, false, T(1)), alike)) << n;
    }
}

TEST(ScanHost, TheOutputsTypeIsTheSums) {
    const std::vector<std::int32_t> x(100, std::numeric_limits<std::int32_t>::max());
    std::vector<std::int32_t> narrow(100);
    std::vector<std::int64_t> wide(100);
    inclusive_scan(host{}, x, narrow);
    inclusive_scan(host{}, x, wide);
    EXPECT_EQ(narrow[1], -2);
    EXPECT_EQ(wide[99], 100 * std::int64_t{std::numeric_limits<std::int32_t>::max()});
    const std::vector<std::uint8_t> flags(70000, 1);
    std::vector<std::uint32_t> places(70000);
    exclusive_scan(host{}, flags, places);
    EXPECT_EQ(places[69999], 69999u);
}

TEST(ScanHost, OrderIsKept) {
    for (const std::uint64_t n : {1u, 2u, 1000u, 65537u, 100001u}) {
        std::vector<tests::affine> maps(n), out(n);
        for (std::uint64_t k = 0; k < n; ++k) {
            maps[k] = {static_cast<std::uint32_t>(2 * k + 1), static_cast<std::uint32_t>(k * k)};
        }
        inclusive_scan(host{2}, maps, out, tests::then{});
        EXPECT_EQ(out, (scanned<tests::affine, tests::affine>(maps, tests::then{}, true))) << n;
        exclusive_scan(host{2}, maps, out, tests::then{}, tests::affine{3, 4});
        EXPECT_EQ(out, (scanned<tests::affine, tests::affine>(maps, tests::then{}, false, tests::affine{3, 4}))) << n;
    }
}

TEST(ScanHost, Segments) {
    for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{32769}, std::uint64_t{150001}}) {
        for (const std::uint64_t mean :
             {std::uint64_t{1}, std::uint64_t{50}, std::uint64_t{40000}, std::uint64_t{1} << 40}) {
            const auto x = tests::any_numbers<std::int32_t>(n, static_cast<unsigned>(n + mean));
            const tests::segments cut(n, mean, static_cast<unsigned>(mean));
            std::vector<std::int32_t> out(n);
            const heads by_flags(cut.heads.data());
            const offsets by_offsets(cut.begins.data(), cut.begins.size());
            inclusive_scan(host{2}, x, out, sum{}, by_flags);
            EXPECT_EQ(out, (scanned<int, int>(x, sum{}, true, {}, false, cut.heads)));
            exclusive_scan(host{2}, x, out, sum{}, by_offsets, 9);
            EXPECT_EQ(out, (scanned<int, int>(x, sum{}, false, 9, false, cut.heads)));
            inclusive_scan(host{2}, x, out, sum{}, 3, by_offsets, reversed);
            EXPECT_EQ(out, (scanned<int, int>(x, sum{}, true, 3, true, cut.heads)));
            exclusive_scan(host{2}, x, out, sum{}, reversed, by_flags);
            EXPECT_EQ(out, (scanned<int, int>(x, sum{}, false, 0, true, cut.heads)));
        }
    }
}

TEST(ScanHost, SegmentsOfOneLength) {
    for (const std::uint64_t n : {1u, 100u, 150001u}) {
        for (const std::uint64_t length :
             {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{40000}, ~std::uint64_t{0}}) {
            const auto x = tests::any_numbers<std::int32_t>(n, static_cast<unsigned>(n));
            const auto cut = tests::heads_of_length(n, length);
            std::vector<std::int32_t> out(n);
            inclusive_scan(host{2}, x, out, sum{}, equal_segments{length});
            EXPECT_EQ(out, (scanned<int, int>(x, sum{}, true, {}, false, cut)));
            exclusive_scan(host{2}, x, out, sum{}, reversed, equal_segments{length}, 9);
            EXPECT_EQ(out, (scanned<int, int>(x, sum{}, false, 9, true, cut)));
            const std::uint64_t number = n / 2;
            std::vector<std::int32_t> half(out);
            inclusive_scan(host{2}, x.data(), count_at(&number, n), half.data(), sum{}, equal_segments{length});
            const auto right = scanned<int, int>(x, sum{}, true, {}, false, cut);
            std::copy_n(right.begin(), number, out.begin());
            EXPECT_EQ(half, out);
        }
    }
    std::vector<int> out(3);
    EXPECT_THROW(inclusive_scan(host{}, out, out, sum{}, equal_segments{0}), invalid_argument);
}

TEST(ScanHost, TheSameBitsForAnyNumberOfThreads) {
    std::vector<float> x(777777);
    for (std::size_t k = 0; k < x.size(); ++k) {
        x[k] = std::sin(static_cast<float>(k));
    }
    std::vector<float> one(x.size()), more(x.size());
    inclusive_scan(host{1}, x, one);
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
        sum += x[k];
        ASSERT_NEAR(one[k], sum, 0.05) << k;
    }
    for (const unsigned threads : {2u, 3u, 7u, 16u}) {
        inclusive_scan(host{threads}, x, more);
        EXPECT_TRUE(tests::same_bits(one, more)) << threads;
    }
}

#if defined(WARPFOLD_HOST_VECTORS) && defined(WARPFOLD_AVX2)
// A machine's scans take its widest vectors: the narrower ones are called here.
TYPED_TEST(ScanOnHost, TwoAndFourRunsSideBySideHaveTheSameBits) {
    using lane = typename detail::lane_of<TypeParam>::type;
    constexpr bool rounds = std::is_floating_point_v<lane>;
    constexpr std::size_t runs = detail::scan_runs<lane>, length = detail::scan_run;
    if (!detail::has_avx512()) {
        GTEST_SKIP() << "this machine has no AVX-512";
    }
    std::vector<lane> x(runs * length), prefixes(runs), two(x.size()), four(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
        x[k] = static_cast<lane>(100 * std::sin(static_cast<double>(k) + 1));
        prefixes[k / length] = static_cast<lane>(k + 7);
    }
    const auto before = static_cast<lane>(rounds ? 1000 : 0);
    const auto* const next = reinterpret_cast<const char*>(x.data());
    const auto none = detail::nothing_to_add<lane>;
    const auto scan = [&](auto inclusive) {
        detail::scan_two_runs<detail::added, inclusive, runs, length>(x.data(), prefixes.data(), before, two.data(),
                                                                      next, none);
        detail::scan_four_runs<detail::added, inclusive, runs, length>(x.data(), prefixes.data(), before, four.data(),
                                                                       next, none);
        EXPECT_TRUE(tests::same_bits(two, four));
        for (std::size_t r = 0; r < runs; ++r) {
            const lane first = inclusive ? static_cast<lane>(prefixes[r] + x[r * length]) : prefixes[r];
            EXPECT_EQ(two[r * length], static_cast<lane>(before + first));
        }
    };
    scan(std::true_type{});
    scan(std::false_type{});
    if constexpr (rounds) { // a run's sum is its last local sum
        std::vector<lane> sums_of_two(runs), sums_of_four(runs);
        const std::vector<lane> zeros(runs);
        detail::sum_two_parts<runs, length>(x.data(), sums_of_two.data(), none);
        detail::sum_four_parts<runs, length>(x.data(), sums_of_four.data(), none);
        EXPECT_TRUE(tests::same_bits(sums_of_two, sums_of_four));
        detail::scan_two_runs<detail::added, true, runs, length>(x.data(), zeros.data(), lane{}, two.data(), next,
                                                                 none);
        for (std::size_t r = 0; r < runs; ++r) {
            EXPECT_EQ(sums_of_two[r], two[r * length + length - 1]) << r;
        }
    }
}
#endif

// What documentation says of the order: a block of 16 bytes is scanned by pairs and halves, then what stands before it in
// the run is added, before that in the part, and before the part. In all vectors, wide or not, and without.
template <class T>
std::vector<T> sums_as_documented(const std::vector<T>& x, bool inclusive, T initial) {
    constexpr std::uint64_t width = 16 / sizeof(T), run = detail::scan_run, part = detail::sums_part<T>;
    constexpr std::uint64_t block = run * detail::scan_runs<T>;
    std::vector<T> out(x.size());
    T ahead = initial; // of the part
    for (std::uint64_t begin = 0; begin < x.size(); begin += part) {
        const std::uint64_t end = std::min<std::uint64_t>(x.size(), begin + part);
        const std::uint64_t whole = begin + (end - begin) / block * block;
        T of_run = T(-0.0);
        for (std::uint64_t r = begin; r < end; r += run) {
            const std::uint64_t step = r < whole ? width : 1;
            T before = T(-0.0);
            for (std::uint64_t v = r; v < std::min(r + run, end); v += step) {
                std::vector<T> in_block(x.begin() + static_cast<std::ptrdiff_t>(v),
                                        x.begin() + static_cast<std::ptrdiff_t>(v + step));
                for (std::uint64_t by = 1; by < step; by *= 2) {
                    for (std::uint64_t k = 0; k < step; ++k) {
                        in_block[k] += k / by % 2 != 0 ? in_block[k / by * by - 1] : T(-0.0);
                    }
                }
                for (std::uint64_t k = 0; k < step; ++k) {
                    const T local = inclusive ? before + in_block[k] : (k == 0 ? before : before + in_block[k - 1]);
                    out[v + k] = ahead + (of_run + local);
                }
                before += in_block.back();
            }
            of_run += before;
        }
        ahead += of_run;
    }
    return out;
}
template <class T>
void scans_in_documented_order() {
    std::mt19937 random(1);
    std::uniform_real_distribution<T> any(-1, 1);
    for (const std::uint64_t n : {std::uint64_t{511}, std::uint64_t{512}, detail::sums_part<T> - 1,
                                  detail::sums_part<T>, 3 * detail::sums_part<T> + 777, std::uint64_t{2000003}}) {
        std::vector<T> x(n), got(n + 1);
        std::generate(x.begin(), x.end(), [&] { return any(random); });
        x[n - n / 7] = std::numeric_limits<T>::infinity();
        for (const unsigned shift : {0u, 1u}) { // of where the results go
            const auto results = [&] {
                return std::vector<T>(got.begin() + shift, got.begin() + shift + static_cast<std::ptrdiff_t>(n));
            };
            inclusive_scan(host{2}, x.data(), n, got.data() + shift, sum{}, T(0.25));
            EXPECT_TRUE(tests::same_bits(results(), sums_as_documented<T>(x, true, T(0.25)))) << n;
            exclusive_scan(host{2}, x.data(), n, got.data() + shift, sum{}, T(0.25));
            EXPECT_TRUE(tests::same_bits(results(), sums_as_documented<T>(x, false, T(0.25)))) << n;
        }
    }
}
TEST(ScanHost, FloatsInTheDocumentedOrder) { scans_in_documented_order<float>(); }
TEST(ScanHost, DoublesInTheDocumentedOrder) { scans_in_documented_order<double>(); }

TEST(ScanHost, SumsOfNegativeZerosAreNegative) {
    const std::vector<float> x(70000, -0.0f);
    std::vector<float> got(x.size());
    inclusive_scan(host{2}, x, got);
    EXPECT_TRUE(tests::same_bits(got, x));
    exclusive_scan(host{2}, x, got, sum{}, -0.0f);
    EXPECT_TRUE(tests::same_bits(got, x));
}

TEST(ScanHost, NonTemporalCopiesOfAnyLengthAndAlignment) {
    std::vector<unsigned char> from(400), to(600);
    for (std::size_t k = 0; k < from.size(); ++k) {
        from[k] = static_cast<unsigned char>(k * 7 + 1);
    }
    for (std::size_t shift = 0; shift < 64; ++shift) {
        for (std::size_t bytes = 0; bytes < 200; ++bytes) {
            std::fill(to.begin(), to.end(), 0);
            detail::copy_non_temporal(to.data() + 64 + shift, from.data() + shift / 3, bytes);
            detail::non_temporal_fence();
            std::vector<unsigned char> expected(to.size());
            std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(shift / 3), bytes,
                        expected.begin() + static_cast<std::ptrdiff_t>(64 + shift));
            ASSERT_EQ(to, expected) << shift << ' ' << bytes;
        }
    }
}

// More than stays in a cache, from and to addresses that are not aligned.
TEST(ScanHost, Long) {
    const std::uint64_t n = 3000001;
    const auto x = tests::any_numbers<std::uint32_t>(n + 1, 2);
    std::vector<std::uint32_t> out(n + 3, 77);
    inclusive_scan(host{2}, x.data() + 1, n, out.data() + 1);
    std::uint32_t total = 0;
    for (std::uint64_t k = 0; k < n; ++k) {
        total += x[k + 1];
        ASSERT_EQ(out[k + 1], total) << k;
    }
    EXPECT_EQ(out[0], 77u);
    EXPECT_EQ(out[n + 1], 77u);
}

struct odd_numbers {
    std::uint32_t operator[](std::uint64_t k) const { return static_cast<std::uint32_t>(2 * k + 1); }
};

TEST(ScanHost, ObjectsAndMaps) {
    const std::uint64_t n = 40001;
    std::vector<std::uint32_t> squares(n);
    inclusive_scan(host{2}, odd_numbers{}, n, squares.data());
    for (std::uint64_t k = 0; k < n; ++k) {
        ASSERT_EQ(squares[k], static_cast<std::uint32_t>((k + 1) * (k + 1)));
    }
    std::vector<std::uint64_t> out(n), mapped(n);
    transform_exclusive_scan(host{2}, squares, out, tests::times_index{});
    for (std::uint64_t k = 0; k < n; ++k) {
        mapped[k] = tests::times_index{}(squares[k], k);
    }
    EXPECT_EQ(out, (scanned<std::uint64_t, std::uint64_t>(mapped, sum{}, false, 0)));
}

TEST(ScanHost, FloatingPointExtremes) {
    const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> x{-0.0f, -0.0f, 1, infinity, 2, -infinity, 3};
    std::vector<float> out(x.size());
    inclusive_scan(host{}, x, out);
    EXPECT_TRUE(std::signbit(out[0]) && std::signbit(out[1]));
    EXPECT_EQ(out[4], infinity);
    EXPECT_TRUE(std::isnan(out[5]) && std::isnan(out[6]));
    exclusive_scan(host{}, x, out);
    EXPECT_FALSE(std::signbit(out[0]));
    const std::vector<float> y{3, nan, 1};
    std::vector<float> most(3);
    inclusive_scan(host{}, y, most, maximum{});
    EXPECT_EQ(most[0], 3);
    EXPECT_TRUE(std::isnan(most[1]) && std::isnan(most[2]));
}

TEST(ScanHost, BadArguments) {
    std::vector<int> x(100, 1), out(99);
    EXPECT_THROW(inclusive_scan(host{}, x, out), invalid_argument);
    EXPECT_THROW(inclusive_scan(host{}, x.data(), 50, x.data() + 20), invalid_argument);
    EXPECT_THROW(inclusive_scan(host{}, x.data() + 20, 50, x.data()), invalid_argument);
    EXPECT_NO_THROW(inclusive_scan(host{}, x.data(), 50, x.data() + 50));
    EXPECT_NO_THROW(exclusive_scan(host{}, x.data(), 0, x.data() + 1));
    EXPECT_EQ(x[99], 50);
}

TEST(ScanHost, WhatAnOperationThrowsArrives) {
    const std::vector<int> data(1 << 20, 1);
    std::vector<int> out(data.size());
    const auto throws = [](int a, int b) {
        if (a + b > 500000) {
            throw std::domain_error("too much");
        }
        return a + b;
    };
    EXPECT_THROW(inclusive_scan(host{4}, data, out, throws), std::domain_error);
}

} // namespace
} // namespace warpfold
