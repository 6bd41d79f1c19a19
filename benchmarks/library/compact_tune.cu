// SPDX-License-Identifier: MIT
// Compactions and reductions by key with other policies than the default: microseconds in a graph of calls, cold cache. For
// whoever tunes tuning/compact.hpp. Needs a GPU with 6 GiB.
#include <cstdint>
#include <exception>
#include <utility>

#include "benchmarks/library/bench.hpp"
#include "warpfold/by_key.cuh"
#include "warpfold/select.cuh"

using namespace warpfold;

namespace {

constexpr std::size_t array_bytes = std::size_t{1} << 30;

struct room {
    measure::stream stream;
    measure::device_memory in{array_bytes}, values{array_bytes}, out{array_bytes}, folds{array_bytes}, count{256};
    workspace memory{std::size_t{64} << 20};
};

__host__ __device__ std::uint32_t random_of(std::uint64_t k) {
    std::uint64_t x = (k + 1) * 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93ull;
    return static_cast<std::uint32_t>(x >> 32);
}
__global__ void fill(std::uint32_t* random, std::uint32_t* keys, std::uint64_t n) {
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::uint64_t{gridDim.x} * blockDim.x) {
        random[k] = random_of(k);
        keys[k] = random_of(k / 50);
    }
}

template <class T>
struct below {
    __host__ __device__ bool operator()(T x) const { return static_cast<std::uint32_t>(x) < limit; }
    std::uint32_t limit;
};

template <class Work>
void cell(const room& in, const Work& work) {
    for (const unsigned e : {10u, 14u, 16u, 18u, 20u, 22u, 24u, 28u}) {
        const std::uint64_t bytes = std::uint64_t{4} << e;
        const auto copies = static_cast<unsigned>(array_bytes / bytes > 16 ? 16 : array_bytes / bytes);
        const bench::call call = [&](cudaStream_t s, unsigned k) { work(s, k * bytes, bytes); };
        const bench::captured graph(in.stream, call, std::max(copies, 2u), copies);
        measure::event begin, end;
        std::vector<double> taken;
        for (unsigned k = 0; k < 6; ++k) {
            begin.record(in.stream.handle());
            graph.run(in.stream);
            end.record(in.stream.handle());
            end.synchronize();
            taken.push_back(end.seconds_since(begin) / std::max(copies, 2u));
        }
        std::printf("\t%.2f", measure::quantile(taken, 0.5) * 1e6);
    }
}

template <class T>
T* at(const measure::device_memory& memory, std::uint64_t offset) {
    return reinterpret_cast<T*>(static_cast<unsigned char*>(memory.data()) + offset);
}

template <tuning::compact_kernels K>
void selections(const room& in) {
    std::printf("%u x %u bytes, %u blocks; short arrays: %u bytes", K.block_threads, K.wide.bytes_per_thread,
                K.wide.resident_blocks, K.short_arrays.bytes_per_thread);
    workspace memory(std::size_t{64} << 20);
    auto* const count = static_cast<std::uint32_t*>(in.count.data());
    const auto on = [&](cudaStream_t s) { return gpu{s, &memory}.with(tuning::compact_policy<K>{}); };
    cell(in, [&](cudaStream_t s, std::uint64_t offset, std::uint64_t bytes) {
        select(on(s), at<std::uint32_t>(in.in, offset), bytes / 4, at<std::uint32_t>(in.out, offset), count,
               below<std::uint32_t>{1u << 31});
    });
    cell(in, [&](cudaStream_t s, std::uint64_t offset, std::uint64_t bytes) {
        select(on(s), at<std::uint64_t>(in.in, offset), bytes / 8, at<std::uint64_t>(in.out, offset), count,
               below<std::uint64_t>{1u << 26});
    });
    cell(in, [&](cudaStream_t s, std::uint64_t offset, std::uint64_t bytes) {
        select(on(s), at<std::uint8_t>(in.in, offset), bytes, at<std::uint8_t>(in.out, offset), count,
               below<std::uint8_t>{128});
    });
    std::printf("\n");
    std::fflush(stdout);
}

constexpr tuning::compact_kernels in_ranges(tuning::range_tiles tiles) { return {.ranges = tiles, .lengths = tiles}; }

template <tuning::compact_kernels K>
void reductions(const room& in, std::uint64_t ranges_min_bytes) {
    if (ranges_min_bytes == 0) {
        std::printf("ranges: %u x %u bytes, %u blocks", K.ranges.block_threads, K.ranges.bytes_per_thread,
                    K.ranges.resident_blocks);
    } else {
        std::printf("tiles: %u x %u bytes, %u blocks", K.block_threads, K.keyed.bytes_per_thread,
                    K.keyed.resident_blocks);
    }
    workspace memory(std::size_t{64} << 20);
    auto* const count = static_cast<std::uint32_t*>(in.count.data());
    const auto on = [&](cudaStream_t s) {
        return gpu{s, &memory}.with(
            tuning::compact_policy<K>{.ranges_min_bytes = ranges_min_bytes, .ranges_min_key_bytes = ranges_min_bytes});
    };
    cell(in, [&](cudaStream_t s, std::uint64_t offset, std::uint64_t bytes) {
        run_length_encode(on(s), at<std::uint32_t>(in.values, offset), bytes / 4, at<std::uint32_t>(in.out, offset),
                          at<std::uint32_t>(in.folds, offset), count);
    });
    cell(in, [&](cudaStream_t s, std::uint64_t offset, std::uint64_t bytes) {
        reduce_by_key(on(s), at<std::uint32_t>(in.values, offset), bytes / 4, at<std::uint32_t>(in.in, offset),
                      at<std::uint32_t>(in.out, offset), at<std::uint32_t>(in.folds, offset), count);
    });
    std::printf("\n");
    std::fflush(stdout);
}

template <tuning::scan_kernels K>
void scans_by_key(const room& in, unsigned blocks_before_growth) {
    std::printf("%u x %u bytes, %u blocks, growth at %u", K.general_block_threads, K.general_max_bytes_per_thread,
                K.general_resident_blocks, blocks_before_growth);
    workspace memory(std::size_t{64} << 20);
    cell(in, [&](cudaStream_t s, std::uint64_t offset, std::uint64_t bytes) {
        inclusive_scan_by_key(
            gpu{s, &memory}.with(tuning::scan_policy<K>{.general_blocks_before_growth = blocks_before_growth}),
            at<std::uint32_t>(in.values, offset), bytes / 4, at<std::uint32_t>(in.in, offset),
            at<std::uint32_t>(in.out, offset));
    });
    std::printf("\n");
    std::fflush(stdout);
}

} // namespace

int main() {
    try {
        const room in;
        bench::measure_and_print_ceilings(in.stream);
        fill<<<2048, 256>>>(at<std::uint32_t>(in.in, 0), at<std::uint32_t>(in.values, 0), array_bytes / 4);
        using kernels = tuning::compact_kernels;
        std::printf("# 2^12, 2^16, 2^18, 2^20, 2^22, 2^24, 2^26, 2^30 bytes each: select half u32; few u64; half u8\n");
        selections<kernels{}>(in);
        selections<kernels{.short_arrays = {16, 4}}>(in);
        selections<kernels{.short_arrays = {64, 3}}>(in);
        selections<kernels{.wide = {64, 4}, .narrow = {32, 6}}>(in);
        selections<kernels{.wide = {128, 4}, .narrow = {64, 3}}>(in);
        selections<kernels{.block_threads = 128, .wide = {256, 4}, .narrow = {64, 8}}>(in);
        using scan_kernels = tuning::scan_kernels;
        std::printf("# inclusive_scan_by_key, runs of 50\n");
        scans_by_key<scan_kernels{}>(in, 528);
        scans_by_key<scan_kernels{.general_resident_blocks = 3}>(in, 528);
        scans_by_key<scan_kernels{.general_max_bytes_per_thread = 160, .general_resident_blocks = 4}>(in, 528);
        scans_by_key<scan_kernels{.general_max_bytes_per_thread = 160, .general_resident_blocks = 3}>(in, 528);
        scans_by_key<scan_kernels{.general_block_threads = 128, .general_resident_blocks = 8}>(in, 792);
        scans_by_key<scan_kernels{
            .general_block_threads = 128, .general_max_bytes_per_thread = 256, .general_resident_blocks = 5}>(in, 528);
        scans_by_key<scan_kernels{.general_max_bytes_per_thread = 64, .general_resident_blocks = 6}>(in, 792);
        std::printf("# run_length_encode in runs of 50, reduce_by_key\n");
        reductions<kernels{}>(in, ~std::uint64_t{0});
        reductions<kernels{.keyed = {64, 4}}>(in, ~std::uint64_t{0});
        reductions<kernels{.block_threads = 128, .keyed = {64, 6}}>(in, ~std::uint64_t{0});
        reductions<in_ranges({320, 128})>(in, 0);
        reductions<in_ranges({384, 128})>(in, 0);
        reductions<in_ranges({224, 128, 2})>(in, 0);
        reductions<in_ranges({480, 64})>(in, 0);
        reductions<in_ranges({768, 64})>(in, 0);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
