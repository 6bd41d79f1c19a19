// SPDX-License-Identifier: MIT
// The library's reductions and CUB's, side by side, as lines of a table. Needs a GPU with 5 GiB.
#include <cub/device/device_reduce.cuh>

#include <cstdint>
#include <cstring>
#include <exception>
#include <vector>

#include "benchmarks/library/bench.hpp"
#include "benchmarks/library/device_data.cuh"
#include "warpfold/reduce.cuh"

using namespace warpfold;

namespace {

constexpr std::size_t pool_bytes = std::size_t{2} << 30;

struct room {
    measure::stream stream;
    measure::device_memory pool{pool_bytes};
    measure::device_memory out{4096};
    measure::device_memory peer_out{4096};
    measure::device_memory peer_memory{std::size_t{64} << 20};
    workspace memory{std::size_t{1} << 20};
};

template <class R>
bool same(const R& a, const R& b) {
    return std::memcmp(&a, &b, sizeof(R)) == 0;
}
template <class T>
bool same(const located<T>& a, const located<T>& b) {
    return same(a.value, b.value) && a.index == b.index;
}

// Both calls write a result of type R. The results are compared before timing.
template <class T, class R, class Ours, class Peer>
void row(room& in, const char* what, const char* type, std::uint64_t n, const Ours& ours, const Peer& peer) {
    const std::uint64_t bytes = n * sizeof(T);
    const std::uint64_t apart = (bytes + 255) / 256 * 256;
    const auto copies = static_cast<unsigned>(std::clamp<std::uint64_t>(pool_bytes / apart, 1, 256));
    T* const data = static_cast<T*>(in.pool.data());
    const auto at = [&](unsigned k) {
        return reinterpret_cast<T*>(reinterpret_cast<unsigned char*>(data) + k * apart);
    };
    R* const out = static_cast<R*>(in.out.data());
    R* const peer_out = static_cast<R*>(in.peer_out.data());
    const bench::call a = [&](cudaStream_t s, unsigned k) { ours(gpu{s, &in.memory}, at(k), n, out); };
    const bench::call b = [&](cudaStream_t s, unsigned k) {
        std::size_t room = in.peer_memory.bytes();
        WARPFOLD_CUDA_CHECK(peer(in.peer_memory.data(), room, at(k), n, peer_out, s));
    };
    a(in.stream.handle(), 0);
    b(in.stream.handle(), 0);
    R x{}, y{};
    in.stream.synchronize();
    WARPFOLD_CUDA_CHECK(cudaMemcpy(&x, out, sizeof(R), cudaMemcpyDeviceToHost));
    WARPFOLD_CUDA_CHECK(cudaMemcpy(&y, peer_out, sizeof(R), cudaMemcpyDeviceToHost));
    if (!same(x, y)) {
        std::printf("%s\t%s\t%llu\tresults differ\n", what, type, static_cast<unsigned long long>(n));
        return;
    }
    const auto calls = static_cast<unsigned>(std::clamp<std::uint64_t>((std::uint64_t{1} << 29) / apart, 1, 64));
    const bench::times cold = bench::compare(in.stream, a, b, copies, std::max(calls, copies > 8 ? 16u : 2u), 15);
    const bench::times warm = bench::compare(in.stream, a, b, 1, calls, 15);
    const bench::times stream = bench::streamed(in.stream, a, b, copies, 25);
    bench::print_row(what, type, n, static_cast<double>(bytes), stream, cold, warm);
}

template <class T>
void sums(room& in, const char* type, const std::vector<unsigned>& exponents) {
    bench::fill<<<2048, 256>>>(static_cast<T*>(in.pool.data()), pool_bytes / sizeof(T));
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
    using R = accumulator_t<sum, T>;
    for (const unsigned e : exponents) {
        const std::uint64_t n = std::uint64_t{1} << e;
        if (n * sizeof(T) > pool_bytes) {
            continue;
        }
        row<T, R>(
            in, "sum", type, n, [](const gpu& on, T* data, std::uint64_t k, R* out) { reduce(on, data, k, out); },
            [](void* room, std::size_t& bytes, T* data, std::uint64_t k, R* out, cudaStream_t s) {
                return cub::DeviceReduce::Reduce(room, bytes, data, out, k, cuda::std::plus<>{}, R{}, s);
            });
    }
}

// An operation of a user, not declared commutative: ours folds strictly in order, CUB in any order.
struct add_in_order {
    template <class A>
    __host__ __device__ static constexpr A identity() {
        return A{};
    }
    template <class A>
    __host__ __device__ A operator()(const A& a, const A& b) const {
        return a + b;
    }
};

template <class T>
void ordered(room& in, const char* type, const std::vector<unsigned>& exponents) {
    bench::fill<<<2048, 256>>>(static_cast<T*>(in.pool.data()), pool_bytes / sizeof(T));
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
    for (const unsigned e : exponents) {
        row<T, T>(
            in, "in order", type, std::uint64_t{1} << e,
            [](const gpu& on, T* data, std::uint64_t k, T* out) { reduce(on, data, k, out, add_in_order{}); },
            [](void* room, std::size_t& bytes, T* data, std::uint64_t k, T* out, cudaStream_t s) {
                return cub::DeviceReduce::Reduce(room, bytes, data, out, k, add_in_order{}, T{}, s);
            });
    }
}

template <class T>
void others(room& in, const char* type, const std::vector<unsigned>& exponents) {
    bench::fill<<<2048, 256>>>(static_cast<T*>(in.pool.data()), pool_bytes / sizeof(T));
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
    for (const unsigned e : exponents) {
        const std::uint64_t n = std::uint64_t{1} << e;
        row<T, T>(
            in, "max", type, n,
            [](const gpu& on, T* data, std::uint64_t k, T* out) { reduce(on, data, k, out, maximum{}); },
            [](void* room, std::size_t& bytes, T* data, std::uint64_t k, T* out, cudaStream_t s) {
                return cub::DeviceReduce::Max(room, bytes, data, out, k, s);
            });
        row<T, located<T>>(
            in, "arg_max", type, n,
            [](const gpu& on, T* data, std::uint64_t k, located<T>* out) { arg_max(on, data, k, out); },
            [](void* room, std::size_t& bytes, T* data, std::uint64_t k, located<T>* out, cudaStream_t s) {
                return cub::DeviceReduce::ArgMax(room, bytes, data, &out->value,
                                                 reinterpret_cast<std::int64_t*>(&out->index),
                                                 static_cast<std::int64_t>(k), s);
            });
        row<T, extremes<T>>(
            in, "min_max", type, n,
            [](const gpu& on, T* data, std::uint64_t k, extremes<T>* out) { min_max(on, data, k, out); },
            [](void* room, std::size_t& bytes, T* data, std::uint64_t k, extremes<T>* out, cudaStream_t s) {
                const cudaError_t e1 = cub::DeviceReduce::Min(room, bytes, data, &out->smallest, k, s);
                return e1 != cudaSuccess ? e1 : cub::DeviceReduce::Max(room, bytes, data, &out->largest, k, s);
            });
    }
}

} // namespace

// `short`: only the sizes whose time is dominated by launches and blocks.
int main(int count, char** words) {
    const bool brief = count > 1 && std::strcmp(words[1], "short") == 0;
    try {
        room in;
        bench::print_head(in.stream);
        if (brief) {
            sums<std::int32_t>(in, "i32", {8, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24});
            sums<float>(in, "f32", {8, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24});
            others<float>(in, "f32", {8, 10, 12, 14, 16, 18, 20, 24});
            return 0;
        }
        const std::vector<unsigned> all{8,  10, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                        21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
        sums<std::int32_t>(in, "i32", all);
        sums<float>(in, "f32", all);
        sums<double>(in, "f64", {10, 16, 20, 22, 24, 26, 28});
        sums<std::uint8_t>(in, "u8", {10, 16, 20, 22, 24, 26, 28, 30});
        sums<std::int16_t>(in, "i16", {10, 16, 20, 22, 24, 26, 28, 30});
        ordered<std::int32_t>(in, "i32", {10, 16, 20, 24, 26, 28});
        ordered<double>(in, "f64", {10, 20, 24, 27});
        ordered<std::uint8_t>(in, "u8", {10, 20, 24, 30});
        others<float>(in, "f32", {10, 20, 24, 28});
        others<std::int32_t>(in, "i32", {10, 20, 24, 28});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
