// SPDX-License-Identifier: MIT
// The host's time of a call with a workspace on a stream, without a graph: until the call returns, on an idle GPU. The peer is
// a launch of an empty kernel.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "benchmarks/library/bench.hpp"
#include "benchmarks/library/device_data.cuh"
#include "measure/device.hpp"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"

namespace {

using namespace warpfold;

__global__ void nothing() {}

// Seconds a call: the least mean of a few calls, after which the stream is waited for.
template <class Call>
double host_seconds(const measure::stream& on, const Call& call) {
    constexpr int repetitions = 200, together = 5;
    double least = 1;
    for (int k = 0; k < repetitions; ++k) {
        const auto begin = std::chrono::steady_clock::now();
        for (int j = 0; j < together; ++j) {
            call();
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        least = std::min(least, took.count() / together);
        WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.handle()));
    }
    return least;
}

void print(const char* what, std::uint64_t n, double ours, double launch) {
    std::printf("%s\ti32\t%llu\t%.2f\t%.2f\n", what, static_cast<unsigned long long>(n), ours * 1e6, launch * 1e6);
}

} // namespace

int main() {
    const measure::stream on;
    bench::measure_and_print_ceilings(on);
    std::printf("# what\ttype\tn\thost us\ta launch us\n");
    constexpr std::uint64_t most = 10000;
    const measure::device_memory elements(most * sizeof(std::int32_t)), results(most * sizeof(std::int32_t));
    auto* const in = static_cast<std::int32_t*>(elements.data());
    auto* const out = static_cast<std::int32_t*>(results.data());
    bench::fill<<<64, 256, 0, on.handle()>>>(in, most);
    WARPFOLD_CUDA_CHECK(cudaGetLastError());
    workspace memory(std::size_t{1} << 20);
    const gpu target{on.handle(), &memory};
    for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{1000}, most}) {
        const double launch = host_seconds(on, [&] { nothing<<<1, 32, 0, on.handle()>>>(); });
        print("sum", n, host_seconds(on, [&] { reduce(target, in, n, out); }), launch);
        print("max", n, host_seconds(on, [&] { reduce(target, in, n, out, maximum{}); }), launch);
        print("inclusive_scan", n, host_seconds(on, [&] { inclusive_scan(target, in, n, out); }), launch);
    }
    return 0;
}
