// SPDX-License-Identifier: MIT
// Reductions of 1,000, 100,000 and 2^26 floats on the host's cores: the library with all threads and with one, loops of
// oneTBB and OpenMP, std::execution, and reading only.
#include <benchmark/benchmark.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <execution>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "benchmarks/library/host/host_memory.hpp"
#include "warpfold/reduce.hpp"

namespace {

using namespace warpfold;

const std::vector<float>& data() {
    static const std::vector<float> all = [] {
        std::mt19937 random(1);
        std::uniform_real_distribution<float> any(-1, 1);
        std::vector<float> made(std::size_t{1} << 26);
        std::generate(made.begin(), made.end(), [&] { return any(random); });
        return made;
    }();
    return all;
}

template <class Work>
void over_data(benchmark::State& state, const Work& work) {
    const std::span<const float> in(data().data(), static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) {
        benchmark::DoNotOptimize(work(in));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * in.size_bytes()));
}

void reading(benchmark::State& state) {
    over_data(state, [](const auto& in) { return bench::read_all(host{}, in.data(), in.size_bytes()); });
}
void sum_ours(benchmark::State& state) {
    over_data(state, [](const auto& in) { return reduce(host{}, in); });
}
void sum_one(benchmark::State& state) {
    over_data(state, [](const auto& in) { return reduce(host{1}, in); });
}
void sum_onetbb(benchmark::State& state) {
    over_data(state, [](const auto& in) {
        return tbb::parallel_reduce(
            tbb::blocked_range<const float*>(in.data(), in.data() + in.size()), 0.0f,
            [](const auto& part, float total) { return std::accumulate(part.begin(), part.end(), total); },
            std::plus<>{});
    });
}
void sum_execution(benchmark::State& state) {
    over_data(state, [](const auto& in) { return std::reduce(std::execution::par_unseq, in.begin(), in.end()); });
}
void min_max_ours(benchmark::State& state) {
    over_data(state, [](const auto& in) { return min_max(host{}, in); });
}
void min_max_one(benchmark::State& state) {
    over_data(state, [](const auto& in) { return min_max(host{1}, in); });
}
void min_max_execution(benchmark::State& state) {
    over_data(state, [](const auto& in) {
        return *std::minmax_element(std::execution::par_unseq, in.begin(), in.end()).first;
    });
}
void arg_max_ours(benchmark::State& state) {
    over_data(state, [](const auto& in) { return arg_max(host{}, in); });
}
void arg_max_execution(benchmark::State& state) {
    over_data(state, [](const auto& in) { return *std::max_element(std::execution::par_unseq, in.begin(), in.end()); });
}

#if defined(_OPENMP)
void sum_openmp(benchmark::State& state) {
    over_data(state, [](const auto& in) {
        const float* const from = in.data();
        const std::size_t n = in.size();
        float total = 0;
#pragma omp parallel for simd reduction(+ : total)
        for (std::size_t k = 0; k < n; ++k) {
            total += from[k];
        }
        return total;
    });
}
void min_max_openmp(benchmark::State& state) {
    over_data(state, [](const auto& in) {
        const float* const from = in.data();
        const std::size_t n = in.size();
        float least = from[0], most = from[0];
#pragma omp parallel for simd reduction(min : least) reduction(max : most)
        for (std::size_t k = 0; k < n; ++k) {
            least = from[k] < least ? from[k] : least;
            most = from[k] > most ? from[k] : most;
        }
        return least + most;
    });
}
#endif

} // namespace

#define TIMED(name) BENCHMARK(name)->Unit(benchmark::kMillisecond)->UseRealTime()->Arg(1000)->Arg(100'000)->Arg(1 << 26)
BENCHMARK(reading)->Unit(benchmark::kMillisecond)->UseRealTime()->Arg(1 << 26);
TIMED(sum_ours);
TIMED(sum_one);
TIMED(sum_onetbb);
TIMED(sum_execution);
TIMED(min_max_ours);
TIMED(min_max_one);
TIMED(min_max_execution);
TIMED(arg_max_ours);
TIMED(arg_max_execution);
#if defined(_OPENMP)
TIMED(sum_openmp);
TIMED(min_max_openmp);
#endif
