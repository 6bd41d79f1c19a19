// SPDX-License-Identifier: MIT
// Loads, stores and atomics, timed: chains of dependent loads for latencies, full blocks for rates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "measure/calibrate/arithmetic.cuh"

namespace warpfold::measure::calibrate {

enum class level : int { l1, past_l1, atomic };

// Each lane follows a chain of words that are addresses in it, from where the last launch has stopped.
template <level From>
__global__ void chase(unsigned loads, interval* out, std::uint64_t* place) {
    std::uint64_t at = place[threadIdx.x];
    for (unsigned pass = 0; pass < 2; ++pass) { // the first one fills the caches
        const unsigned long long start = clock64();
        for (unsigned k = 0; k < loads; ++k) {
            if constexpr (From == level::l1) {
                asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
            } else if constexpr (From == level::atomic) {
                asm volatile("atom.global.add.u64 %0, [%0], 0;" : "+l"(at));
            } else {
                asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
            }
        }
        const unsigned long long end = clock64();
        if (threadIdx.x == 0) {
            out->first = start;
            out->last = end;
        }
    }
    place[threadIdx.x] = at;
}

// The same in shared memory, by loads or by exchanges; words of neighbours are so many words apart.
template <bool Atomic>
__global__ void chase_shared(unsigned loads, unsigned apart, interval* out, std::uint32_t* sink) {
    __shared__ std::uint32_t chain[32 * 32];
    std::uint32_t* const own = &chain[threadIdx.x * apart % (32 * 32)];
    auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(own));
    *own = at; // each word has its own address: the data do not change
    __syncthreads();
    const unsigned long long start = clock64();
    for (unsigned k = 0; k < loads; ++k) {
        if constexpr (Atomic) {
            asm volatile("atom.shared.exch.b32 %0, [%0], %0;" : "+r"(at));
        } else {
            asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(at));
        }
    }
    const unsigned long long end = clock64();
    if (threadIdx.x == 0) {
        out->first = start;
        out->last = end;
        *sink = at;
    }
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

// A full block loads the same 16 KiB again and again, 16 bytes a lane: from L1 after the first time. The loads of a round
// have addresses of their own, or ptxas makes one of them.
inline constexpr unsigned l1_loads = 8;
__global__ void __launch_bounds__(full_block)
    l1_rate(const uint4* words, unsigned rounds, interval* out, std::uint32_t* sink) {
    std::uint32_t sum = 0;
    unsigned long long start = 0;
    for (unsigned r = 0; r < rounds + 1; ++r) {
        if (r == 1) {
            __syncthreads();
            start = clock64();
        }
#pragma unroll
        for (unsigned u = 0; u < l1_loads; ++u) {
            uint4 x;
            asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                         : "l"(words + (threadIdx.x + u * full_block / l1_loads) % full_block));
            sum += x.x ^ x.y ^ x.z ^ x.w; // or ptxas loads less
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

// A word of one of so many lines, a power of two; each lane has words of its own, in another line each round. 32 words a line are no fewer
// than threads.
__device__ std::size_t word_of_a_line(unsigned round, unsigned lines) {
    const unsigned threads = gridDim.x * blockDim.x;
    const unsigned number = round % (32 * lines / threads) * threads + blockIdx.x * blockDim.x + threadIdx.x;
    return std::size_t{number * 0x9E3779B1u % lines} * 32 + number / lines;
}

// Each lane reads a word of a line of its own, eight at a time.
__global__ void __launch_bounds__(full_block)
    read_one_word(const std::uint32_t* words, unsigned lines, unsigned rounds, std::uint32_t* sink) {
    std::uint32_t sum = 0;
#pragma unroll 8
    for (unsigned r = 0; r < rounds; ++r) {
        sum += __ldcg(&words[word_of_a_line(r, lines)]);
    }
    if (sum == 0x7654321) {
        *sink = sum;
    }
}

// Additions at words side by side; with a mask of 0 all at one, which ptxas does not know: it would add up warps before.
__global__ void __launch_bounds__(full_block) atomics(std::uint32_t* words, unsigned mask, unsigned rounds) {
    const unsigned self = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned r = 0; r < rounds; ++r) {
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(&words[(self + r * full_block) & mask]), "r"(self)
                     : "memory");
    }
}

// The same of floats, all at one.
__global__ void __launch_bounds__(full_block) atomics_of_floats(float* word, unsigned rounds) {
    for (unsigned r = 0; r < rounds; ++r) {
        asm volatile("red.global.add.f32 [%0], %1;" ::"l"(word), "f"(1.0f) : "memory");
    }
}

__global__ void nothing() {}

__device__ void keep_busy(unsigned long long cycles, interval* out) {
    const unsigned long long start = clock64();
    unsigned long long now = start;
    while (now - start < cycles) {
        now = clock64();
    }
    out->first = start;
    out->last = now;
}

// Keeps one lane busy for that many cycles.
__global__ void spin(unsigned long long cycles, interval* out) { keep_busy(cycles, out); }

// The same in a kernel that lets the next one start and waits for the one before it: programmatic dependent launch, from
// compute capability 9.0 on.
__global__ void spin_dependently(unsigned long long cycles, interval* out) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    keep_busy(cycles, out);
}

} // namespace warpfold::measure::calibrate
