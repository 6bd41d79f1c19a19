// SPDX-License-Identifier: MIT
// Convolutions of 2^26 floats on the host's cores: the library, a plain loop parallelised by oneTBB and by std::execution,
// and OpenCV if it is installed. numpy_convolve.py times NumPy on the same data.
#include <benchmark/benchmark.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <execution>
#include <random>
#include <vector>

#if defined(WARPFOLD_BENCH_OPENCV)
#include <opencv2/imgproc.hpp>
#endif

#include "benchmarks/library/host/host_memory.hpp"
#include "warpfold/convolve.hpp"

namespace {

using namespace warpfold;

constexpr std::size_t side = 8192, count = side * side;

std::vector<float> random_numbers(std::size_t n) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> any(-1, 1);
    std::vector<float> made(n);
    std::generate(made.begin(), made.end(), [&] { return any(random); });
    return made;
}
const std::vector<float>& samples() {
    static const std::vector<float> all = random_numbers(count);
    return all;
}
std::vector<float>& results() {
    static std::vector<float> all(count);
    return all;
}

// Times work(samples, mask of `values`, results); k is the benchmark's argument.
template <class Work>
void timed(benchmark::State& state, std::size_t values, double operations, const Work& work) {
    const std::vector<float> mask = random_numbers(values);
    float* const out = results().data();
    work(samples().data(), mask.data(), out);
    for (auto _ : state) {
        work(samples().data(), mask.data(), out);
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                            static_cast<std::int64_t>(2 * count * sizeof(float)));
    state.counters["flop/s"] =
        benchmark::Counter(operations * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
template <class Work>
void line(benchmark::State& state, const Work& work) {
    const auto k = static_cast<std::size_t>(state.range(0));
    timed(state, k, 2.0 * static_cast<double>(count * k),
          [&](const float* in, const float* mask, float* out) { work(in, mask, k, out); });
}
template <class Work>
void square(benchmark::State& state, const Work& work) {
    const auto k = static_cast<std::size_t>(state.range(0));
    timed(state, k * k, 2.0 * static_cast<double>(count * k * k),
          [&](const float* in, const float* mask, float* out) { work(in, mask, k, out); });
}

void copying(benchmark::State& state) {
    timed(state, 1, 0,
          [](const float* in, const float*, float* out) { bench::copy_all(host{}, out, in, count * sizeof(float)); });
}

// Results [begin, end) by the definition. The inner loop runs along the results, so that it vectorises.
void plain_line(const float* in, const float* mask, std::size_t k, float* out, std::size_t begin, std::size_t end) {
    constexpr std::size_t piece = 1024;
    for (std::size_t x = begin; x < end; x += piece) {
        const std::size_t n = std::min(piece, end - x);
        std::fill(out + x, out + x + n, 0.0f);
        for (std::size_t j = 0; j < k; ++j) {
            const std::size_t shift = j - k / 2; // wraps, and back again in the sum
            if (x + shift < count && x + n - 1 + shift < count) {
                for (std::size_t c = 0; c < n; ++c) {
                    out[x + c] += mask[j] * in[x + c + shift];
                }
            } else {
                for (std::size_t c = 0; c < n; ++c) {
                    out[x + c] += x + c + shift < count ? mask[j] * in[x + c + shift] : 0.0f;
                }
            }
        }
    }
}
void plain_row(const float* in, const float* mask, std::size_t kx, std::size_t ky, float* out, std::size_t y) {
    std::fill(out + y * side, out + (y + 1) * side, 0.0f);
    for (std::size_t j = 0; j < ky; ++j) {
        const std::size_t row = y + j - ky / 2;
        if (row >= side) {
            continue;
        }
        for (std::size_t i = 0; i < kx; ++i) {
            const std::size_t first = kx / 2 > i ? kx / 2 - i : 0, end = std::min(side, side + kx / 2 - i);
            for (std::size_t x = first; x < end; ++x) {
                out[y * side + x] += mask[j * kx + i] * in[row * side + x + i - kx / 2];
            }
        }
    }
}

void line_ours(benchmark::State& state) {
    line(state, [](const float* in, const float* mask, std::size_t k, float* out) {
        correlate(host{}, in, count, mask, k, out);
    });
}
void line_onetbb(benchmark::State& state) {
    line(state, [](const float* in, const float* mask, std::size_t k, float* out) {
        tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1 << 16),
                          [&](const auto& part) { plain_line(in, mask, k, out, part.begin(), part.end()); });
    });
}
void line_execution(benchmark::State& state) {
    line(state, [](const float* in, const float* mask, std::size_t k, float* out) {
        std::for_each(std::execution::par_unseq, out, out + count, [&](float& result) {
            const auto x = static_cast<std::size_t>(&result - out);
            float sum = 0;
            for (std::size_t j = 0; j < k; ++j) {
                const std::size_t at = x + j - k / 2;
                sum += at < count ? mask[j] * in[at] : 0.0f;
            }
            result = sum;
        });
    });
}

void square_ours(benchmark::State& state) {
    square(state, [](const float* in, const float* mask, std::size_t k, float* out) {
        correlate(host{}, image{in, side, side}, image{mask, k, k}, image{out, side, side});
    });
}
void square_onetbb(benchmark::State& state) {
    square(state, [](const float* in, const float* mask, std::size_t k, float* out) {
        tbb::parallel_for(std::size_t{0}, side, [&](std::size_t y) { plain_row(in, mask, k, k, out, y); });
    });
}
void separable_ours(benchmark::State& state) {
    line(state, [](const float* in, const float* mask, std::size_t k, float* out) {
        correlate_separable(host{}, image{in, side, side}, mask, k, mask, k, image{out, side, side});
    });
}
void separable_onetbb(benchmark::State& state) {
    static std::vector<float> between(count);
    line(state, [](const float* in, const float* mask, std::size_t k, float* out) {
        tbb::parallel_for(std::size_t{0}, side, [&](std::size_t y) { plain_row(in, mask, k, 1, between.data(), y); });
        tbb::parallel_for(std::size_t{0}, side, [&](std::size_t y) { plain_row(between.data(), mask, 1, k, out, y); });
    });
}

#if defined(WARPFOLD_BENCH_OPENCV)
cv::Mat mat(const float* data, std::size_t rows, std::size_t columns) {
    return {static_cast<int>(rows), static_cast<int>(columns), CV_32F, const_cast<float*>(data)};
}
void line_opencv(benchmark::State& state) {
    line(state, [](const float* in, const float* mask, std::size_t k, float* out) {
        cv::Mat to = mat(out, 1, count);
        cv::filter2D(mat(in, 1, count), to, CV_32F, mat(mask, 1, k), cv::Point(-1, -1), 0, cv::BORDER_CONSTANT);
    });
}
void square_opencv(benchmark::State& state) {
    square(state, [](const float* in, const float* mask, std::size_t k, float* out) {
        cv::Mat to = mat(out, side, side);
        cv::filter2D(mat(in, side, side), to, CV_32F, mat(mask, k, k), cv::Point(-1, -1), 0, cv::BORDER_CONSTANT);
    });
}
void separable_opencv(benchmark::State& state) {
    line(state, [](const float* in, const float* mask, std::size_t k, float* out) {
        cv::Mat to = mat(out, side, side);
        cv::sepFilter2D(mat(in, side, side), to, CV_32F, mat(mask, 1, k), mat(mask, k, 1), cv::Point(-1, -1), 0,
                        cv::BORDER_CONSTANT);
    });
}
#endif

} // namespace

#define TIMED(name) BENCHMARK(name)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond)->UseRealTime()
TIMED(copying);
TIMED(line_ours)->Arg(5)->Arg(9)->Arg(33)->Arg(129);
TIMED(line_onetbb)->Arg(5)->Arg(9)->Arg(33)->Arg(129);
TIMED(line_execution)->Arg(5)->Arg(9)->Arg(33)->Arg(129);
TIMED(square_ours)->Arg(3)->Arg(5)->Arg(7)->Arg(15)->Arg(31);
TIMED(square_onetbb)->Arg(3)->Arg(5)->Arg(7)->Arg(15)->Arg(31);
TIMED(separable_ours)->Arg(5)->Arg(15)->Arg(31);
TIMED(separable_onetbb)->Arg(5)->Arg(15)->Arg(31);
#if defined(WARPFOLD_BENCH_OPENCV)
TIMED(line_opencv)->Arg(5)->Arg(9)->Arg(33)->Arg(129);
TIMED(square_opencv)->Arg(3)->Arg(5)->Arg(7)->Arg(15)->Arg(31);
TIMED(separable_opencv)->Arg(5)->Arg(15)->Arg(31);
#endif
