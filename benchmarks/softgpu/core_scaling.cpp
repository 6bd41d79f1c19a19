// SPDX-License-Identifier: MIT
// The speedup of a kernel on two cores, counters on. Launches on one and on two cores alternate. `speedup` is the median
// of the pairs' ratios of wall time; `best` is the shortest time of one core over the shortest of two, which is robust
// against other work on the machine. The time is that of a launch on two cores.
//     ./dev bench --benchmark_filter=cores
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "benchmarks/softgpu/kernels.hpp"

namespace {

using softgpu::bench::gpu;
using softgpu::bench::workload;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void run(benchmark::State& state, const workload& what) {
    static gpu g;
    if (const auto first = what.run(g, 2, true); first.error) {
        state.SkipWithError(first.error.message.c_str());
        return;
    }
    std::vector<double> ratios;
    double least_one = 1e9;
    double least_two = 1e9;
    for (auto _ : state) {
        const double start = now();
        benchmark::DoNotOptimize(what.run(g, 1, true));
        const double middle = now();
        benchmark::DoNotOptimize(what.run(g, 2, true));
        const double end = now();
        ratios.push_back((middle - start) / (end - middle));
        least_one = std::min(least_one, middle - start);
        least_two = std::min(least_two, end - middle);
        state.SetIterationTime(end - middle);
    }
    std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
    state.counters["speedup"] = ratios[ratios.size() / 2];
    state.counters["best"] = least_one / least_two;
}

} // namespace

int main(int argc, char** argv) {
    std::cout << "interpreter compiled for: " << softgpu::machine::instruction_set() << '\n';
    for (const workload& w : softgpu::bench::workloads()) {
        benchmark::RegisterBenchmark((w.name + "/cores:2").c_str(), [&w](benchmark::State& state) { run(state, w); })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
