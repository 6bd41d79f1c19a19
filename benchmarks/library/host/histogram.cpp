// SPDX-License-Identifier: MIT
// Histograms of 2^26 samples on the host's cores: the library, a oneTBB loop, std::execution, and OpenCV if it is
// installed. numpy_histogram.py times NumPy on the same samples.
#include <benchmark/benchmark.h>
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#include <execution>
#include <numeric>
#include <random>
#include <vector>

#include "benchmarks/library/host/host_memory.hpp"
#include "warpfold/histogram.hpp"

#if defined(WARPFOLD_BENCH_OPENCV)
#include <opencv2/imgproc.hpp>
#endif

namespace {

using namespace warpfold;

constexpr std::size_t samples = std::size_t{1} << 26;

// Numbers in [0, upper), or a constant.
template <class T>
const std::vector<T>& data(double upper, bool constant) {
    static std::vector<T> made(samples);
    static double made_for = 0;
    if (const double wanted = constant ? -upper : upper; made_for != wanted) {
        std::mt19937_64 random(1);
        for (T& x : made) {
            const double u = constant ? 0.4 : static_cast<double>(random() >> 11) * 0x1p-53;
            x = static_cast<T>(u * upper);
            x = static_cast<double>(x) < upper ? x : T{0};
        }
        made_for = wanted;
    }
    return made;
}

// A plain loop.
template <class T>
void count_plainly(const T* in, std::size_t n, T upper, unsigned bins, std::uint32_t* table) {
    if constexpr (sizeof(T) == 1) {
        for (std::size_t k = 0; k < n; ++k) {
            ++table[in[k]];
        }
    } else if constexpr (std::is_integral_v<T>) {
        for (std::size_t k = 0; k < n; ++k) {
            if (in[k] >= 0 && in[k] < upper) {
                ++table[static_cast<std::uint64_t>(in[k]) * bins / static_cast<std::uint64_t>(upper)];
            }
        }
    } else {
        const T scale = static_cast<T>(bins) / upper;
        for (std::size_t k = 0; k < n; ++k) {
            if (in[k] >= 0 && in[k] < upper) {
                ++table[std::min(static_cast<unsigned>(in[k] * scale), bins - 1)];
            }
        }
    }
}

struct ours {
    template <class T>
    static void run(const std::vector<T>& in, T upper, unsigned bins, std::vector<std::uint32_t>& counts) {
        if constexpr (sizeof(T) == 1) {
            histogram(host{}, in, counts, even_bins(0, 256, 256));
        } else {
            histogram(host{}, in, counts, even_bins<T>(0, upper, bins));
        }
    }
};

struct onetbb {
    template <class T>
    static void run(const std::vector<T>& in, T upper, unsigned bins, std::vector<std::uint32_t>& counts) {
        tbb::enumerable_thread_specific<std::vector<std::uint32_t>> tables(
            [&] { return std::vector<std::uint32_t>(bins); });
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, in.size(), 1 << 16), [&](const auto& part) {
            count_plainly(in.data() + part.begin(), part.size(), upper, bins, tables.local().data());
        });
        std::fill(counts.begin(), counts.end(), 0u);
        for (const auto& table : tables) {
            std::transform(table.begin(), table.end(), counts.begin(), counts.begin(), std::plus<>{});
        }
    }
};

struct execution {
    template <class T>
    static void run(const std::vector<T>& in, T upper, unsigned bins, std::vector<std::uint32_t>& counts) {
        constexpr std::size_t parts = 16;
        std::vector<std::size_t> part(parts);
        std::iota(part.begin(), part.end(), std::size_t{0});
        counts = std::transform_reduce(
            std::execution::par, part.begin(), part.end(), std::vector<std::uint32_t>(bins),
            [](std::vector<std::uint32_t> a, const std::vector<std::uint32_t>& b) {
                std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>{});
                return a;
            },
            [&](std::size_t k) {
                std::vector<std::uint32_t> table(bins);
                count_plainly(in.data() + k * (samples / parts), samples / parts, upper, bins, table.data());
                return table;
            });
    }
};

#if defined(WARPFOLD_BENCH_OPENCV)
struct opencv {
    template <class T>
    static void run(const std::vector<T>& in, T upper, unsigned bins, std::vector<std::uint32_t>& counts) {
        const cv::Mat image(1 << 13, static_cast<int>(samples >> 13), sizeof(T) == 1 ? CV_8U : CV_32F,
                            const_cast<T*>(in.data()));
        const int size = static_cast<int>(bins), channel = 0;
        const float range[] = {0, sizeof(T) == 1 ? 256.0f : static_cast<float>(upper)};
        const float* ranges = range;
        cv::Mat result; // its counts are floats
        cv::calcHist(&image, 1, &channel, cv::Mat(), result, 1, &size, &ranges);
        std::transform(result.begin<float>(), result.end<float>(), counts.begin(),
                       [](float x) { return static_cast<std::uint32_t>(x); });
    }
};
#endif

template <class Who, class T>
void counting(benchmark::State& state) {
    const auto bins = static_cast<unsigned>(state.range(0));
    const T upper = sizeof(T) == 1 ? T(255) : (std::is_integral_v<T> ? static_cast<T>(bins) : T(1));
    const auto& in = data<T>(sizeof(T) == 1 ? 256 : static_cast<double>(upper), state.range(1) != 0);
    std::vector<std::uint32_t> counts(bins), expected(bins);
    Who::run(in, upper, bins, counts);
    count_plainly(in.data(), in.size(), upper, bins, expected.data());
    if (counts != expected) {
        state.SkipWithError("the counts are wrong");
        return;
    }
    for (auto _ : state) {
        Who::run(in, upper, bins, counts);
        benchmark::DoNotOptimize(counts.data());
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * samples * sizeof(T)));
}

void reading(benchmark::State& state) {
    const auto& in = data<float>(1, false);
    for (auto _ : state) {
        benchmark::DoNotOptimize(bench::read_all(host{}, in.data(), samples * sizeof(float)));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * samples * sizeof(float)));
}

void few(benchmark::internal::Benchmark* b) { // bins, whether the samples are all one number
    b->Args({256, 0})->Args({256, 1})->Unit(benchmark::kMillisecond)->UseRealTime();
}
void all(benchmark::internal::Benchmark* b) {
    for (const int bins : {256, 2048, 65536, 1 << 20}) {
        b->Args({bins, 0});
    }
    b->Args({2048, 1})->Unit(benchmark::kMillisecond)->UseRealTime();
}

} // namespace

BENCHMARK(reading)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(counting<ours, std::uint8_t>)->Apply(few);
BENCHMARK(counting<onetbb, std::uint8_t>)->Apply(few);
BENCHMARK(counting<execution, std::uint8_t>)->Apply(few);
BENCHMARK(counting<ours, float>)->Apply(all);
BENCHMARK(counting<onetbb, float>)->Apply(all);
BENCHMARK(counting<execution, float>)->Apply(all);
BENCHMARK(counting<ours, std::int32_t>)->Apply(all);
BENCHMARK(counting<onetbb, std::int32_t>)->Apply(all);
BENCHMARK(counting<execution, std::int32_t>)->Apply(all);
#if defined(WARPFOLD_BENCH_OPENCV)
BENCHMARK(counting<opencv, std::uint8_t>)->Apply(few);
BENCHMARK(counting<opencv, float>)->Apply(all);
#endif
