// SPDX-License-Identifier: MIT
// CUB's DeviceHistogram: even bins, bins between given bounds, and three channels of pixels of four.
#include <algorithm>
#include <array>

#include <cub/device/device_histogram.cuh>

#include "tests/runtime/programs/device_array.hpp"

int main(int argc, char** argv) {
    const std::vector<int> bounds{-1000, -10, 0, 3, 50, 77, 4000};
    constexpr int bins = 37;
    for (const int n : lengths(argc, argv)) {
        std::vector<int> samples(n), even(bins), ranged(bounds.size() - 1);
        for (int k = 0; k < n; ++k) {
            // Some lie in no bin at all; near the end many lie in one.
            samples[k] = k > n * 3 / 4 ? 5 : static_cast<int>(scrambled(k) % 400) - 15;
            if (samples[k] >= 0 && samples[k] < 10 * bins) {
                ++even[samples[k] / 10];
            }
            const auto above = std::upper_bound(bounds.begin(), bounds.end(), samples[k]);
            if (above != bounds.begin() && above != bounds.end()) {
                ++ranged[above - bounds.begin() - 1];
            }
        }
        device_array<int> in(samples), even_out(even.size()), ranged_out(ranged.size()), bounds_in(bounds);
        with_scratch([&](void* scratch, std::size_t& bytes) {
            return cub::DeviceHistogram::HistogramEven(scratch, bytes, in.data(), even_out.data(), bins + 1, 0,
                                                       10 * bins, n);
        });
        CHECK(even_out.host() == even);
        with_scratch([&](void* scratch, std::size_t& bytes) {
            return cub::DeviceHistogram::HistogramRange(scratch, bytes, in.data(), ranged_out.data(),
                                                        static_cast<int>(bounds.size()), bounds_in.data(), n);
        });
        CHECK(ranged_out.host() == ranged);

        const int pixels = (n + 3) / 4;
        std::vector<unsigned char> image(static_cast<std::size_t>(pixels) * 4);
        std::array<std::vector<int>, 3> colours;
        colours.fill(std::vector<int>(256));
        for (std::size_t k = 0; k < image.size(); ++k) {
            image[k] = static_cast<unsigned char>(scrambled(k));
            if (k % 4 < 3) {
                ++colours[k % 4][image[k]];
            }
        }
        device_array<unsigned char> image_in(image);
        device_array<int> red(256), green(256), blue(256);
        int* channels[3] = {red.data(), green.data(), blue.data()};
        const int levels[3] = {257, 257, 257}, lowest[3] = {0, 0, 0}, highest[3] = {256, 256, 256};
        with_scratch([&](void* scratch, std::size_t& bytes) {
            return cub::DeviceHistogram::MultiHistogramEven<4, 3>(scratch, bytes, image_in.data(), channels, levels,
                                                                  lowest, highest, pixels);
        });
        CHECK(red.host() == colours[0] && green.host() == colours[1] && blue.host() == colours[2]);
    }
    return 0;
}
