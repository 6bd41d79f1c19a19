// SPDX-License-Identifier: MIT
// Chains of operations, each of which waits for the one before it: what both latency and throughput are measured with.
// The operations are PTX, so that no compiler makes fewer of them.
#pragma once

#include <cstdint>

namespace warpfold::ladder::occupancy {

// x / 2 + b as one multiply-add; of b = 1 every chain comes to 2. Two registers and a constant: three registers of one bank would
// take two cycles to read.
struct float32_chain {
    using type = float;
    static __device__ type once(type x, type /*a*/, type b) {
        asm volatile("fma.rn.f32 %0, %0, 0f3F000000, %1;" : "+f"(x) : "f"(b));
        return x;
    }
};
struct float64_chain {
    using type = double;
    static __device__ type once(type x, type /*a*/, type b) {
        asm volatile("fma.rn.f64 %0, %0, 0d3FE0000000000000, %1;" : "+d"(x) : "d"(b));
        return x;
    }
};
struct int32_chain { // x * a + b
    using type = std::int32_t;
    static __device__ type once(type x, type a, type b) {
        asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
        return x;
    }
};
struct modulo_chain { // x % (a + 6), with a = 1
    using type = std::int32_t;
    static __device__ type once(type x, type a, type /*b*/) {
        asm volatile("rem.u32 %0, %0, %1;" : "+r"(x) : "r"(a + 6));
        return x;
    }
};
struct special_chain { // 1 / sqrt(x), which of 1 is 1
    using type = float;
    static __device__ type once(type x, type /*a*/, type /*b*/) {
        asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
        return x;
    }
};
struct shuffle_chain { // the other of two neighbours
    using type = std::int32_t;
    static __device__ type once(type x, type /*a*/, type /*b*/) {
        asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;" : "+r"(x));
        return x;
    }
};

constexpr unsigned unrolled = 64;

// Every thread runs `Chains` chains of 64 x rounds operations, and outputs the sum of their ends as an integer; the first chain
// begins with in[i], or with 1 without `in`, the others with 1 more each. `cycles`: of the first block, from its first operation
// to its last by the clocks of all its warps, since one may begin when others are done; may be nullptr.
template <class Chain, unsigned Chains>
__global__ void go_through(std::int32_t* out, const std::int32_t* in, std::uint64_t n, unsigned rounds, std::int32_t a,
                           std::int32_t b, std::int64_t* cycles) {
    using type = typename Chain::type;
    const std::uint64_t i = threadIdx.x + std::uint64_t{blockIdx.x} * blockDim.x;
    const auto first = in != nullptr && i < n ? in[i] : 1;
    type x[Chains];
#pragma unroll
    for (unsigned k = 0; k < Chains; ++k) {
        x[k] = static_cast<type>(first + static_cast<std::int32_t>(k));
    }
    const auto factor = static_cast<type>(a);
    const auto addend = static_cast<type>(b);
    __shared__ std::int64_t begin[32];
    __shared__ std::int64_t end[32];
    __syncthreads();
    const std::int64_t begin_here = clock64();
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
        for (unsigned u = 0; u < unrolled; ++u) {
#pragma unroll
            for (unsigned k = 0; k < Chains; ++k) {
                x[k] = Chain::once(x[k], factor, addend);
            }
        }
    }
    const std::int64_t end_here = clock64();
    std::int32_t sum = 0;
#pragma unroll
    for (unsigned k = 0; k < Chains; ++k) {
        sum += static_cast<std::int32_t>(x[k]);
    }
    if (i < n) {
        out[i] = sum;
    }
    if (threadIdx.x % 32 == 0) {
        begin[threadIdx.x / 32] = begin_here;
        end[threadIdx.x / 32] = end_here;
    }
    __syncthreads();
    if (cycles != nullptr && i == 0) {
        std::int64_t first_begin = begin[0];
        std::int64_t last_end = end[0];
        for (unsigned k = 1; k < blockDim.x / 32; ++k) {
            first_begin = begin[k] < first_begin ? begin[k] : first_begin;
            last_end = end[k] > last_end ? end[k] : last_end;
        }
        *cycles = last_end - first_begin;
    }
}

} // namespace warpfold::ladder::occupancy
