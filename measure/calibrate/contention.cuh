// SPDX-License-Identifier: MIT
// Lanes and warps that meet: at words of constant and shared memory, in match.any, and at one slice of L2. And other paths to
// memory: textures, stores of a part of a sector, memory of the host.
#pragma once

#include <cstdint>

#include "measure/calibrate/memory.cuh"

namespace warpfold::measure::calibrate {

inline constexpr unsigned few_words = 64;
__constant__ std::uint32_t constant_words[few_words];

// A full block loads words of constant memory: neighbours the same one (spread 0) or the next (1).
__global__ void __launch_bounds__(full_block)
    constant_rate(unsigned rounds, unsigned spread, interval* out, std::uint32_t* sink) {
    std::uint32_t sum = 0;
    __syncthreads();
    const unsigned long long start = clock64();
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
        for (unsigned u = 0; u < unrolled; ++u) {
            sum += constant_words[(r + u + spread * threadIdx.x) % few_words];
        }
    }
    const unsigned long long end = clock64();
    if (sum == 0x7654321) {
        *sink = sum;
    }
    atomicMin(&out->first, start);
    atomicMax(&out->last, end);
}

// A chain of loads of constant memory, which holds zeros: a shift makes the next address.
__global__ void chase_constant(unsigned loads, interval* out, std::uint32_t* sink) {
    const auto base = static_cast<std::uint64_t>(__cvta_generic_to_constant(constant_words));
    std::uint32_t at = 0;
    const unsigned long long start = clock64();
#pragma unroll 16
    for (unsigned k = 0; k < loads; ++k) {
        asm volatile("{.reg .u64 a; mul.wide.u32 a, %0, 4; add.u64 a, a, %1; ld.const.u32 %0, [a];}"
                     : "+r"(at)
                     : "l"(base));
    }
    const unsigned long long end = clock64();
    out->first = start;
    out->last = end;
    *sink = at;
}

// match.any of warps whose lanes have so many different values. Nothing before compute capability 7.
__global__ void __launch_bounds__(full_block)
    match_rate(unsigned rounds, unsigned values, interval* out, std::uint32_t* sink) {
#if __CUDA_ARCH__ >= 700
    const std::uint32_t own = threadIdx.x % values;
    std::uint32_t sum = 0;
    __syncthreads();
    const unsigned long long start = clock64();
    for (unsigned r = 0; r < rounds; ++r) {
        std::uint32_t same;
        asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(same) : "r"(own ^ r)); // or ptxas does it once
        sum += same;
    }
    const unsigned long long end = clock64();
    if (sum == 0x7654321) {
        *sink = sum;
    }
    atomicMin(&out->first, start);
    atomicMax(&out->last, end);
#else
    out->first = out->last = 0;
#endif
}

// Additions to shared memory without a result, of a number that ptxas does not know, or of 1, which it makes one addition of
// how many lanes have the same word. Lane l has word l % words.
enum class addend : int { number, one };
template <addend Of>
__global__ void __launch_bounds__(full_block)
    shared_atomic_rate(unsigned rounds, unsigned words, interval* out, std::uint32_t* sink) {
    __shared__ std::uint32_t bins[32];
    if (threadIdx.x < 32) {
        bins[threadIdx.x] = 0;
    }
    __syncthreads();
    __syncthreads();
    std::uint32_t* const bin = &bins[threadIdx.x % words];
    const unsigned long long start = clock64();
    for (unsigned r = 0; r < rounds; ++r) {
        atomicAdd(bin, Of == addend::one ? 1u : threadIdx.x);
    }
    const unsigned long long end = clock64();
    __syncthreads();
    if (bins[0] == 0x7654321) {
        *sink = bins[0];
    }
    atomicMin(&out->first, start);
    atomicMax(&out->last, end);
}

// Additions, a lane each sector of the first mask + 1 words.
__global__ void __launch_bounds__(full_block) atomics_by_sector(std::uint32_t* words, unsigned mask, unsigned rounds) {
    constexpr unsigned sector = 8;
    const unsigned self = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned r = 0; r < rounds; ++r) {
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(&words[sector * (self + r) & mask]), "r"(self) : "memory");
    }
}

// Every warp stores to the first mask + 1 words, loads them, or does both in turn; relaxed, which goes past L1 and is no data
// race.
enum class meeting_by : int { stores, loads, both };
template <meeting_by How>
__global__ void __launch_bounds__(full_block)
    meet(std::uint32_t* words, unsigned mask, unsigned rounds, std::uint32_t* sink) {
    std::uint32_t sum = 0;
#pragma unroll 4
    for (unsigned r = 0; r < rounds; ++r) {
        std::uint32_t* const at = &words[(threadIdx.x + r) & mask];
        if constexpr (How != meeting_by::stores) {
            std::uint32_t x;
            asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(at) : "memory");
            sum += x;
        }
        if constexpr (How != meeting_by::loads) {
            asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(threadIdx.x) : "memory");
        }
    }
    if (sum == 0x7654321) {
        *sink = sum;
    }
}

// Stores of every `stride`th word, `passes` times.
__global__ void __launch_bounds__(full_block)
    store_words(std::uint32_t* words, std::uint64_t count, unsigned stride, unsigned passes) {
    const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
    for (unsigned pass = 0; pass < passes; ++pass) {
        for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k * stride < count; k += step) {
            words[k * stride] = threadIdx.x + pass;
        }
    }
}

// Each lane stores a word of a line of its own.
__global__ void __launch_bounds__(full_block) store_one_word(std::uint32_t* words, unsigned lines, unsigned rounds) {
#pragma unroll 4
    for (unsigned r = 0; r < rounds; ++r) {
        asm volatile("st.global.u32 [%0], %1;" ::"l"(&words[word_of_a_line(r, lines)]), "r"(r) : "memory");
    }
}

// Eight lanes store a sector of a line of their own; there are no fewer lines than sectors.
__global__ void __launch_bounds__(full_block) store_one_sector(std::uint32_t* words, unsigned lines, unsigned rounds) {
    const unsigned threads = gridDim.x * blockDim.x;
#pragma unroll 4
    for (unsigned r = 0; r < rounds; ++r) {
        const unsigned number = r * threads + blockIdx.x * blockDim.x + threadIdx.x;
        words[std::size_t{number / 8 * 0x9E3779B1u % lines} * 32 + number % 8] = r;
    }
}

// One lane stores a word of another line each time and waits for a fence.
__global__ void store_and_fence(std::uint32_t* words, unsigned lines, unsigned rounds, interval* out) {
    for (unsigned pass = 0; pass < 2; ++pass) { // the first one fills the caches
        const unsigned long long start = clock64();
        for (unsigned r = 0; r < rounds; ++r) {
            words[word_of_a_line(r, lines)] = r;
            __threadfence();
        }
        const unsigned long long end = clock64();
        out->first = start;
        out->last = end;
    }
}

// A full block stores whole lines, 16 bytes a lane, again and again to the same 128 KiB.
inline constexpr unsigned store_windows = 8;
__global__ void __launch_bounds__(full_block) store_rate(uint4* words, unsigned rounds, interval* out) {
    const unsigned long long start = clock64();
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
        for (unsigned u = 0; u < store_windows; ++u) {
            asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(&words[threadIdx.x + u * full_block]), "r"(r)
                         : "memory");
        }
    }
    __syncthreads();
    const unsigned long long end = clock64();
    atomicMin(&out->first, start);
    atomicMax(&out->last, end);
}

// Each warp waits for so many cycles, then for its block; each thread then adds to a word of its own, of all blocks the same.
__global__ void add_behind_barrier(std::uint32_t* words, unsigned long long cycles, bool adds) {
    const unsigned long long start = clock64();
    while (clock64() - start < cycles) {
    }
    __syncthreads();
    if (adds) {
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(&words[threadIdx.x]), "r"(1) : "memory");
    }
}

// A full block fetches the same words of a square texture again and again, a warp those of a row.
__global__ void __launch_bounds__(full_block)
    texture_rate(cudaTextureObject_t texels, unsigned mask, unsigned rounds, interval* out, float* sink) {
    const auto column = static_cast<float>(threadIdx.x & mask);
    float sum = 0;
    unsigned long long start = 0;
    for (unsigned r = 0; r < rounds + 1; ++r) {
        if (r == 1) {
            __syncthreads();
            start = clock64();
        }
#pragma unroll
        for (unsigned u = 0; u < unrolled; ++u) {
            sum += tex2D<float>(texels, column, static_cast<float>((threadIdx.x / 32 + u + r) & mask));
        }
    }
    const unsigned long long end = clock64();
    if (sum < 0) {
        *sink = sum;
    }
    atomicMin(&out->first, start);
    atomicMax(&out->last, end);
}

// One lane fetches where the texel before says.
__global__ void chase_texture(cudaTextureObject_t texels, unsigned fetches, interval* out, float* sink) {
    float at = 0;
    for (unsigned pass = 0; pass < 2; ++pass) { // the first one fills the caches
        const unsigned long long start = clock64();
        for (unsigned k = 0; k < fetches; ++k) {
            at = tex2D<float>(texels, at, 0.0f);
        }
        const unsigned long long end = clock64();
        out->first = start;
        out->last = end;
    }
    *sink = at;
}

} // namespace warpfold::measure::calibrate
