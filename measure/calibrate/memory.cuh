// SPDX-License-Identifier: MIT
// Loads, stores and atomics, timed: chains of dependent loads for latencies, full blocks for rates.
#pragma once

#include <cstdint>

#include "measure/calibrate/arithmetic.cuh"

namespace warpfold::measure::calibrate {

enum class level : int { l1, past_l1 };

// One lane follows `chain`, whose words are places in it, from where the last launch has stopped.
template <level From>
__global__ void chase(const std::uint32_t* chain, unsigned loads, interval* out, std::uint32_t* place) {
    std::uint32_t at = *place;
    for (unsigned pass = 0; pass < 2; ++pass) { // the first one fills the caches
        const unsigned long long start = clock64();
        for (unsigned k = 0; k < loads; ++k) {
            if constexpr (From == level::l1) {
                asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(at) : "l"(chain + at));
            } else {
                asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(chain + at));
            }
        }
        const unsigned long long end = clock64();
        out->first = start;
        out->last = end;
    }
    *place = at;
}

// The same in shared memory, by loads or by exchanges.
template <bool Atomic>
__global__ void chase_shared(unsigned loads, interval* out, std::uint32_t* sink) {
    __shared__ std::uint32_t chain[32];
    chain[threadIdx.x % 32] = threadIdx.x % 32; // each word is its own place: the data do not change
    __syncthreads();
    std::uint32_t at = 0;
    const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(chain));
    const unsigned long long start = clock64();
    for (unsigned k = 0; k < loads; ++k) {
        if constexpr (Atomic) {
            asm volatile("atom.shared.add.u32 %0, [%1], 0;" : "=r"(at) : "r"(base + 4 * at));
        } else {
            asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(at) : "r"(base + 4 * at));
        }
    }
    const unsigned long long end = clock64();
    out->first = start;
    out->last = end;
    *sink = at;
}

// A full block loads words of shared memory that are `stride` words apart between lanes: 1 is one wavefront, 32 are 32.
__global__ void __launch_bounds__(full_block)
    shared_rate(unsigned rounds, unsigned stride, interval* out, std::uint32_t* sink) {
    __shared__ std::uint32_t words[32 * 32];
    for (unsigned k = threadIdx.x; k < 32 * 32; k += blockDim.x) {
        words[k] = k;
    }
    __syncthreads();
    const auto base =
        static_cast<std::uint32_t>(__cvta_generic_to_shared(words)) + 4 * (threadIdx.x % 32 * stride % (32 * 32));
    std::uint32_t sum = 0;
    const unsigned long long start = clock64();
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
        for (unsigned u = 0; u < unrolled; ++u) {
            std::uint32_t x;
            asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(base));
            sum += x;
        }
    }
    const unsigned long long end = clock64();
    if (sum == 0x7654321) {
        *sink = sum;
    }
    atomicMin(&out->first, start);
    atomicMax(&out->last, end);
}

// A full block loads the same 16 KiB again and again, 16 bytes a lane: from L1 after the first time.
__global__ void __launch_bounds__(full_block)
    l1_rate(const uint4* words, unsigned rounds, interval* out, std::uint32_t* sink) {
    const uint4* const mine = words + threadIdx.x;
    std::uint32_t sum = 0;
    unsigned long long start = 0;
    for (unsigned r = 0; r < rounds + 1; ++r) {
        if (r == 1) {
            __syncthreads();
            start = clock64();
        }
#pragma unroll
        for (unsigned u = 0; u < unrolled; ++u) {
            uint4 x;
            asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                         : "l"(mine));
            sum += x.x ^ x.y ^ x.z ^ x.w;
        }
    }
    const unsigned long long end = clock64();
    if (sum == 0x7654321) {
        *sink = sum;
    }
    atomicMin(&out->first, start);
    atomicMax(&out->last, end);
}

// All blocks together read the words `passes` times, past L1.
__global__ void __launch_bounds__(full_block)
    read_past_l1(const uint4* words, std::uint64_t count, unsigned passes, std::uint32_t* sink) {
    std::uint32_t sum = 0;
    const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
    for (unsigned pass = 0; pass < passes; ++pass) {
#pragma unroll 4
        for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < count; k += step) {
            const uint4 x = __ldcg(&words[k]);
            sum += x.x ^ x.y ^ x.z ^ x.w;
        }
    }
    if (sum == 0x7654321) {
        *sink = sum;
    }
}

// Exchanges, which no compiler adds up: at words side by side, or all at one.
template <bool OneAddress>
__global__ void __launch_bounds__(full_block)
    atomics(std::uint32_t* words, unsigned mask, unsigned rounds, std::uint32_t* sink) {
    const unsigned self = blockIdx.x * blockDim.x + threadIdx.x;
    std::uint32_t sum = 0;
    for (unsigned r = 0; r < rounds; ++r) {
        sum += atomicExch(&words[OneAddress ? 0 : (self + r * full_block) & mask], self);
    }
    if (sum == 0x7654321) {
        *sink = sum;
    }
}

__global__ void nothing() {}

// Keeps one lane busy for that many cycles.
__global__ void spin(unsigned long long cycles, interval* out) {
    const unsigned long long start = clock64();
    unsigned long long now = start;
    while (now - start < cycles) {
        now = clock64();
    }
    out->first = start;
    out->last = now;
}

} // namespace warpfold::measure::calibrate
