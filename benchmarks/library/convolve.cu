// SPDX-License-Identifier: MIT
// The library's convolutions beside the lectures' tiled kernels, as lines of a table. Needs a GPU with 5 GiB.
// `convolve ours` skips the peers; `convolve once` calls everything once, for a profiler; `convolve large` checks arrays
// of more than 2^31 samples.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "benchmarks/library/bench.hpp"
#include "warpfold/convolve.cuh"

using namespace warpfold;

namespace {

constexpr std::size_t pool_bytes = std::size_t{2} << 30;

// --- the peers: a tile with its ghost elements in shared memory, the mask in constant memory -------------------------

constexpr int tile = 16;
__constant__ float lecture_mask[63 * 63];

template <class T>
__global__ void lecture_1d(const T* in, T* out, std::uint64_t n, int k) {
    extern __shared__ float line[];
    const std::int64_t start = std::int64_t{blockIdx.x} * blockDim.x - k / 2;
    for (int c = static_cast<int>(threadIdx.x); c < static_cast<int>(blockDim.x) + k - 1;
         c += static_cast<int>(blockDim.x)) {
        const std::int64_t at = start + c;
        line[c] = at >= 0 && at < static_cast<std::int64_t>(n) ? static_cast<float>(in[at]) : 0.0f;
    }
    __syncthreads();
    const std::uint64_t x = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (x < n) {
        float sum = 0;
        for (int j = 0; j < k; ++j) {
            sum += line[threadIdx.x + j] * lecture_mask[j];
        }
        out[x] = detail::sample_of<T>(sum);
    }
}

template <class T, class O>
__global__ void lecture_2d(const T* in, O* out, int width, int height, int kx, int ky, int first) {
    extern __shared__ float block[];
    const int columns = tile + kx - 1, rows = tile + ky - 1;
    const int x0 = static_cast<int>(blockIdx.x) * tile - kx / 2, y0 = static_cast<int>(blockIdx.y) * tile - ky / 2;
    for (int k = static_cast<int>(threadIdx.y * tile + threadIdx.x); k < rows * columns; k += tile * tile) {
        const int x = x0 + k % columns, y = y0 + k / columns;
        block[k] =
            x >= 0 && x < width && y >= 0 && y < height ? static_cast<float>(in[std::int64_t{y} * width + x]) : 0.0f;
    }
    __syncthreads();
    const int x = static_cast<int>(blockIdx.x) * tile + static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(blockIdx.y) * tile + static_cast<int>(threadIdx.y);
    if (x < width && y < height) {
        float sum = 0;
        for (int j = 0; j < ky; ++j) {
            for (int i = 0; i < kx; ++i) {
                sum += block[(static_cast<int>(threadIdx.y) + j) * columns + static_cast<int>(threadIdx.x) + i] *
                       lecture_mask[first + j * kx + i];
            }
        }
        out[std::int64_t{y} * width + x] = detail::sample_of<O>(sum);
    }
}

// ---------------------------------------------------------------------------------------------------------------------

template <class T>
__global__ void fill(T* data, std::uint64_t n) {
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::uint64_t{gridDim.x} * blockDim.x) {
        data[k] = detail::sample_of<T>(static_cast<float>(static_cast<int>((k * 0x9E3779B97F4A7C15ull >> 40) % 256)));
    }
}

struct room {
    measure::stream stream;
    measure::device_memory pool{pool_bytes};
    measure::device_memory peer_out{std::size_t{512} << 20};
    measure::device_memory between{std::size_t{512} << 20};
    workspace memory{std::size_t{272} << 20};
    bool ours_only = false;
    bool once = false;
};

// Masks of small numbers: for samples below 256 their sums are exact in float, so results are compared for equality.
std::vector<float> mask_of(std::uint64_t k) {
    std::vector<float> mask(k);
    for (std::uint64_t j = 0; j < k; ++j) {
        mask[j] = static_cast<float>(static_cast<int>(j * 7 % 5) - 2) * 0.125f;
    }
    return mask;
}

template <class T, class Ours, class Peer>
void row(room& in, const std::string& what, const char* type, std::uint64_t n, double operations,
         const std::vector<float>& mask, const Ours& ours, const Peer& peer) {
    const std::uint64_t bytes = n * sizeof(T);
    T* const base = static_cast<T*>(in.pool.data());
    const auto copies = static_cast<unsigned>(std::clamp<std::uint64_t>(pool_bytes / (2 * bytes), 1, 64));
    const auto from = [&](unsigned k) { return static_cast<const T*>(base + 2 * k * n); };
    const auto to = [&](unsigned k) { return base + (2 * k + 1) * n; };
    WARPFOLD_CUDA_CHECK(
        cudaMemcpyToSymbol(lecture_mask, mask.data(), std::min<std::size_t>(mask.size(), 63 * 63) * sizeof(float)));
    for (unsigned k = 0; k < copies; ++k) {
        fill<<<2048, 256, 0, in.stream.handle()>>>(const_cast<T*>(from(k)), n);
    }
    const bench::call a = [&](cudaStream_t s, unsigned k) { ours(gpu{s, &in.memory}, from(k), to(k)); };
    const bench::call b = [&](cudaStream_t s, unsigned k) {
        if (in.ours_only) {
            ours(gpu{s, &in.memory}, from(k), to(k));
        } else {
            peer(s, from(k), to(k));
        }
    };
    a(in.stream.handle(), 0);
    in.stream.synchronize();
    if (in.once) {
        return;
    }
    if (!in.ours_only) {
        peer(in.stream.handle(), from(0), static_cast<T*>(in.peer_out.data()));
        in.stream.synchronize();
        std::vector<T> x(n), y(n);
        WARPFOLD_CUDA_CHECK(cudaMemcpy(x.data(), to(0), bytes, cudaMemcpyDeviceToHost));
        WARPFOLD_CUDA_CHECK(cudaMemcpy(y.data(), in.peer_out.data(), bytes, cudaMemcpyDeviceToHost));
        for (std::uint64_t k = 0; k < n; ++k) {
            const float p = detail::number_of<float>(x[k]), q = detail::number_of<float>(y[k]);
            if (!(std::fabs(p - q) <= 1e-3f * (1.0f + std::fabs(q)))) {
                std::printf("%s\t%s\t%llu\tresults differ at %llu: %g, %g\n", what.c_str(), type,
                            static_cast<unsigned long long>(n), static_cast<unsigned long long>(k), p, q);
                return;
            }
        }
    }
    const unsigned samples = operations > 5e10 ? 5 : 15;
    const unsigned calls = operations > 5e10 ? 2 : std::max(copies > 8 ? 16u : 4u, 2u);
    const bench::times cold = bench::compare(in.stream, a, b, copies, calls, samples);
    const bench::times warm = bench::compare(in.stream, a, b, 1, calls, samples);
    const bench::times stream = bench::streamed(in.stream, a, b, copies, samples);
    std::printf("%s\t%s\t%llu", what.c_str(), type, static_cast<unsigned long long>(n));
    for (const bench::times& t : {stream, cold, warm}) {
        std::printf("\t%.2f\t%.2f\t%.3f", t.ours * 1e6, t.peer * 1e6, t.ours / t.peer);
    }
    std::printf("\t%.1f\t%.2f\n", 2.0 * static_cast<double>(bytes) / cold.ours * 1e-9, operations / cold.ours * 1e-12);
    std::fflush(stdout);
}

template <class T>
void line(room& in, const char* type, std::uint64_t n, std::uint64_t k) {
    const std::vector<float> mask = mask_of(k);
    row<T>(
        in, "1d " + std::to_string(k), type, n, 2.0 * static_cast<double>(n * k), mask,
        [&](const gpu& on, const T* from, T* to) { correlate(on, from, n, mask.data(), k, to); },
        [&](cudaStream_t s, const T* from, T* to) {
            lecture_1d<<<static_cast<unsigned>((n + 255) / 256), 256, (255 + k) * sizeof(float), s>>>(
                from, to, n, static_cast<int>(k));
        });
}

template <class T>
void square(room& in, const char* type, int side, int k) {
    const std::vector<float> mask = mask_of(static_cast<std::uint64_t>(k * k));
    const auto n = static_cast<std::uint64_t>(side) * static_cast<std::uint64_t>(side),
               edge = static_cast<std::uint64_t>(side);
    row<T>(
        in, "2d " + std::to_string(k), type, n, 2.0 * static_cast<double>(n) * k * k, mask,
        [&](const gpu& on, const T* from, T* to) {
            correlate(on, image{from, edge, edge}, image{mask.data(), std::uint64_t(k), std::uint64_t(k)},
                      image{to, edge, edge});
        },
        [&](cudaStream_t s, const T* from, T* to) {
            const dim3 grid(static_cast<unsigned>((side + tile - 1) / tile),
                            static_cast<unsigned>((side + tile - 1) / tile));
            lecture_2d<<<grid, dim3(tile, tile), (tile + k - 1) * (tile + k - 1) * sizeof(float), s>>>(from, to, side,
                                                                                                       side, k, k, 0);
        });
}

template <class T>
void separable(room& in, const char* type, int side, int k) {
    const std::vector<float> half = mask_of(static_cast<std::uint64_t>(k));
    std::vector<float> mask = half;
    mask.insert(mask.end(), half.begin(), half.end());
    const auto n = static_cast<std::uint64_t>(side) * static_cast<std::uint64_t>(side),
               edge = static_cast<std::uint64_t>(side);
    row<T>(
        in, "separable " + std::to_string(k), type, n, 4.0 * static_cast<double>(n) * k, mask,
        [&](const gpu& on, const T* from, T* to) {
            const auto length = static_cast<std::uint64_t>(k);
            correlate_separable(on, image{from, edge, edge}, half.data(), length, half.data(), length,
                                image{to, edge, edge});
        },
        [&](cudaStream_t s, const T* from, T* to) {
            const dim3 grid(static_cast<unsigned>((side + tile - 1) / tile),
                            static_cast<unsigned>((side + tile - 1) / tile));
            float* const between = static_cast<float*>(in.between.data());
            const std::size_t bytes = (tile + k - 1) * tile * sizeof(float);
            lecture_2d<<<grid, dim3(tile, tile), bytes, s>>>(from, between, side, side, k, 1, 0);
            lecture_2d<<<grid, dim3(tile, tile), bytes, s>>>(static_cast<const float*>(between), to, side, side, 1, k,
                                                             k);
        });
}

// More than 2^31 samples: a mask with a single 1 shifts them, and every result is compared with its sample.
__global__ void count_moved(const std::uint8_t* in, const std::uint8_t* out, std::int64_t n, std::int64_t by,
                            unsigned long long* wrong) {
    for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::int64_t{gridDim.x} * blockDim.x) {
        const std::int64_t at = (k + by + n) % n;
        if (out[k] != in[at]) {
            atomicAdd(wrong, 1ull);
        }
    }
}

int large_arrays() {
    constexpr std::uint64_t side = 46351, n = side * side; // 2^31 + 931,553
    measure::device_memory samples(n), results(n), counter(8);
    auto* const in = static_cast<std::uint8_t*>(samples.data());
    auto* const out = static_cast<std::uint8_t*>(results.data());
    auto* const wrong = static_cast<unsigned long long*>(counter.data());
    fill<<<2048, 256>>>(in, n);
    int failures = 0;
    const auto check = [&](const char* what, std::int64_t by) {
        unsigned long long found = 0;
        WARPFOLD_CUDA_CHECK(cudaMemset(wrong, 0, 8));
        count_moved<<<2048, 256>>>(in, out, static_cast<std::int64_t>(n), by, wrong);
        WARPFOLD_CUDA_CHECK(cudaMemcpy(&found, wrong, 8, cudaMemcpyDeviceToHost));
        WARPFOLD_CUDA_CHECK(cudaMemset(out, 0xa5, n));
        std::printf("%llu samples, %s: %llu results are wrong\n", static_cast<unsigned long long>(n), what, found);
        failures += found != 0;
    };
    const auto* const from = static_cast<const std::uint8_t*>(in);
    for (const std::uint64_t k : {9, 40}) {
        std::vector<float> mask(k);
        mask[k - 1] = 1;
        correlate(gpu{}, from, n, mask.data(), k, out, {border::wrap, outputs::same});
        check(k == 9 ? "1d 9" : "1d 40", static_cast<std::int64_t>(k - 1 - k / 2));
    }
    for (const std::uint64_t k : {6}) {
        std::vector<float> mask(k);
        mask[0] = 1;
        correlate(gpu{}, image{from, side, side}, image{mask.data(), 1, k}, image{out, side, side},
                  {border::wrap, outputs::same});
        check("2d 1 x 6", -static_cast<std::int64_t>(k / 2 * side));
    }
    return failures;
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (argc > 1 && std::strcmp(argv[1], "large") == 0) {
            return large_arrays();
        }
        room in;
        in.once = argc > 1 && std::strcmp(argv[1], "once") == 0;
        in.ours_only = argc > 1 && std::strcmp(argv[1], "ours") == 0;
        if (!in.once) {
            bench::print_head(in.stream, "peer", "\tTFLOP/s");
        }
        for (const std::uint64_t k : {3, 5, 9, 17, 33, 129, 1025}) {
            line<float>(in, "f32", std::uint64_t{1} << 26, k);
        }
        for (const int k : {3, 5, 7, 9, 11, 13, 15, 21, 31}) {
            square<float>(in, "f32", 8192, k);
        }
        for (const int k : {5, 15, 21, 31}) {
            separable<float>(in, "f32", 8192, k);
        }
        if (!in.once) {
            for (const unsigned e : {12, 16, 20, 22, 24}) {
                line<float>(in, "f32", std::uint64_t{1} << e, 9);
            }
            for (const int side : {256, 1024, 2048}) {
                square<float>(in, "f32", side, 5);
                separable<float>(in, "f32", side, 15);
            }
        }
        line<std::uint8_t>(in, "u8", std::uint64_t{1} << 28, 9);
        square<std::uint8_t>(in, "u8", 16384, 5);
        separable<std::uint8_t>(in, "u8", 8192, 15);
        line<half>(in, "f16", std::uint64_t{1} << 27, 9);
        square<half>(in, "f16", 8192, 5);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
