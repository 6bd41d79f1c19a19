// SPDX-License-Identifier: MIT
// Convolution on a GPU, the software one or a real one, against the definition.
#include <cstdint>
#include <limits>
#include <string>

#include "tests/library/captured_calls.hpp"
#include "tests/library/convolve/convolve_gpu.hpp"

using namespace warpfold;
using namespace warpfold::tests;

namespace {

using gpu = gpu_without_few;

// Every size of mask that kernels are made for, and some that go through tiles; all borders and results.
TEST(convolve, one_dimension) {
    unsigned turn = 0;
    for (const std::uint64_t k : {1u, 2u, 3u, 4u, 5u, 7u, 9u, 16u, 17u, 33u, 130u}) {
        for (const border outside : all_borders) {
            for (const outputs which : all_outputs) {
                const std::uint64_t n = std::uint64_t{turn % 7 * 37 + 1};
                filter_case<float, float>({dense(n, 1), k, 1, {outside, which}, 0, turn % 4, turn % 2 == 0},
                                          turn % 3 != 0);
                ++turn;
            }
        }
    }
    for (const std::uint64_t n : {1023u, 2049u, 8191u, 10007u}) {
        for (const std::uint64_t k : {3u, 5u, 9u, 33u}) {
            for (const std::uint64_t skip : {0u, 1u, 3u}) {
                const border outside = all_borders[(n + k + skip) % 5];
                filter_case<float, float>(
                    {padded(n, 1, 0, 1, skip), k, 1, {outside, all_outputs[(n + k) % 3]}, 0, skip / 2}, skip != 1);
            }
        }
    }
}

// More tiles than blocks.
TEST(convolve, long_array) {
    using kernels = detail::kernels_of<tuning::convolve_policy<>>;
    using shape = detail::lines<kernels, float, 8>;
    const std::uint64_t blocks =
        detail::properties_of<
            &detail::convolve_line<shape, detail::convolve_task<float, float>, float, detail::long_mask<float>>>(
            {shape::threads, shape::bytes(64)})
            .resident_blocks;
    const std::uint64_t n = (blocks + 3) * shape::results + 77;
    filter_case<float, float>({padded(n, 1, 0, 1, 2), 10, 1, {border::wrap, outputs::same}}, true);
}

TEST(convolve, long_masks) {
    workspace memory(convolve_workspace<float, float>(2500));
    filter_case<float, float>({dense(300, 1), 1000, 1, {border::wrap, outputs::same}}, true);
    filter_case<float, float>({dense(300, 1), 2500, 1, {border::mirror, outputs::same}}, true, &memory);
    filter_case<float, float>({dense(5, 1), 1001, 1, {border::zero, outputs::full}}, true);
    filter_case<float, float>({dense(40, 30), 37, 35, {border::clamp, outputs::same}}, true, &memory);
    filter_case<float, float>({dense(9, 5), 45, 21, {border::reflect, outputs::full}}, true);
}

TEST(convolve, two_dimensions) {
    unsigned turn = 0;
    for (const std::uint64_t k : {1u, 2u, 3u, 5u, 7u, 8u, 9u, 11u, 13u, 15u}) {
        for (const border outside : all_borders) {
            for (const outputs which : all_outputs) {
                const std::uint64_t width = 4 * (turn % 5) + 16, height = turn % 11 + 5, skip = turn % 3;
                filter_case<float, float>({padded(width, height, turn % 2 * 4, 1 + turn % 2, skip),
                                           k,
                                           k,
                                           {outside, which},
                                           turn % 4,
                                           turn % 3,
                                           turn % 2 == 0},
                                          turn % 3 != 0);
                ++turn;
            }
        }
    }
    for (const border outside : all_borders) {
        filter_case<float, float>(
            {padded(44, 33, 0, 1, turn % 3), 31, 31, {outside, all_outputs[turn % 3]}, 0, turn % 2}, true);
        ++turn;
    }
    filter_case<float, float>({padded(600, 40, 0, 2, 3), 31, 12, {border::mirror, outputs::same}, 2, 0}, false);
    // Blocks inside an image, the last ones of it, odd pitches, masks that are not square.
    filter_case<float, float>({dense(1100, 9), 3, 3, {border::mirror, outputs::same}}, true);
    filter_case<float, float>({dense(1601, 7), 5, 5, {border::wrap, outputs::same}}, true);
    filter_case<float, float>({dense(301, 40), 3, 3, {border::clamp, outputs::same}}, true);
    filter_case<float, float>({dense(300, 40), 6, 2, {border::zero, outputs::same}}, true);
    filter_case<float, float>({dense(300, 40), 1, 9, {border::reflect, outputs::full}}, false);
    filter_case<float, float>({dense(300, 9, 3), 12, 1, {border::wrap, outputs::valid}}, false);
    filter_case<float, float>({dense(1, 50), 3, 3, {border::clamp, outputs::same}}, true);
    filter_case<float, float>({dense(50, 1), 3, 3, {border::mirror, outputs::same}}, true);
}

TEST(convolve, doubles) {
    unsigned turn = 0;
    for (const std::uint64_t k : {3u, 9u, 20u}) {
        for (const outputs which : all_outputs) {
            const border outside = all_borders[turn % 5];
            filter_case<double, double, double>({padded(203, 1, 0, 1, turn % 4), k, 1, {outside, which}, 0, turn % 3},
                                                false);
            ++turn;
        }
    }
    for (const std::uint64_t k : {3u, 6u}) {
        filter_case<double, double, double>(
            {padded(72, 11, 4 * (k % 2), 2, 0), k, k, {all_borders[turn % 5], outputs::same}, 1, 1}, false);
        ++turn;
    }
}

TEST(convolve, infinity_reaches_only_its_sums) {
    // An infinity reaches the sums that it takes part in, and no other.
    const float infinity = std::numeric_limits<float>::infinity();
    for (const std::uint64_t k : {3u, 6u, 33u}) {
        std::vector<float> data(4001, 1.0f), mask(k, 0.5f);
        data[2000] = infinity;
        const on_device<float> in(data), out(data);
        correlate(gpu{}, static_cast<const float*>(in.data()), data.size(), mask.data(), k, out.data());
        const auto got = out.read();
        for (std::uint64_t i = 0; i < got.size(); ++i) {
            const bool meets = i + k >= 2000 + k / 2 + 1 && i <= 2000 + k / 2;
            EXPECT_TRUE(meets ? got[i] == infinity : got[i] <= 0.5f * static_cast<float>(k));
        }
    }
    for (const std::uint64_t k : {3u, 5u, 6u}) {
        std::vector<float> data(64 * 64, 1.0f), mask(k * k, 1.0f);
        data[30 * 64 + 20] = infinity;
        const on_device<float> in(data), out(data);
        correlate(gpu{}, image{static_cast<const float*>(in.data()), 64, 64}, image{mask.data(), k, k},
                  image{out.data(), 64, 64});
        const auto got = out.read();
        for (std::uint64_t y = 0; y < 64; ++y) {
            for (std::uint64_t x = 0; x < 64; ++x) {
                const bool meets = y + k > 30 + k / 2 && y <= 30 + k / 2 && x + k > 20 + k / 2 && x <= 20 + k / 2;
                EXPECT_TRUE(meets ? got[y * 64 + x] == infinity : got[y * 64 + x] <= static_cast<float>(k * k));
            }
        }
    }
}

// A captured call keeps the mask that it was given, and runs on what its memory holds by then.
TEST(convolve, captured) {
    const std::uint64_t n = 3000;
    for (const std::uint64_t k : {5u, 40u, 1200u}) {
        workspace memory(convolve_workspace<float, float>(k));
        std::vector<float> mask(k, 1.0f);
        const on_device<float> in(std::vector<float>(n, 0.0f)), out(std::vector<float>(n, -1.0f));
        const tests::captured_calls captured([&](cudaStream_t stream) {
            convolve(gpu{stream, &memory}, static_cast<const float*>(in.data()), n, mask.data(), k, out.data(),
                     {border::wrap, outputs::same});
        });
        std::fill(mask.begin(), mask.end(), 100.0f);
        for (const float value : {1.0f, 3.0f}) {
            const std::vector<float> data(n, value);
            CUDA(cudaMemcpy(in.data(), data.data(), n * sizeof(float), cudaMemcpyHostToDevice));
            captured.run();
            for (const float x : out.read()) {
                EXPECT_EQ(x, value * static_cast<float>(k));
            }
        }
    }
}

TEST(convolve, workspace_too_small) {
    workspace memory(16);
    const on_device<float> in(std::vector<float>(100)), out(std::vector<float>(100));
    const std::vector<float> mask(2000);
    expect_invalid_argument(
        [&] {
            convolve(gpu{nullptr, &memory}, static_cast<const float*>(in.data()), 100, mask.data(), mask.size(),
                     out.data());
        },
        "convolve: the workspace has 256 bytes");
}

} // namespace
