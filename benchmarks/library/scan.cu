// SPDX-License-Identifier: MIT
// The library's scans and CUB's, side by side, as lines of a table. Needs a GPU with 12 GiB.
#include <cub/device/device_scan.cuh>

#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "benchmarks/library/bench.hpp"
#include "benchmarks/library/device_data.cuh"
#include "warpfold/scan.cuh"

using namespace warpfold;

namespace {

constexpr std::size_t pool_bytes = std::size_t{4} << 30;

// Counts differing bytes of two arrays.
__global__ void differences(const uint4* a, const uint4* b, std::uint64_t n, unsigned long long* count) {
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::uint64_t{gridDim.x} * blockDim.x) {
        const uint4 x = a[k], y = b[k];
        if (x.x != y.x || x.y != y.y || x.z != y.z || x.w != y.w) {
            atomicAdd(count, 1ull);
        }
    }
}

struct room {
    measure::stream stream;
    measure::device_memory in{pool_bytes};
    measure::device_memory out{pool_bytes};
    measure::device_memory peer_out{pool_bytes};
    measure::device_memory peer_memory{std::size_t{64} << 20};
    measure::device_memory count{256};
    workspace memory{std::size_t{16} << 20};
};

struct settings {
    std::vector<unsigned> exponents;
    unsigned samples = 15;
    std::string types;
};

template <class T, class U, class Ours, class Peer>
void row(room& in, const settings& how, const char* what, const char* type, std::uint64_t n, const Ours& ours,
         const Peer& peer) {
    const std::uint64_t bytes = n * (sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U));
    const std::uint64_t apart = (bytes + 255) / 256 * 256;
    const auto copies = static_cast<unsigned>(std::clamp<std::uint64_t>((std::size_t{1} << 30) / apart, 1, 256));
    const auto at = [&](const measure::device_memory& pool, unsigned k) {
        return static_cast<unsigned char*>(pool.data()) + k * apart;
    };
    const bench::call a = [&](cudaStream_t s, unsigned k) {
        ours(gpu{s, &in.memory}, reinterpret_cast<const T*>(at(in.in, k)), n, reinterpret_cast<U*>(at(in.out, k)));
    };
    const bench::call b = [&](cudaStream_t s, unsigned k) {
        std::size_t room = in.peer_memory.bytes();
        WARPFOLD_CUDA_CHECK(peer(in.peer_memory.data(), room, reinterpret_cast<const T*>(at(in.in, k)),
                                 reinterpret_cast<U*>(at(in.peer_out, k)), n, s));
    };
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(in.out.data(), 1, apart, in.stream.handle()));
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(in.peer_out.data(), 1, apart, in.stream.handle()));
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(in.count.data(), 0, 8, in.stream.handle()));
    a(in.stream.handle(), 0);
    b(in.stream.handle(), 0);
    auto* const count = static_cast<unsigned long long*>(in.count.data());
    differences<<<1024, 256, 0, in.stream.handle()>>>(static_cast<const uint4*>(in.out.data()),
                                                      static_cast<const uint4*>(in.peer_out.data()), apart / 16, count);
    unsigned long long different = 0;
    in.stream.synchronize();
    WARPFOLD_CUDA_CHECK(cudaMemcpy(&different, count, 8, cudaMemcpyDeviceToHost));
    if (different != 0) {
        std::printf("%s\t%s\t%llu\tresults differ\n", what, type, static_cast<unsigned long long>(n));
        return;
    }
    const auto calls = static_cast<unsigned>(std::clamp<std::uint64_t>((std::uint64_t{1} << 29) / apart, 1, 64));
    const bench::times cold =
        bench::compare(in.stream, a, b, copies, std::max(calls, copies > 8 ? 16u : 2u), how.samples);
    const bench::times warm = bench::compare(in.stream, a, b, 1, calls, how.samples);
    const bench::times stream = bench::streamed(in.stream, a, b, copies, 2 * how.samples);
    bench::print_row(what, type, n, static_cast<double>(n) * (sizeof(T) + sizeof(U)), stream, cold, warm);
}

template <class T, class U = T>
void sums(room& in, const settings& how, const char* type, bool both = false) {
    if (!how.types.empty() && how.types.find(std::string(type) + ",") == std::string::npos) {
        return;
    }
    bench::fill<<<2048, 256>>>(static_cast<T*>(in.in.data()), pool_bytes / sizeof(T));
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
    for (const unsigned e : how.exponents) {
        const std::uint64_t n = std::uint64_t{1} << e;
        if (n * (sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U)) > pool_bytes) {
            continue;
        }
        row<T, U>(
            in, how, "exclusive_scan", type, n,
            [](const gpu& on, const T* data, std::uint64_t k, U* out) { exclusive_scan(on, data, k, out); },
            [](void* room, std::size_t& bytes, const T* data, U* out, std::uint64_t k, cudaStream_t s) {
                return cub::DeviceScan::ExclusiveScan(room, bytes, data, out, cuda::std::plus<U>{}, U{}, k, s);
            });
        if (both) {
            row<T, U>(
                in, how, "inclusive_scan", type, n,
                [](const gpu& on, const T* data, std::uint64_t k, U* out) { inclusive_scan(on, data, k, out); },
                [](void* room, std::size_t& bytes, const T* data, U* out, std::uint64_t k, cudaStream_t s) {
                    return cub::DeviceScan::InclusiveSum(room, bytes, data, out, k, s);
                });
        }
    }
}

} // namespace

// scan [TYPES [SAMPLES [EXPONENT ...]]], for instance: scan i32,u8, 9 20 28
int main(int argc, char** argv) {
    try {
        settings how;
        how.types = argc > 1 ? argv[1] : "";
        how.samples = argc > 2 ? static_cast<unsigned>(std::stoul(argv[2])) : 15;
        for (int k = 3; k < argc; ++k) {
            how.exponents.push_back(static_cast<unsigned>(std::stoul(argv[k])));
        }
        if (how.exponents.empty()) {
            how.exponents = {8, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30};
        }
        room in;
        bench::print_head(in.stream, "CUB", "", std::size_t{2} << 30);
        constexpr tuning::scan_kernels k = tuning::scan_policy<>::kernels;
        std::printf("# threads %u, bytes %u, blocks %u\n", k.general_block_threads, k.general_max_bytes_per_thread,
                    k.general_resident_blocks);
        sums<std::int32_t>(in, how, "i32");
        sums<double>(in, how, "f64");
        sums<std::uint8_t>(in, how, "u8");
        sums<float>(in, how, "f32", true);
        sums<std::int16_t>(in, how, "i16");
        sums<std::int32_t, std::int64_t>(in, how, "i32-i64");
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
