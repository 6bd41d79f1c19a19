// SPDX-License-Identifier: MIT
// The read ceiling: many 16-byte loads, whose values are folded only so far that the compiler cannot drop them. The
// copy ceiling: cudaMemcpyAsync from device to device.
#include <cstdint>

#include "measure/ceilings.hpp"

namespace warpfold::measure {

namespace {

constexpr unsigned threads = 512;
constexpr unsigned unrolled = 8;

// Reads `count` 16-byte words, `unrolled` of them in flight a thread; writes only if they all fold to an unlikely
// value.
__global__ void read_all(const uint4* words, std::uint64_t count, unsigned unlikely, unsigned* out) {
    const std::uint64_t step = std::uint64_t{gridDim.x} * threads;
    std::uint64_t k = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    unsigned folded = 0;
    for (; k + (unrolled - 1) * step < count; k += unrolled * step) {
        uint4 held[unrolled];
#pragma unroll
        for (unsigned j = 0; j < unrolled; ++j) {
            held[j] = __ldcs(&words[k + j * step]);
        }
#pragma unroll
        for (unsigned j = 0; j < unrolled; ++j) {
            folded ^= held[j].x ^ held[j].y ^ held[j].z ^ held[j].w;
        }
    }
    for (; k < count; k += step) {
        const uint4 held = __ldcs(&words[k]);
        folded ^= held.x ^ held.y ^ held.z ^ held.w;
    }
    if (folded == unlikely) {
        *out = folded;
    }
}

} // namespace

ceilings measure_ceilings(const stream& on, timer& clock, unsigned multiprocessors, std::size_t bytes,
                          const effort& how) {
    ceilings result;
    result.bytes = bytes / 32 * 32;
    const device_memory from(result.bytes);
    const device_memory out(sizeof(unsigned));
    WARPFOLD_CUDA_CHECK(cudaMemsetAsync(from.data(), 0x5a, result.bytes, on.handle()));
    const auto read = [&] {
        read_all<<<multiprocessors * 4, threads, 0, on.handle()>>>(
            static_cast<const uint4*>(from.data()), result.bytes / 16, 0x13579bdfu, static_cast<unsigned*>(out.data()));
        WARPFOLD_CUDA_CHECK(cudaGetLastError());
    };
    result.read_gb_per_s = gigabytes_per_second(static_cast<double>(result.bytes), clock.cold(read, how).median);
    const std::size_t half = result.bytes / 2;
    auto* const base = static_cast<unsigned char*>(from.data());
    const auto copy = [&] {
        WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(base + half, base, half, cudaMemcpyDeviceToDevice, on.handle()));
    };
    result.copy_gb_per_s = gigabytes_per_second(2.0 * static_cast<double>(half), clock.cold(copy, how).median);
    return result;
}

} // namespace warpfold::measure
