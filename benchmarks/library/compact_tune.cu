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
    for (const unsigned e : {20u, 24u, 28u}) {
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
void line(const room& in, bool by_key) {
    const tuning::compact_tiles& tiles = by_key ? K.keyed : K.wide;
    std::printf("%u x %u bytes, %u blocks", K.block_threads, tiles.bytes_per_thread, tiles.resident_blocks);
    const tuning::compact_policy<K> policy;
    workspace memory(std::size_t{64} << 20);
    auto* const count = static_cast<std::uint32_t*>(in.count.data());
    const auto on = [&](cudaStream_t s) { return gpu{s, &memory}.with(policy); };
    if (!by_key) {
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
    } else {
        cell(in, [&](cudaStream_t s, std::uint64_t offset, std::uint64_t bytes) {
            run_length_encode(on(s), at<std::uint32_t>(in.values, offset), bytes / 4, at<std::uint32_t>(in.out, offset),
                              at<std::uint32_t>(in.folds, offset), count);
        });
        cell(in, [&](cudaStream_t s, std::uint64_t offset, std::uint64_t bytes) {
            reduce_by_key(on(s), at<std::uint32_t>(in.values, offset), bytes / 4, at<std::uint32_t>(in.in, offset),
                          at<std::uint32_t>(in.out, offset), at<std::uint32_t>(in.folds, offset), count);
        });
    }
    std::printf("\n");
    std::fflush(stdout);
}

} // namespace

int main() {
    try {
        const room in;
        bench::measure_and_print_ceilings(in.stream);
        fill<<<2048, 256>>>(at<std::uint32_t>(in.in, 0), at<std::uint32_t>(in.values, 0), array_bytes / 4);
        std::printf("# 2^22, 2^26, 2^30 bytes each: select half u32; few u64; half u8\n");
        line<tuning::compact_kernels{}>(in, false);
        line<tuning::compact_kernels{.wide = {64, 4}, .narrow = {32, 6}}>(in, false);
        line<tuning::compact_kernels{.wide = {128, 4}, .narrow = {64, 3}}>(in, false);
        line<tuning::compact_kernels{.block_threads = 128, .wide = {256, 4}, .narrow = {64, 8}}>(in, false);
        std::printf("# run_length_encode in runs of 50, reduce_by_key\n");
        line<tuning::compact_kernels{}>(in, true);
        line<tuning::compact_kernels{.keyed = {64, 2}}>(in, true);
        line<tuning::compact_kernels{.keyed = {64, 4}}>(in, true);
        line<tuning::compact_kernels{.block_threads = 512, .keyed = {64, 2}}>(in, true);
        line<tuning::compact_kernels{.block_threads = 192, .keyed = {64, 4}}>(in, true);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
