// SPDX-License-Identifier: MIT
// Scans of 2^26 floats on the host's cores: the library, a oneTBB loop, std::, and copying only.
#include <benchmark/benchmark.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_scan.h>

#include <algorithm>
#include <cstdint>
#include <execution>
#include <numeric>
#include <random>
#include <vector>

#include "benchmarks/library/host/host_memory.hpp"
#include "warpfold/scan.hpp"

namespace {

using namespace warpfold;

constexpr std::size_t count = std::size_t{1} << 26;

template <class T>
const std::vector<T>& data() {
    static const std::vector<T> all = [] {
        std::mt19937 random(1);
        std::vector<T> made(count);
        std::generate(made.begin(), made.end(), [&] { return static_cast<T>(static_cast<int>(random() % 255) - 127); });
        return made;
    }();
    return all;
}

template <class T, class Work>
void over_data(benchmark::State& state, const Work& work) {
    const std::vector<T>& in = data<T>();
    static std::vector<T> out(count, T(1));
    for (auto _ : state) {
        work(in, out);
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * 2 * count * sizeof(T)));
}

template <class T>
void copying(benchmark::State& state) {
    over_data<T>(state,
                 [](const auto& in, auto& out) { bench::copy_all(host{}, out.data(), in.data(), count * sizeof(T)); });
}
template <class T>
void copying_around_cache(benchmark::State& state) {
    over_data<T>(state, [](const auto& in, auto& out) {
        constexpr std::size_t piece = std::size_t{1} << 18;
        detail::parallel_for(0, count * sizeof(T) / piece, [&](std::uint64_t k) {
            detail::copy_non_temporal(reinterpret_cast<char*>(out.data()) + k * piece,
                                      reinterpret_cast<const char*>(in.data()) + k * piece, piece);
            detail::non_temporal_fence();
        });
    });
}
template <class T>
void inclusive_ours(benchmark::State& state) {
    over_data<T>(state, [](const auto& in, auto& out) { inclusive_scan(host{}, in, out); });
}
template <class T>
void exclusive_ours(benchmark::State& state) {
    over_data<T>(state, [](const auto& in, auto& out) { exclusive_scan(host{}, in, out); });
}
template <class T>
void inclusive_ours_one_thread(benchmark::State& state) {
    over_data<T>(state, [](const auto& in, auto& out) { inclusive_scan(host{1}, in, out); });
}
template <class T>
void inclusive_std(benchmark::State& state) {
    over_data<T>(state, [](const auto& in, auto& out) { std::inclusive_scan(in.begin(), in.end(), out.begin()); });
}
template <class T>
void inclusive_execution(benchmark::State& state) {
    over_data<T>(state, [](const auto& in, auto& out) {
        std::inclusive_scan(std::execution::par_unseq, in.begin(), in.end(), out.begin());
    });
}
template <class T>
void inclusive_onetbb(benchmark::State& state) {
    over_data<T>(state, [](const auto& in, auto& out) {
        tbb::parallel_scan(
            tbb::blocked_range<std::size_t>(0, count), T{},
            [&](const tbb::blocked_range<std::size_t>& part, T total, bool last) {
                for (std::size_t k = part.begin(); k != part.end(); ++k) {
                    total += in[k];
                    if (last) {
                        out[k] = total;
                    }
                }
                return total;
            },
            [](T a, T b) { return a + b; });
    });
}

} // namespace

#define TIMED(name) BENCHMARK(name)->Unit(benchmark::kMillisecond)->UseRealTime()
TIMED(copying<float>);
TIMED(copying_around_cache<float>);
TIMED(inclusive_ours<float>);
TIMED(exclusive_ours<float>);
TIMED(inclusive_ours_one_thread<float>);
TIMED(inclusive_onetbb<float>);
TIMED(inclusive_execution<float>);
TIMED(inclusive_std<float>);
TIMED(inclusive_ours<double>);
TIMED(copying<double>);
TIMED(inclusive_ours<std::int8_t>);
TIMED(copying<std::int8_t>);
