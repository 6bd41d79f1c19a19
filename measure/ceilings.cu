// SPDX-License-Identifier: MIT
// The read ceiling: the best of several shapes of a kernel of 16-byte loads, whose values are folded only so that the
// compiler cannot remove them. The copy ceiling: cudaMemcpyAsync from device to device.
#include <algorithm>
#include <cstdint>

#include "measure/ceilings.hpp"

namespace warpfold::measure {

namespace {

constexpr unsigned threads = 256;

// Varying words, so that no pattern helps the memory or the power budget.
__global__ void fill(uint4* words, std::uint64_t count) {
    const std::uint64_t k = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (k < count) {
        const auto mixed = [k](unsigned salt) {
            return static_cast<unsigned>((k * 4 + salt) * 0x9E3779B97F4A7C15ull >> 29);
        };
        words[k] = {mixed(0), mixed(1), mixed(2), mixed(3)};
    }
}

// Each block reads tiles of threads * Unrolled words, with all loads of a thread in flight together. It writes only if
// they fold to an unlikely value.
template <unsigned Unrolled>
__global__ void __launch_bounds__(threads)
    read_all(const uint4* words, std::uint64_t count, unsigned unlikely, unsigned* out) {
    constexpr std::uint64_t tile = std::uint64_t{threads} * Unrolled;
    unsigned folded = 0;
    for (std::uint64_t first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
        if (first + tile <= count) {
            uint4 held[Unrolled];
#pragma unroll
            for (unsigned j = 0; j < Unrolled; ++j) {
                held[j] = __ldcs(&words[first + j * threads + threadIdx.x]);
            }
#pragma unroll
            for (unsigned j = 0; j < Unrolled; ++j) {
                folded ^= held[j].x ^ held[j].y ^ held[j].z ^ held[j].w;
            }
        } else {
            for (std::uint64_t k = first + threadIdx.x; k < count; k += threads) {
                const uint4 held = __ldcs(&words[k]);
                folded ^= held.x ^ held.y ^ held.z ^ held.w;
            }
        }
    }
    if (folded == unlikely) {
        *out = folded;
    }
}

template <unsigned Unrolled>
double read_rate(const stream& on, timer& clock, const device_memory& from, unsigned* out, unsigned blocks,
                 const effort& how) {
    const std::uint64_t words = from.bytes() / 16;
    const std::uint64_t tiles = (words + threads * Unrolled - 1) / (threads * Unrolled);
    const auto grid = static_cast<unsigned>(blocks == 0 || blocks > tiles ? tiles : blocks);
    const auto read = [&] {
        read_all<Unrolled>
            <<<grid, threads, 0, on.handle()>>>(static_cast<const uint4*>(from.data()), words, 0x13579bdfu, out);
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
    };
    return gigabytes_per_second(static_cast<double>(from.bytes()), clock.cold(read, how).median);
}

} // namespace

ceilings measure_ceilings(const stream& on, timer& clock, unsigned multiprocessors, std::size_t bytes,
                          const effort& how) {
    ceilings result;
    result.bytes = bytes / 32 * 32;
    const device_memory from(result.bytes);
    const device_memory out(sizeof(unsigned));
    fill<<<static_cast<unsigned>((result.bytes / 16 + threads - 1) / threads), threads, 0, on.handle()>>>(
        static_cast<uint4*>(from.data()), result.bytes / 16);
    WARPFOLD_CUDA_CHECK(cudaGetLastError());
    auto* const folded = static_cast<unsigned*>(out.data());
    // Shapes: one tile per block, and persistent blocks.
    for (const unsigned blocks : {0u, multiprocessors * 4, multiprocessors * 8}) {
        result.read_gb_per_s = std::max({result.read_gb_per_s, read_rate<2>(on, clock, from, folded, blocks, how),
                                         read_rate<4>(on, clock, from, folded, blocks, how),
                                         read_rate<8>(on, clock, from, folded, blocks, how)});
    }
    const std::size_t half = result.bytes / 2;
    auto* const base = static_cast<unsigned char*>(from.data());
    const auto copy = [&] {
        WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(base + half, base, half, cudaMemcpyDeviceToDevice, on.handle()));
    };
    result.copy_gb_per_s = gigabytes_per_second(2.0 * static_cast<double>(half), clock.cold(copy, how).median);
    return result;
}

} // namespace warpfold::measure
