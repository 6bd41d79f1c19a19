// SPDX-License-Identifier: MIT
// Convolution on a GPU of samples of 8 and 16 bits against the definition.
#ifndef WARPFOLD_TEST_SAMPLE
#define WARPFOLD_TEST_SAMPLE std::uint8_t
#endif
#include <cstdint>

#include "tests/library/convolve/convolve_gpu.hpp"

using namespace warpfold;
using namespace warpfold::tests;

namespace {

using gpu = gpu_without_few;

using sample = WARPFOLD_TEST_SAMPLE;

TEST(convolve_types, one_dimension) {
    unsigned turn = 0;
    for (const std::uint64_t k : {1u, 3u, 5u, 7u, 9u, 17u, 20u}) {
        for (const border outside : all_borders) {
            for (const outputs which : all_outputs) {
                const std::uint64_t n = turn % 4 == 0 ? turn % 23 + 1 : 203 + turn % 17;
                filter_case<sample, sample>({padded(n, 1, 0, 1, turn % 7), k, 1, {outside, which}, 0, turn % 5},
                                            turn % 3 == 0);
                ++turn;
            }
        }
    }
    for (const std::uint64_t skip : {0u, 1u, 2u, 4u, 12u}) {
        filter_case<sample, sample>({padded(10007, 1, 0, 1, skip), 9, 1, {border::mirror, outputs::same}, 0, skip / 2},
                                    false);
    }
}

// Rows that are 8 samples apart, 4, and others; blocks inside an image; results anywhere.
TEST(convolve_types, two_dimensions) {
    unsigned turn = 0;
    for (const std::uint64_t k : {3u, 5u, 6u, 7u, 9u, 11u}) {
        for (const border outside : all_borders) {
            filter_case<sample, sample>(
                {padded(64 + 4 * (turn % 4), k + turn % 9, 4 * (turn % 3), 1 + turn % 2, turn % 5),
                 k,
                 k,
                 {outside, all_outputs[turn % 3]},
                 turn % 5,
                 turn % 4},
                turn % 3 == 0);
            ++turn;
        }
    }
    for (const std::uint64_t width : {2200u, 2204u}) {
        for (const std::uint64_t skip : {0u, 1u, 4u}) {
            filter_case<sample, sample>(
                {padded(width, 7, 0, 1, skip), 5, 5, {border::clamp, outputs::same}, skip, skip}, false);
            separable_case<sample, sample>(
                {padded(width, 6, 0, 1, skip), 3, 3, {border::wrap, outputs::same}, 0, 4 * skip}, false);
        }
    }
    for (const std::uint64_t k : {3u, 5u, 15u, 17u}) {
        separable_case<sample, sample>(
            {padded(100, 30, 4 * (turn % 2), 2, turn % 3), k, k, {all_borders[turn % 5], outputs::same}, 3, turn % 2},
            false);
        ++turn;
    }
}

// What has no number among the results: beyond their range, halves, infinities and NaN of the mask.
template <class T>
void rounding() {
    if constexpr (std::is_integral_v<T>) {
        constexpr auto least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
        const std::vector<T> data{1, 1, 1, 2, 3, 4, 5, 0, 0, least, least, least, most, most, most, 7, 0, 0, 0, 0};
        const float infinity = std::numeric_limits<float>::infinity();
        for (const float value : {0.5f, -0.5f, 1.5f, 1e30f, -1e30f, infinity, -infinity, infinity - infinity}) {
            const std::vector<float> mask{0, value, 0};
            const on_device<T> in(data), out(std::vector<T>(data.size()));
            correlate(gpu{}, static_cast<const T*>(in.data()), data.size(), mask.data(), 3, out.data());
            const auto got = out.read();
            for (std::size_t k = 0; k < data.size(); ++k) {
                EXPECT_EQ(got[k], detail::sample_of<T>(value * static_cast<float>(data[k])));
            }
        }
    }
}

TEST(convolve_types, rounding_and_range) { rounding<sample>(); }

} // namespace
