// SPDX-License-Identifier: MIT
// Another policy for single calls: how a sum is launched, found by trying at run time, and kernels of one's own.
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "warpfold/reduce.cuh"

using namespace warpfold;

// The numbers 0, 1, 2, ...
struct counting {
    __host__ __device__ std::int64_t operator[](std::uint64_t k) const { return static_cast<std::int64_t>(k); }
};

// Compile-time values: kernels with these are compiled for the calls that use them, beside the library's own.
constexpr tuning::reduce_kernels small_blocks{.max_block_threads = 256, .resident_blocks = 8};

int main() {
    constexpr std::uint64_t n = 1000000;
    try {
        // Run-time values: the device's defaults with one of them changed. No kernel is compiled for this.
        auto policy = tuning::reduce_policy<>::of(device_compute_capability());
        double best = 1e30;
        unsigned best_blocks = 0;
        for (const unsigned blocks : {1u, 2u, 4u}) {
            policy.blocks_per_multiprocessor = blocks;
            const auto start = std::chrono::steady_clock::now();
            const std::int64_t sum = reduce(gpu{}.with(policy), counting{}, n);
            const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
            if (time.count() < best) {
                best = time.count();
                best_blocks = blocks;
            }
            std::printf("%u blocks a multiprocessor: sum %lld\n", blocks, static_cast<long long>(sum));
        }
        std::fprintf(stderr, "the fastest had %u\n", best_blocks);

        const auto on = gpu{}.with(tuning::reduce_policy<small_blocks>{.one_block_max_elements = 4096});
        std::printf("blocks of 256 threads: sum %lld\n", static_cast<long long>(reduce(on, counting{}, n)));

        // A policy that cannot work is refused.
        (void)gpu{}.with(tuning::reduce_policy<>{.block_threads = 100});
    } catch (const invalid_argument& e) {
        std::printf("%s\n", e.what());
    } catch (const error& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
