// SPDX-License-Identifier: MIT
// The library's histograms and CUB's, side by side, as lines of a table. Needs a GPU with 5 GiB.
#include <cub/device/device_histogram.cuh>

#include <array>
#include <cstdint>
#include <exception>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "benchmarks/library/bench.hpp"
#include "benchmarks/library/histogram_samples.cuh"
#include "warpfold/exact_histogram.cuh"
#include "warpfold/histogram.cuh"

using namespace warpfold;
using bench::shape;

namespace {

constexpr std::size_t pool_bytes = std::size_t{2} << 30;

struct room {
    measure::stream stream;
    measure::device_memory pool{pool_bytes};
    measure::device_memory out{std::size_t{64} << 20};
    measure::device_memory peer_out{std::size_t{64} << 20};
    measure::device_memory peer_memory;
    workspace memory{histogram_workspace(std::uint64_t{1} << 28, 1u << 24)};
};

// Of n samples of T, by ours(on, samples, counts) and peer(memory, bytes, samples, counts, stream).
template <class T, class Ours, class Peer>
void compared(room& in, const std::string& what, const char* type, std::uint64_t n, unsigned bins,
              std::uint64_t counted, const Ours& ours, const Peer& peer) {
    const std::uint64_t bytes = n * sizeof(T);
    const std::uint64_t apart = (bytes + 255) / 256 * 256;
    const auto copies = static_cast<unsigned>(std::clamp<std::uint64_t>(pool_bytes / apart, 1, 256));
    const auto at = [&](unsigned k) {
        return reinterpret_cast<const T*>(static_cast<const unsigned char*>(in.pool.data()) + k * apart);
    };
    auto* const out = static_cast<unsigned*>(in.out.data());
    auto* const peer_out = static_cast<int*>(in.peer_out.data());
    const bench::call a = [&](cudaStream_t s, unsigned k) { ours(gpu{s, &in.memory}, at(k), out); };
    const auto calls =
        std::max(static_cast<unsigned>(std::clamp<std::uint64_t>((std::uint64_t{1} << 29) / apart, 1, 64)),
                 copies > 8 ? 16u : 2u);
    const unsigned samples = bytes < std::uint64_t{1} << 28 ? 15 : (bins < 1 << 20 ? 7 : 3);
    a(in.stream.handle(), 0);

    // CUB gets its temporary memory beforehand. If CUB fails, ours is timed alone.
    std::size_t asked = 0;
    cudaError_t code = peer(nullptr, asked, at(0), peer_out, in.stream.handle());
    if (code == cudaSuccess && asked > in.peer_memory.bytes()) {
        in.peer_memory = measure::device_memory{};
        in.peer_memory = measure::device_memory{asked};
    }
    if (code == cudaSuccess) {
        code = peer(in.peer_memory.data(), asked, at(0), peer_out, in.stream.handle());
    }
    std::vector<unsigned> x(bins), y(bins);
    in.stream.synchronize();
    WARPFOLD_CUDA_CHECK(cudaMemcpy(x.data(), out, bins * 4, cudaMemcpyDeviceToHost));
    WARPFOLD_CUDA_CHECK(cudaMemcpy(y.data(), peer_out, bins * 4, cudaMemcpyDeviceToHost));
    const std::uint64_t all = std::accumulate(x.begin(), x.end(), std::uint64_t{0});
    if (all != counted) {
        std::printf("%s\t%s\t%llu\tours counts %llu\n", what.c_str(), type, static_cast<unsigned long long>(n),
                    static_cast<unsigned long long>(all));
        return;
    }
    // The two round floating-point samples at a bin's edge differently.
    std::uint64_t differ = 0;
    for (unsigned k = 0; k < bins; ++k) {
        differ += x[k] > y[k] ? x[k] - y[k] : y[k] - x[k];
    }
    if (code != cudaSuccess) {
        (void)cudaGetLastError();
        std::printf("# %s %s: CUB fails: %s\n", what.c_str(), type, cudaGetErrorName(code));
    } else if (differ != 0) {
        std::printf("# %s %s %llu: counts differ by %llu in all\n", what.c_str(), type,
                    static_cast<unsigned long long>(n), static_cast<unsigned long long>(differ));
    }
    const bench::call b = [&](cudaStream_t s, unsigned k) {
        if (code == cudaSuccess) {
            WARPFOLD_CUDA_CHECK(peer(in.peer_memory.data(), asked, at(k), peer_out, s));
        } else {
            a(s, k);
        }
    };
    bench::times cold = bench::compare(in.stream, a, b, copies, calls, samples);
    bench::times warm = bench::compare(in.stream, a, b, 1, calls, samples);
    bench::times stream = bench::streamed(in.stream, a, b, copies, samples);
    if (code != cudaSuccess) {
        cold.peer = warm.peer = stream.peer = std::numeric_limits<double>::quiet_NaN();
    }
    bench::print_row(what, type, n, static_cast<double>(bytes), stream, cold, warm);
}

template <class T>
void fill(room& in, double upper, shape which) {
    bench::fill<<<2048, 256>>>(static_cast<T*>(in.pool.data()), pool_bytes / sizeof(T), upper, which);
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
}

// `bins` bins over [0, upper).
template <class T, class Level>
void row(room& in, const char* type, unsigned exponent, unsigned bins, Level upper, shape which) {
    const std::uint64_t n = std::uint64_t{1} << exponent;
    fill<T>(in, static_cast<double>(upper), which);
    compared<T>(
        in, std::to_string(bins) + " bins " + bench::shape_names[static_cast<int>(which)], type, n, bins, n,
        [&](const gpu& on, const T* data, unsigned* out) {
            histogram(on, data, n, out, even_bins<Level>(0, upper, bins));
        },
        [&](void* room, std::size_t& bytes, const T* data, int* out, cudaStream_t s) {
            return cub::DeviceHistogram::HistogramEven(room, bytes, data, out, static_cast<int>(bins) + 1, Level{0},
                                                       upper, static_cast<std::int64_t>(n), s);
        });
}

// Bins between edges with growing distances.
void edge_row(room& in, unsigned exponent, unsigned bins) {
    const std::uint64_t n = std::uint64_t{1} << exponent;
    fill<float>(in, 1, shape::uniform);
    std::vector<float> edges(bins + 1);
    for (unsigned k = 0; k <= bins; ++k) {
        const double u = static_cast<double>(k) / bins;
        edges[k] = static_cast<float>(u * u);
    }
    const measure::device_memory there(edges.size() * sizeof(float));
    WARPFOLD_CUDA_CHECK(cudaMemcpy(there.data(), edges.data(), edges.size() * sizeof(float), cudaMemcpyHostToDevice));
    const auto* const first = static_cast<const float*>(there.data());
    compared<float>(
        in, std::to_string(bins) + " bins by edges", "f32", n, bins, n,
        [&](const gpu& on, const float* data, unsigned* out) {
            histogram(on, data, n, out, edge_bins<float>(first, bins + 1));
        },
        [&](void* room, std::size_t& bytes, const float* data, int* out, cudaStream_t s) {
            return cub::DeviceHistogram::HistogramRange(room, bytes, data, out, static_cast<int>(bins) + 1, first,
                                                        static_cast<std::int64_t>(n), s);
        });
}

// CUB makes an illegal access for so many bins; the peer is a kernel with global atomics.
__global__ void count_plainly(const std::int32_t* data, std::uint64_t n, std::uint32_t bins, int* counts) {
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::uint64_t{gridDim.x} * blockDim.x) {
        const auto bin = static_cast<std::uint32_t>(data[k]);
        if (bin < bins) {
            atomicAdd(counts + bin, 1);
        }
    }
}
void wide_row(room& in, unsigned exponent, unsigned bins, shape which) {
    const std::uint64_t n = std::uint64_t{1} << exponent;
    fill<std::int32_t>(in, bins, which);
    compared<std::int32_t>(
        in, std::to_string(bins) + " bins " + bench::shape_names[static_cast<int>(which)] + " (peer: atomics)", "i32",
        n, bins, n,
        [&](const gpu& on, const std::int32_t* data, unsigned* out) {
            histogram(on, data, n, out, even_bins<int>(0, static_cast<int>(bins), bins));
        },
        [&](void* room, std::size_t& bytes, const std::int32_t* data, int* out, cudaStream_t s) {
            if (room == nullptr) {
                bytes = 16;
                return cudaSuccess;
            }
            const cudaError_t code = cudaMemsetAsync(out, 0, std::size_t{bins} * sizeof(int), s);
            count_plainly<<<132 * 8, 256, 0, s>>>(data, n, bins, out);
            return code == cudaSuccess ? cudaGetLastError() : code;
        });
}

// The number of samples is in device memory.
void counted_row(room& in, unsigned exponent, unsigned bins) {
    const std::uint64_t n = std::uint64_t{1} << exponent;
    fill<std::int32_t>(in, bins, shape::uniform);
    const measure::device_memory number(sizeof n);
    WARPFOLD_CUDA_CHECK(cudaMemcpy(number.data(), &n, sizeof n, cudaMemcpyHostToDevice));
    const count_at count(static_cast<const std::uint64_t*>(number.data()), n);
    compared<std::int32_t>(
        in, std::to_string(bins) + " bins, count_at (peer: ours, n)", "i32", n, bins, n,
        [&](const gpu& on, const std::int32_t* data, unsigned* out) {
            histogram(on, data, count, out, even_bins<int>(0, static_cast<int>(bins), bins));
        },
        [&](void* room, std::size_t& bytes, const std::int32_t* data, int* out, cudaStream_t s) {
            if (room == nullptr) {
                bytes = 16;
            } else {
                histogram(gpu{s, &in.memory}, data, n, reinterpret_cast<unsigned*>(out),
                          even_bins<int>(0, static_cast<int>(bins), bins));
            }
            return cudaSuccess;
        });
}

// Exact sums of weights beside those whose order of additions is not fixed. Samples and weights are the same array.
void weighted_row(room& in, unsigned exponent, unsigned bins) {
    const std::uint64_t n = std::uint64_t{1} << exponent;
    fill<float>(in, 1, shape::uniform);
    const auto copies = static_cast<unsigned>(std::min<std::uint64_t>(pool_bytes / (n * sizeof(float)), 256));
    const auto at = [&](unsigned k) { return static_cast<const float*>(in.pool.data()) + k * n; };
    workspace memory(std::max(exact_histogram_workspace<float>(bins), histogram_workspace()));
    const even_bins<float> even(0, 1, bins);
    const bench::call ours = [&](cudaStream_t s, unsigned k) {
        exact_weighted_histogram(gpu{s, &memory}, at(k), at(k), n, static_cast<float*>(in.out.data()), even);
    };
    const bench::call peer = [&](cudaStream_t s, unsigned k) {
        weighted_histogram(gpu{s, &in.memory}, at(k), at(k), n, static_cast<float*>(in.peer_out.data()), even);
    };
    ours(in.stream.handle(), 0);
    in.stream.synchronize();
    bench::measure_and_print_row(in.stream, std::to_string(bins) + " bins, exact weights (peer: ours, not exact)",
                                 "f32", n, static_cast<double>(n * sizeof(float)), n * sizeof(float), copies, ours,
                                 peer);
}

// Three of four channels of 8 bits.
void channel_row(room& in, unsigned exponent) {
    const std::uint64_t n = std::uint64_t{1} << exponent, pixels = n / 4;
    fill<std::uint8_t>(in, 256, shape::uniform);
    const even_bins values(0, 256, 256);
    compared<std::uint8_t>(
        in, "256 bins, 3 of 4 channels", "u8", n, 768, 3 * pixels,
        [&](const gpu& on, const std::uint8_t* data, unsigned* out) {
            histogram_channels<4>(on, data, pixels, out, std::array{values, values, values});
        },
        [&](void* room, std::size_t& bytes, const std::uint8_t* data, int* out, cudaStream_t s) {
            const cuda::std::array<int*, 3> counts{out, out + 256, out + 512};
            const cuda::std::array<int, 3> levels{257, 257, 257}, lower{0, 0, 0}, upper{256, 256, 256};
            return cub::DeviceHistogram::MultiHistogramEven<4, 3>(room, bytes, data, counts, levels, lower, upper,
                                                                  static_cast<std::int64_t>(pixels), s);
        });
}

} // namespace

int main() {
    try {
        room in;
        bench::print_head(in.stream);
        constexpr shape shapes[] = {shape::uniform, shape::skewed, shape::constant};
        for (const unsigned exponent : {8u, 12u, 16u, 20u, 24u, 28u, 30u}) {
            row<std::uint8_t>(in, "u8", exponent, 256, 256, shape::uniform);
        }
        row<std::uint8_t>(in, "u8", 28, 256, 256, shape::skewed);
        row<std::uint8_t>(in, "u8", 28, 256, 256, shape::constant);
        row<std::int16_t>(in, "i16", 28, 1024, std::int16_t{32767}, shape::uniform);
        row<std::int64_t>(in, "i64", 27, 1024, std::int64_t{1} << 40, shape::uniform);
        row<double>(in, "f64", 27, 1024, 1.0, shape::uniform);
        edge_row(in, 28, 256);
        edge_row(in, 28, 16384);
        channel_row(in, 28);
        for (const unsigned bins : {256u, 65536u}) {
            counted_row(in, 16, bins);
            counted_row(in, 28, bins);
        }
        for (const unsigned bins : {64u, 2048u, 65536u}) {
            weighted_row(in, 20, bins);
            weighted_row(in, 26, bins);
        }
        for (const unsigned bins : {256u, 2048u, 16384u, 65536u, 1u << 20}) {
            for (const unsigned exponent : {8u, 16u, 20u, 24u}) {
                row<std::int32_t>(in, "i32", exponent, bins, static_cast<int>(bins), shape::uniform);
            }
            for (const shape which : shapes) {
                row<std::int32_t>(in, "i32", 28, bins, static_cast<int>(bins), which);
                row<float>(in, "f32", 28, bins, 1.0f, which);
            }
        }
        for (const unsigned bins : {100000u, 3000000u}) {
            for (const shape which : {shape::uniform, shape::zipf}) {
                row<std::int32_t>(in, "i32", 28, bins, static_cast<int>(bins), which);
            }
        }
        for (const shape which : {shape::uniform, shape::skewed}) {
            wide_row(in, 28, 1u << 24, which);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
