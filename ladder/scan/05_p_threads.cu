// SPDX-License-Identifier: MIT
// The time of the way up for P threads: one block of 32 to 1024 threads adds up the same n elements. Each thread adds its
// share in a loop, then all threads add the P sums in log2(P) exchanges. (759 "Parallel Reduction Complexity".)
#include <algorithm>
#include <numeric>
#include <vector>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/data.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/scan/steps.hpp"

namespace warpfold::ladder::scan {

namespace {

constexpr unsigned fewest = 32;
constexpr unsigned most = 1024;
constexpr unsigned sizes = 6; // of the block: powers of two between these

__device__ int own_share(const int* input, unsigned n) {
    int sum = 0;
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        sum += input[i];
    }
    return sum;
}

__global__ void sum_by_exchanges(int* output, const int* input, unsigned n) {
    __shared__ int sums[most];
    int sum = own_share(input, n);
#pragma unroll 1
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        sums[threadIdx.x] = sum;
        __syncthreads();
        sum += sums[threadIdx.x ^ stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *output = sum;
    }
}

// Every thread adds all P sums, one after the other.
__global__ void sum_one_by_one(int* output, const int* input, unsigned n) {
    __shared__ int sums[most];
    sums[threadIdx.x] = own_share(input, n);
    __syncthreads();
    int sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < blockDim.x; ++k) {
        sum += sums[k];
    }
    if (threadIdx.x == 0) {
        *output = sum;
    }
}

void run_each(const engine::stage& on, const char* name, void (*kernel)(int*, const int*, unsigned)) {
    int* out = on.output<int>();
    for (unsigned threads = fewest; threads <= most; threads *= 2) {
        engine::launch(on, name, kernel, 1, threads, 0, out++, on.input<int>(), static_cast<unsigned>(on.n));
    }
}

void run(const engine::stage& on) { run_each(on, "sum_by_exchanges", sum_by_exchanges); }
void run_one_by_one(const engine::stage& on) { run_each(on, "sum_one_by_one", sum_one_by_one); }

engine::sample sums(std::uint64_t n, std::uint64_t seed) {
    const auto values = engine::numbers(n, seed, 9);
    const std::int32_t sum = std::accumulate(values.begin(), values.end(), 0);
    return {n, {engine::bytes_of(values)}, engine::bytes_of(std::vector<std::int32_t>(sizes, sum))};
}

// All warps of a block do the same, so that a warp's instructions are the time. They are so many for each of N/P + log2(N),
// whatever P is.
verdict time_of_p_threads(const engine::evidence& e) {
    if (e.n() < 4 * most) {
        return unseen("needs more elements than threads");
    }
    std::vector<double> quotients;
    for (const auto& launch : e.step.launches) {
        const double threads = launch.block[0];
        const double instructions = static_cast<double>(launch.total.warp_instructions) * 32 / threads;
        quotients.push_back(instructions / (static_cast<double>(e.n()) / threads + engine::log2_up(e.n())));
    }
    const auto [least, largest] = std::minmax_element(quotients.begin(), quotients.end());
    return seen(*largest < 2 * *least, "instructions of a warp over N/P + log2(N), for N = " + std::to_string(e.n()) +
                                           " and P = 32, 64, ... 1024: " + list(quotients, 1));
}

} // namespace

engine::step_definition p_threads() {
    return {.about = {"P threads", "a sum by 32 to 1024 threads", "ladder/scan/05_p_threads.cu",
                      "shares of N/P elements, then log2(P) exchanges", "759, Parallel Reduction Complexity"},
            .data = sums,
            .run = run,
            .size = engine::at_most(1u << 16),
            .claims = {{"time complexity, for P threads physically in parallel: O(N/P + log N)",
                        "759, Parallel Reduction Complexity",
                        engine::counted(time_of_p_threads)
                            .refuted_by(engine::mutant("the P sums added one by one", run_one_by_one))}}};
}

} // namespace warpfold::ladder::scan
