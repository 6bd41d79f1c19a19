// SPDX-License-Identifier: MIT
// Exact sums beside plain sums, as lines of a table. The peer of "exact_sum" and "exact_dot" is CUB's sum, or its sum of
// products; the peer of "exact_sum/sum" is the library's reduce. Needs a GPU with 5 GiB.
#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

#include "benchmarks/library/bench.hpp"
#include "warpfold/exact_sum.cuh"
#include "warpfold/reduce.cuh"

using namespace warpfold;

namespace {

constexpr std::size_t pool_bytes = std::size_t{2} << 30;

// In [-1, 1), the same scaled by 1e-30, or any finite number of the format.
enum class data { even, small, any };

template <class T>
__global__ void fill(T* to, std::uint64_t n, data which) {
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::uint64_t{gridDim.x} * blockDim.x) {
        std::uint64_t bits = (k + 1) * 0x9E3779B97F4A7C15ull;
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ull;
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EBull;
        bits ^= bits >> 31;
        T x = static_cast<T>(static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-63);
        if (which == data::small) {
            x = x * static_cast<T>(1e-30);
        } else if (which == data::any) {
            const auto same = static_cast<typename detail::ieee<T>::bits>(bits);
            x = __builtin_bit_cast(T, same);
            x = x - x == 0 ? x : T(1);
        }
        to[k] = x;
    }
}

struct room {
    measure::stream stream;
    measure::device_memory pool{pool_bytes};
    measure::device_memory out{4096};
    measure::device_memory peer_memory{std::size_t{64} << 20};
    workspace memory{std::size_t{1} << 20};
};

template <class T>
struct products {
    __host__ __device__ T operator()(std::int64_t k) const { return a[k] * b[k]; }

    const T* a;
    const T* b;
};

// `factors` contiguous arrays of n elements each. For small n the result is compared with the host's.
template <class T, class Ours, class Peer>
void row(room& in, const std::string& what, const char* type, std::uint64_t n, unsigned factors, const Ours& ours,
         const Peer& peer) {
    const std::uint64_t bytes = factors * n * sizeof(T);
    const std::uint64_t apart = (bytes + 255) / 256 * 256;
    const auto copies = static_cast<unsigned>(std::clamp<std::uint64_t>(pool_bytes / apart, 1, 256));
    const auto at = [&](unsigned k) {
        return reinterpret_cast<const T*>(static_cast<const unsigned char*>(in.pool.data()) + k * apart);
    };
    T* const out = static_cast<T*>(in.out.data());
    const bench::call a = [&](cudaStream_t s, unsigned k) { ours(gpu{s, &in.memory}, at(k), n, out); };
    const bench::call b = [&](cudaStream_t s, unsigned k) { peer(s, at(k), n, out + 1); };
    a(in.stream.handle(), 0);
    in.stream.synchronize();
    if (n <= std::uint64_t{1} << 22) {
        std::vector<T> there(factors * n);
        T got{};
        WARPFOLD_CUDA_CHECK(cudaMemcpy(there.data(), at(0), bytes, cudaMemcpyDeviceToHost));
        WARPFOLD_CUDA_CHECK(cudaMemcpy(&got, out, sizeof(T), cudaMemcpyDeviceToHost));
        const T expected =
            factors == 1 ? exact_sum(host{}, there) : exact_dot(host{}, there.data(), there.data() + n, n);
        if (std::memcmp(&got, &expected, sizeof(T)) != 0) {
            std::printf("%s\t%s\t%llu\tresults differ\n", what.c_str(), type, static_cast<unsigned long long>(n));
            return;
        }
    }
    const auto calls = static_cast<unsigned>(std::clamp<std::uint64_t>((std::uint64_t{1} << 29) / apart, 1, 64));
    const bench::times cold = bench::compare(in.stream, a, b, copies, std::max(calls, copies > 8 ? 16u : 2u), 15);
    const bench::times warm = bench::compare(in.stream, a, b, 1, calls, 15);
    const bench::times stream = bench::streamed(in.stream, a, b, copies, 15);
    bench::print_row(what, type, n, static_cast<double>(bytes), stream, cold, warm);
}

template <class T>
void rows(room& in, const char* type, const std::vector<unsigned>& exponents) {
    const auto cub_sum = [&](cudaStream_t s, const T* x, std::uint64_t n, T* out) {
        std::size_t bytes = in.peer_memory.bytes();
        WARPFOLD_CUDA_CHECK(
            cub::DeviceReduce::Sum(in.peer_memory.data(), bytes, x, out, static_cast<std::int64_t>(n), s));
    };
    const auto cub_dot = [&](cudaStream_t s, const T* x, std::uint64_t n, T* out) {
        std::size_t bytes = in.peer_memory.bytes();
        const auto terms =
            thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), products<T>{x, x + n});
        WARPFOLD_CUDA_CHECK(
            cub::DeviceReduce::Sum(in.peer_memory.data(), bytes, terms, out, static_cast<std::int64_t>(n), s));
    };
    const auto plain = [&](cudaStream_t s, const T* x, std::uint64_t n, T* out) {
        reduce(gpu{s, &in.memory}, x, n, out);
    };
    const auto sum = [](const gpu& on, const T* x, std::uint64_t n, T* out) { exact_sum(on, x, n, out); };
    const auto dot = [](const gpu& on, const T* x, std::uint64_t n, T* out) { exact_dot(on, x, x + n, n, out); };
    for (const data which : {data::even, data::small, data::any}) {
        fill<<<2048, 256>>>(static_cast<T*>(in.pool.data()), pool_bytes / sizeof(T), which);
        WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
        const std::string name =
            which == data::even ? "" : (which == data::small ? " of small numbers" : " of any numbers");
        for (const unsigned e : exponents) {
            const std::uint64_t n = std::uint64_t{1} << e;
            if (which != data::even && e != 20 && e != exponents.back()) {
                continue;
            }
            row<T>(in, "exact_sum" + name, type, n, 1, sum, cub_sum);
            if (which == data::even) {
                row<T>(in, "exact_sum/sum", type, n, 1, sum, plain);
            }
            if (e == 20 || e == exponents.back()) {
                row<T>(in, "exact_dot" + name, type, n / 2, 2, dot, cub_dot);
            }
        }
    }
}

} // namespace

int main() {
    try {
        room in;
        bench::print_head(in.stream);
        const bool brief = std::getenv("WARPFOLD_BENCH_SHORT") != nullptr; // for a tuner: two sizes
        rows<float>(in, "f32",
                    brief ? std::vector<unsigned>{20, 28}
                          : std::vector<unsigned>{8, 10, 14, 16, 18, 20, 22, 24, 26, 28});
        rows<double>(in, "f64", brief ? std::vector<unsigned>{20, 27} : std::vector<unsigned>{10, 16, 20, 24, 27});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
