// SPDX-License-Identifier: MIT
// Thread-instructions per second of the interpreter on one core, counters on and off.
//     ./dev bench --benchmark_filter=tree
#include <benchmark/benchmark.h>

#include <iostream>

#include "benchmarks/softgpu/kernels.hpp"

namespace {

using softgpu::bench::gpu;
using softgpu::bench::workload;

gpu& the_gpu() {
    static gpu one;
    return one;
}

void run(benchmark::State& state, const workload& what) {
    gpu& g = the_gpu();
    const auto counted = what.run(g, 1, true);
    if (counted.error) {
        state.SkipWithError(counted.error.message.c_str());
        return;
    }
    const bool count = state.range(0) != 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(what.run(g, 1, count));
    }
    const auto per_launch = static_cast<double>(counted.total.thread_instructions);
    state.counters["thread_instructions"] =
        benchmark::Counter(per_launch * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
    state.counters["lanes"] = counted.total.average_active_lanes();
}

} // namespace

int main(int argc, char** argv) {
    std::cout << "interpreter compiled for: " << softgpu::machine::instruction_set() << '\n';
    for (const workload& w : softgpu::bench::workloads()) {
        benchmark::RegisterBenchmark(w.name.c_str(), [&w](benchmark::State& state) { run(state, w); })
            ->ArgName("counters")
            ->Arg(1)
            ->Arg(0)
            ->Unit(benchmark::kMillisecond);
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
