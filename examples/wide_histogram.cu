// SPDX-License-Identifier: MIT
// A histogram too wide for one block's shared memory: 60,000 bins of waiting times, and their quantiles.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "warpfold/histogram.cuh"

using namespace warpfold;

// The k-th waiting time in microseconds, exponentially distributed with a mean of 4,000; every thousandth is NaN.
struct waiting_time {
    __host__ __device__ float operator[](std::uint64_t k) const {
        const auto mixed = static_cast<std::uint32_t>((k + 1) * 0x9E3779B97F4A7C15ull >> 32);
        return k % 1000 == 999 ? NAN : -4000.0f * logf((static_cast<float>(mixed) + 0.5f) * 0x1p-32f);
    }
};

int main() {
    constexpr std::uint64_t samples = 1000000;
    constexpr unsigned bins = 60000;
    try {
        // Samples may be any object with operator[]. The counts are returned as a vector.
        const auto counts = histogram(gpu{}, waiting_time{}, samples, even_bins(0.0f, 60000.0f, bins));
        std::uint64_t known = 0;
        for (const std::uint64_t count : counts) {
            known += count;
        }
        std::printf("%llu of %llu samples are in a bin\n", static_cast<unsigned long long>(known),
                    static_cast<unsigned long long>(samples));
        std::uint64_t below = 0;
        unsigned bin = 0;
        for (const double part : {0.5, 0.9, 0.99, 0.999}) {
            while (static_cast<double>(below + counts[bin]) < part * static_cast<double>(known)) {
                below += counts[bin++];
            }
            std::printf("%5.1f %% wait less than %u us\n", 100 * part, bin + 1);
        }
    } catch (const error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
