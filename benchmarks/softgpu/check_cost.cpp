// SPDX-License-Identifier: MIT
// The slowdown of a kernel by checks, counters on, on one core. Launches with and without checks alternate, so that a
// busy machine slows both alike. `factor` is the median of the pairs' ratios; the time is that of a launch with checks.
//     ./dev bench --benchmark_filter=check:all
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>

#include "benchmarks/softgpu/kernels.hpp"

namespace {

using softgpu::bench::gpu;
using softgpu::bench::workload;

// Seconds of processor time of this thread.
double now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

gpu& gpu_with(softgpu::check::check_set checks) {
    static std::map<softgpu::check::check_set, std::unique_ptr<gpu>> made;
    auto& g = made[checks];
    if (g == nullptr) {
        g = std::make_unique<gpu>(checks);
    }
    return *g;
}

void run(benchmark::State& state, const workload& what, softgpu::check::check_set checks) {
    gpu& plain = gpu_with(0);
    gpu& checked = gpu_with(checks);
    const auto counted = what.run(plain, 1, true);
    const auto looked_at = what.run(checked, 1, true);
    for (const auto& r : {counted, looked_at}) {
        if (r.error) {
            state.SkipWithError(r.error.message.c_str());
            return;
        }
    }
    if (!checked.findings().empty()) {
        state.SkipWithError("the checks found something in a correct kernel");
        return;
    }
    std::vector<double> ratios;
    for (auto _ : state) {
        const double start = now();
        benchmark::DoNotOptimize(what.run(plain, 1, true));
        const double middle = now();
        benchmark::DoNotOptimize(what.run(checked, 1, true));
        const double end = now();
        ratios.push_back((end - middle) / (middle - start));
        state.SetIterationTime(end - middle);
    }
    std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
    state.counters["factor"] = ratios[ratios.size() / 2];
    const auto per_launch = static_cast<double>(counted.total.thread_instructions);
    state.counters["thread_instructions"] =
        benchmark::Counter(per_launch * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

} // namespace

int main(int argc, char** argv) {
    std::cout << "interpreter compiled for: " << softgpu::machine::instruction_set() << '\n';
    for (const workload& w : softgpu::bench::workloads()) {
        for (const char* const checks : {"memory", "init", "sync", "race", "all"}) {
            benchmark::RegisterBenchmark(
                (w.name + "/check:" + checks).c_str(),
                [&w, set = softgpu::check::parse_checks(checks)](benchmark::State& state) { run(state, w, set); })
                ->UseManualTime()
                ->Unit(benchmark::kMillisecond);
        }
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
