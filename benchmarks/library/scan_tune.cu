// SPDX-License-Identifier: MIT
// Scans of 2^22 to 2^27 elements with other policies than the default, beside CUB's: microseconds in a graph of calls, cold
// cache. For whoever tunes tuning/scan.hpp. Needs a GPU with 6 GiB.
#include <cub/device/device_scan.cuh>

#include <cstdint>
#include <exception>
#include <string>

#include "benchmarks/library/bench.hpp"
#include "benchmarks/library/device_data.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"

using namespace warpfold;

namespace {

constexpr std::size_t pool_bytes = std::size_t{2} << 30;

struct room {
    measure::stream stream;
    measure::device_memory pool{pool_bytes};
    measure::device_memory peer_memory{std::size_t{64} << 20};
    workspace memory{std::size_t{64} << 20};
};

template <class T, class Policy>
void line(room& in, const char* type, const char* name, const Policy& policy) {
    std::printf("%s\t%s", type, name);
    for (unsigned e = 22; e <= 27; ++e) {
        const std::uint64_t n = (std::uint64_t{1} << e) * 4 / sizeof(T), bytes = n * sizeof(T);
        const auto copies = static_cast<unsigned>(pool_bytes / (2 * bytes));
        const auto from = [&](unsigned k) {
            return reinterpret_cast<T*>(static_cast<unsigned char*>(in.pool.data()) + 2 * bytes * k);
        };
        WARPFOLD_CUDA_CHECK(cudaMemset(in.pool.data(), 0, pool_bytes)); // results of another size are there
        const bench::call ours = [&](cudaStream_t s, unsigned k) {
            exclusive_scan(gpu{s, &in.memory}.with(policy), from(k), n, from(k) + n);
        };
        const bench::call peer = [&](cudaStream_t s, unsigned k) {
            std::size_t room = in.peer_memory.bytes();
            WARPFOLD_CUDA_CHECK(cub::DeviceScan::ExclusiveSum(in.peer_memory.data(), room, from(k), from(k) + n, n, s));
        };
        bench::fill<<<2048, 256>>>(from(0), n);
        bench::fill<<<2048, 256>>>(from(1), n);
        ours(in.stream.handle(), 0);
        peer(in.stream.handle(), 1);
        in.stream.synchronize();
        if (count_if(gpu{}, from(0) + n, n, bench::differs<T>{from(1) + n}) != 0) {
            std::printf("\twrong");
            continue;
        }
        const bench::times cold = bench::compare(in.stream, ours, peer, copies, std::max(copies, 4u), 7);
        std::printf("\t%.2f (%.3f)", cold.ours * 1e6, cold.ours / cold.peer);
    }
    std::printf("\n");
    std::fflush(stdout);
}

template <class T>
void lines(room& in, const char* type) {
    using tuning::scan_kernels;
    using tuning::scan_policy;
    line<T>(in, type, "default", scan_policy<>{});
    // Short arrays in the long kernel.
    const auto all_long = [](auto policy) {
        policy.small_block_max_tiles = policy.medium_block_max_tiles = policy.tall_max_tiles = 0;
        return policy;
    };
    line<T>(in, type, "long", all_long(scan_policy<>{}));
    const auto try_long = [&]<scan_kernels Kernels>(const char* name, scan_policy<Kernels> policy) {
        line<T>(in, type, name, all_long(policy));
    };
    try_long("long 256 x 8, 2 ahead, 4 stages, 1 block",
             scan_policy<scan_kernels{.long_stages = 4, .long_resident_blocks = 1, .long_tiles_ahead = 2}>{});
    try_long("long 512 x 4, 3 stages, 2 blocks",
             scan_policy<scan_kernels{.long_block_threads = 512, .long_runs_per_thread = 4}>{});
    try_long("long 512 x 8, 3 stages, 1 block",
             scan_policy<scan_kernels{.long_block_threads = 512, .long_resident_blocks = 1}>{});
    try_long(
        "long 1024 x 4, 3 stages, 1 block",
        scan_policy<scan_kernels{.long_block_threads = 1024, .long_runs_per_thread = 4, .long_resident_blocks = 1}>{});
    try_long("long 256 x 4, 3 stages, 4 blocks",
             scan_policy<scan_kernels{.long_runs_per_thread = 4, .long_resident_blocks = 4}>{});
    try_long("long 256 x 4, 5 stages, 2 blocks, 2 ahead",
             scan_policy<scan_kernels{.long_runs_per_thread = 4, .long_stages = 5, .long_tiles_ahead = 2}>{});
    try_long("long 128 x 8, 3 stages, 4 blocks",
             scan_policy<scan_kernels{.long_block_threads = 128, .long_resident_blocks = 4}>{});
    try_long("long 128 x 16, 3 stages, 2 blocks",
             scan_policy<scan_kernels{.long_block_threads = 128, .long_runs_per_thread = 16}>{});
    line<T>(in, type, "short, 256 threads, 16 rows",
            scan_policy<scan_kernels{.short_tall_rows = 16, .short_max_block_threads = 256}>{});
    line<T>(in, type, "short, 512 threads, 16 rows", scan_policy<scan_kernels{.short_tall_rows = 16}>{});
    line<T>(in, type, "short, 1024 threads, 4 rows",
            scan_policy<scan_kernels{.short_tall_rows = 4, .short_max_block_threads = 1024}>{});
    line<T>(in, type, "short, 1024 threads, 8 rows", scan_policy<scan_kernels{.short_max_block_threads = 1024}>{});
    line<T>(in, type, "short, prefetched from 1025 tiles on",
            scan_policy<scan_kernels{.short_resident_max_tiles = 1025}>{});
}

} // namespace

int main() {
    try {
        room in;
        bench::measure_and_print_ceilings(in.stream);
        std::printf("# type, policy, then for 2^22 to 2^27 elements of 4 bytes, or as many bytes: us (ours / CUB)\n");
        lines<std::int32_t>(in, "i32");
        lines<double>(in, "f64");
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
