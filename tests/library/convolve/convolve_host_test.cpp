// SPDX-License-Identifier: MIT
// Convolution on the host's cores, against the definition.
#include "warpfold/convolve.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/convolve/convolve_cases.hpp"

namespace warpfold {

namespace {

using namespace tests;

template <class T, class O, bool Separable = false>
void expect_right(const layout& in_at, std::uint64_t kx, std::uint64_t ky, const convolve_options& how, bool whole,
                  bool turned, std::uint64_t more = 0) {
    SCOPED_TRACE(testing::Message() << in_at.width << " x " << in_at.height << ", mask " << kx << " x " << ky
                                    << ", border " << static_cast<int>(how.outside) << ", outputs "
                                    << static_cast<int>(how.which) << (Separable ? ", separable" : "")
                                    << (turned ? ", turned" : ""));
    const auto in = samples<T>(in_at.elements(), whole, static_cast<unsigned>(kx));
    const auto across = samples<float>(kx, whole, 1), down = samples<float>(ky, whole, 2);
    std::vector<double> mask;
    if constexpr (Separable) {
        for (const float y : down) {
            for (const float x : across) {
                mask.push_back(static_cast<double>(x) * static_cast<double>(y));
            }
        }
    } else {
        for (const float x : samples<float>(kx * ky, whole, 3)) {
            mask.push_back(static_cast<double>(x));
        }
    }
    const std::uint64_t width = convolve_outputs(in_at.width, kx, how.which);
    const std::uint64_t height = convolve_outputs(in_at.height, ky, how.which);
    const layout out_at = padded(width, height, more, in_at.count, more);
    const O canary = rounded_value<O>(77);
    std::vector<O> out(out_at.elements(), canary);
    const image<const T> from = in_at.of(in.data());
    const image<O> to = out_at.of(out.data());
    const host on{static_cast<unsigned>(1 + kx % 3)};
    if constexpr (Separable) {
        turned ? convolve_separable(on, from, across.data(), kx, down.data(), ky, to, how)
               : correlate_separable(on, from, across.data(), kx, down.data(), ky, to, how);
    } else {
        turned ? convolve(on, from, image{mask.data(), kx, ky}, to, how)
               : correlate(on, from, image{mask.data(), kx, ky}, to, how);
    }
    std::vector<bool> written(out.size());
    for (std::uint64_t k = 0; k < in_at.count; ++k) {
        for (std::uint64_t y = 0; y < height; ++y) {
            for (std::uint64_t x = 0; x < width; ++x) {
                const exact_sum_of exact =
                    expected(in, in_at, k, mask, static_cast<std::int64_t>(kx), static_cast<std::int64_t>(ky),
                             static_cast<std::int64_t>(x), static_cast<std::int64_t>(y), how, turned);
                const O got = out[out_at.at(k, y, x)];
                written[out_at.at(k, y, x)] = true;
                if (whole && !std::is_integral_v<O>) {
                    ASSERT_EQ(exact_value(got), exact.value) << k << ", " << x << ", " << y;
                } else {
                    ASSERT_TRUE((within_bound<T, O>(got, exact, static_cast<std::int64_t>(kx * ky))))
                        << k << ", " << x << ", " << y << ": " << exact_value(got) << " for " << exact.value;
                }
            }
        }
    }
    for (std::uint64_t at = 0; at < out.size(); ++at) {
        ASSERT_TRUE(written[at] || exact_value(out[at]) == exact_value(canary)) << at;
    }
}

template <class T, class O>
void lines(bool whole) {
    unsigned turn = 0;
    for (const std::uint64_t n : {1u, 2u, 7u, 64u, 65u, 1000u}) {
        for (const std::uint64_t k : {1u, 2u, 3u, 8u, 33u, 200u}) {
            for (const border outside : all_borders) {
                for (const outputs which : all_outputs) {
                    expect_right<T, O>(dense(n, 1), k, 1, {outside, which}, whole, turn % 2 == 0, turn % 3);
                    ++turn;
                }
            }
        }
    }
}

template <class T, class O>
void images(bool whole) {
    unsigned turn = 0;
    for (const std::uint64_t k : {1u, 2u, 3u, 5u, 12u}) {
        for (const border outside : all_borders) {
            for (const outputs which : all_outputs) {
                const layout in = padded(turn % 50 + 1, turn % 13 + 1, turn % 3, 1 + turn % 2, turn % 4);
                const convolve_options how{outside, which};
                expect_right<T, O>(in, k, 1 + turn % 7, how, whole, turn % 3 == 0, turn % 2);
                expect_right<T, O, true>(in, 1 + turn % 7, k, how, whole, turn % 3 == 1, turn % 2);
                ++turn;
            }
        }
    }
}

} // namespace

TEST(ConvolveHost, Lines) {
    lines<float, float>(true);
    lines<float, float>(false);
    lines<double, double>(false);
}

TEST(ConvolveHost, LinesOfOtherTypes) {
    lines<half, half>(false);
    lines<bfloat16, float>(false);
    lines<std::uint8_t, std::uint8_t>(false);
    lines<std::int16_t, std::int8_t>(false);
}

TEST(ConvolveHost, Images) {
    images<float, float>(true);
    images<float, float>(false);
    images<float, double>(false);
    images<std::uint8_t, std::uint8_t>(false);
}

TEST(ConvolveHost, BlocksMeet) {
    expect_right<float, float>(dense(70001, 1), 9, 1, {border::mirror, outputs::same}, true, true);
    expect_right<float, float>(dense(1100, 131), 3, 5, {border::wrap, outputs::same}, true, false);
    expect_right<float, float, true>(dense(513, 515), 7, 3, {border::clamp, outputs::full}, true, false);
}

// The sets of vectors that the machine has, whichever of them calls choose.
template <class T, class Block, class Separable>
void set_is_right(std::int64_t kx, std::int64_t ky, const Block& block, const Separable& separable) {
    const layout at = dense(150, 23);
    const auto in = samples<T>(at.elements(), false, 4);
    const auto across = samples<T>(static_cast<std::uint64_t>(kx), false, 5),
               down = samples<T>(static_cast<std::uint64_t>(ky), false, 6);
    std::vector<T> mask;
    std::vector<double> product;
    for (const T y : down) {
        for (const T x : across) {
            mask.push_back(x * y);
            product.push_back(static_cast<double>(x) * static_cast<double>(y));
        }
    }
    const auto right = [&](const std::vector<T>& out, const auto& values) {
        for (std::int64_t k = 0; k < 150 * 23; ++k) {
            const exact_sum_of exact =
                expected(in, at, 0, values, kx, ky, k % 150, k / 150, {border::mirror, outputs::same}, false);
            ASSERT_TRUE((within_bound<T, T>(out[static_cast<std::size_t>(k)], exact, kx * ky))) << k;
        }
    };
    for (const bool non_temporal : {false, true}) {
        std::vector<T> out(150 * 23);
        const detail::convolve_task<T, T> task{in.data(), out.data(), 150, 23, 150,    0,      150,
                                               23,        150,        0,   1,  kx / 2, ky / 2, border::mirror};
        detail::over_blocks(host{1}, task, 10, 70,
                            [&](const detail::host_block& b) { block(task, b, mask.data(), non_temporal); });
        right(out, mask);
        detail::over_blocks(host{1}, task, 10, 70, [&](const detail::host_block& b) {
            separable(task, b, across.data(), down.data(), non_temporal);
        });
        right(out, product);
    }
}

#define SET_IS_RIGHT(T, lanes, kx, ky)                                                                                 \
    set_is_right<T>(                                                                                                   \
        kx, ky,                                                                                                        \
        [](const auto& task, const auto& b, const T* m, bool s) {                                                      \
            detail::lanes::convolve_block(task, b, m, kx, ky, s);                                                      \
        },                                                                                                             \
        [](const auto& task, const auto& b, const T* x, const T* y, bool s) {                                          \
            detail::lanes::convolve_block_separable(task, b, x, kx, y, ky, s);                                         \
        })
#define SETS_ARE_RIGHT(lanes)                                                                                          \
    SET_IS_RIGHT(float, lanes, 5, 1);                                                                                  \
    SET_IS_RIGHT(float, lanes, 3, 6);                                                                                  \
    SET_IS_RIGHT(float, lanes, 3, 3);                                                                                  \
    SET_IS_RIGHT(float, lanes, 5, 5);                                                                                  \
    SET_IS_RIGHT(double, lanes, 4, 2)

TEST(ConvolveHost, EverySetOfVectorsIsRight) {
    SETS_ARE_RIGHT(plain_lanes);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        SETS_ARE_RIGHT(avx2_lanes);
    }
    if (__builtin_cpu_supports("avx512f")) {
        SETS_ARE_RIGHT(avx512_lanes);
    }
#endif
}

// More results than a cache holds go around it, from any address on.
TEST(ConvolveHost, ImagesAroundTheCache) {
    constexpr std::uint64_t width = 2111, height = 2003;
    const auto in = samples<float>(width * height, true, 5); // whole numbers: sums are exact
    const auto across = samples<float>(5, true, 7), down = samples<float>(5, true, 8);
    std::vector<float> product;
    for (const float y : down) {
        for (const float x : across) {
            product.push_back(x * y);
        }
    }
    std::vector<float> out(width * height + 3), again(width * height);
    correlate(host{2}, image{in.data(), width, height}, image{product.data(), 5, 5},
              image{out.data() + 3, width, height});
    correlate_separable(host{2}, image{in.data(), width, height}, across.data(), 5, down.data(), 5,
                        image{again.data(), width, height});
    EXPECT_EQ(std::memcmp(out.data() + 3, again.data(), width * height * sizeof(float)), 0);
    const layout at = dense(width, height);
    const std::vector<double> mask(product.begin(), product.end());
    for (std::uint64_t k = 0; k < width * height; k += 997) {
        const exact_sum_of exact = expected(in, at, 0, mask, 5, 5, static_cast<std::int64_t>(k % width),
                                            static_cast<std::int64_t>(k / width), {}, false);
        ASSERT_EQ(static_cast<double>(again[k]), exact.value) << k;
    }
}

TEST(ConvolveHost, TheLecturesSums) {
    // P[i] = sum of N[i - w/2 + j] * M[j], ghost elements 0.
    const std::vector<float> n{1, 2, 3, 4, 5, 6, 7}, m{3, 4, 5, 4, 3};
    std::vector<float> p(7);
    correlate(host{}, n, m, p.data());
    EXPECT_EQ(p, (std::vector<float>{22, 38, 57, 76, 95, 90, 74}));
    const std::vector<float> uneven{1, 10, 100};
    correlate(host{}, n, uneven, p.data());
    EXPECT_EQ(p, (std::vector<float>{210, 321, 432, 543, 654, 765, 76}));
    convolve(host{}, n, uneven, p.data());
    EXPECT_EQ(p, (std::vector<float>{12, 123, 234, 345, 456, 567, 670}));
    std::vector<float> all(9);
    convolve(host{}, n, uneven, all.data(), {border::zero, outputs::full});
    EXPECT_EQ(all, (std::vector<float>{1, 12, 123, 234, 345, 456, 567, 670, 700}));
}

TEST(ConvolveHost, TheSameBitsForAnyNumberOfThreads) {
    const auto in = samples<float>(300 * 700, false, 5);
    const auto mask = samples<float>(11 * 9, false, 6);
    std::vector<float> first(in.size()), other(in.size());
    correlate(host{1}, image{in.data(), 700, 300}, image{mask.data(), 11, 9}, image{first.data(), 700, 300});
    for (const unsigned threads : {2u, 3u, 7u}) {
        correlate(host{threads}, image{in.data(), 700, 300}, image{mask.data(), 11, 9}, image{other.data(), 700, 300});
        EXPECT_EQ(std::memcmp(first.data(), other.data(), first.size() * sizeof(float)), 0) << threads;
    }
}

TEST(ConvolveHost, IntegersAreRoundedAndKeptInTheirRange) {
    const std::vector<std::uint8_t> in{0, 1, 2, 3, 100, 255};
    const std::vector<float> mask{0.5f};
    std::vector<std::uint8_t> out(6);
    correlate(host{}, in, mask, out.data());
    EXPECT_EQ(out, (std::vector<std::uint8_t>{0, 0, 1, 2, 50, 128}));
    const std::vector<float> large{3.0f}, below{-1.0f}, none{std::nanf("")};
    correlate(host{}, in, large, out.data());
    EXPECT_EQ(out, (std::vector<std::uint8_t>{0, 3, 6, 9, 255, 255}));
    correlate(host{}, in, below, out.data());
    EXPECT_EQ(out, (std::vector<std::uint8_t>(6, 0)));
    correlate(host{}, in, none, out.data());
    EXPECT_EQ(out, (std::vector<std::uint8_t>(6, 0)));
    std::vector<std::int16_t> wide(6);
    correlate(host{}, in, std::vector<double>{-1000.25}, wide.data());
    EXPECT_EQ(wide, (std::vector<std::int16_t>{0, -1000, -2000, -3001, -32768, -32768}));
}

TEST(ConvolveHost, AnInfinityReachesTheSumsThatItTakesPartIn) {
    const float infinity = std::numeric_limits<float>::infinity();
    std::vector<float> in(300, 1.0f), out(300);
    in[150] = infinity;
    for (const std::uint64_t k : {1u, 4u, 5u, 33u}) {
        correlate(host{}, in, std::vector<float>(k, 1.0f), out.data());
        for (std::uint64_t i = 0; i < 300; ++i) {
            const bool meets = i + k > 150 + k / 2 && i <= 150 + k / 2;
            EXPECT_EQ(out[i] == infinity, meets) << k << ", " << i;
            EXPECT_FALSE(std::isnan(out[i]));
        }
    }
}

TEST(ConvolveHost, WrongSizesAreSaid) {
    std::vector<float> in(100), out(100), mask(9);
    const auto said = [](const auto& call) -> std::string {
        try {
            call();
        } catch (const invalid_argument& e) {
            return e.what();
        }
        return "";
    };
    const image<const float> ten{in.data(), 10, 10};
    EXPECT_EQ(said([&] {
                  correlate(host{}, ten, image{mask.data(), 0, 3}, image{out.data(), 10, 10});
              }),
              "warpfold: correlate: the mask is empty");
    EXPECT_EQ(said([&] { convolve(host{}, in.data(), 10, mask.data(), 0, out.data()); }),
              "warpfold: convolve: the mask is empty");
    EXPECT_EQ(said([&] {
                  convolve(host{}, ten, image{mask.data(), 3, 3}, image{out.data(), 9, 10});
              }),
              "warpfold: convolve: the results are 9 x 10, and must be 10 x 10");
    EXPECT_EQ(said([&] {
                  convolve(host{}, ten, image{mask.data(), 3, 3}, image{in.data() + 50, 10, 10});
              }),
              "warpfold: convolve: the results overlap the samples");
    EXPECT_EQ(said([&] {
                  convolve(host{}, image{in.data(), 10, 10, 9}, image{mask.data(), 3, 3}, image{out.data(), 10, 10});
              }),
              "warpfold: convolve: samples: the pitch is less than the width");
    EXPECT_EQ(
        said([&] {
            convolve(host{}, image<const float>{nullptr, 10, 10}, image{mask.data(), 3, 3}, image{out.data(), 10, 10});
        }),
        "warpfold: convolve: there are no samples at a null pointer");
    // Two halves of the rows of one array do not overlap; nothing is written where there is nothing.
    EXPECT_EQ(said([&] {
                  convolve(host{}, image<const float>{in.data(), 5, 10, 10}, image{mask.data(), 3, 3},
                           image{in.data() + 5, 5, 10, 10});
              }),
              "");
    EXPECT_EQ(said([&] {
                  convolve(host{}, in.data(), 0, mask.data(), 3, out.data(), {border::wrap, outputs::full});
              }),
              "");
    EXPECT_EQ(said([&] {
                  convolve(host{}, in.data(), 2, mask.data(), 3, out.data(), {border::wrap, outputs::valid});
              }),
              "");
}

TEST(Float16, EveryHalfComesBack) {
    for (unsigned bits = 0; bits < 65536; ++bits) {
        half h;
        h.bits = static_cast<std::uint16_t>(bits);
        const float x(h);
        const int exponent = static_cast<int>(bits >> 10 & 31);
        const double fraction = bits & 1023;
        const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
        if (exponent != 31) {
            ASSERT_EQ(static_cast<double>(x), (bits & 0x8000) != 0 ? -magnitude : magnitude) << bits;
            ASSERT_EQ(std::signbit(x), (bits & 0x8000) != 0) << bits;
        } else {
            ASSERT_TRUE(fraction == 0 ? std::isinf(x) : std::isnan(x)) << bits;
        }
        ASSERT_TRUE(half(x).bits == bits || (exponent == 31 && fraction != 0)) << bits;
        // Half way to the next one: to the even one of the two; a little more, or less: to the nearer one.
        if (exponent < 31) {
            half next;
            next.bits = static_cast<std::uint16_t>(bits + 1);
            const float above = exponent == 30 && fraction == 1023 ? std::copysign(65536.0f, x) : float(next);
            const float middle = x + (above - x) / 2;
            ASSERT_EQ(half(middle).bits, bits % 2 == 0 ? bits : bits + 1) << bits;
            ASSERT_EQ(half(std::nextafter(middle, x)).bits, bits) << bits;
            ASSERT_EQ(half(std::nextafter(middle, above)).bits, bits + 1) << bits;
        }
    }
    EXPECT_EQ(half(1e30f).bits, 0x7c00);
    EXPECT_EQ(bfloat16(1.00390625f).bits, 0x3f80);
    EXPECT_EQ(bfloat16(1.01171875f).bits, 0x3f82);
    EXPECT_TRUE(std::isnan(float(bfloat16(std::nanf("")))));
}

} // namespace warpfold
