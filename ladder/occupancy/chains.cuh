// SPDX-License-Identifier: MIT
// Chains of operations, each of which waits for the one before it: what both latency and throughput are measured with.
// The operations are PTX, so that no compiler makes fewer of them.
#pragma once

#include <cstdint>

namespace warpfold::ladder::occupancy {

struct float32_chain { // x * a + b
    using type = float;
    static __device__ type once(type x, type a, type b) {
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
        return x;
    }
};
struct float64_chain {
    using type = double;
    static __device__ type once(type x, type a, type b) {
        asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(a), "d"(b));
        return x;
    }
};
struct int32_chain {
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

constexpr unsigned unrolled = 16;

// Every thread goes through `Chains` chains of 16 x rounds operations, and leaves the sum of their ends as an integer;
// the first chain begins with in[i], or with 1 where there is no `in`, the others with 1 more each. `cycles` is what the block
// took from its first operation to its last, for the first block; nullptr: nobody asks.
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
    __syncthreads();
    const std::int64_t begin = clock64();
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
    __syncthreads();
    const std::int64_t end = clock64();
    std::int32_t sum = 0;
#pragma unroll
    for (unsigned k = 0; k < Chains; ++k) {
        sum += static_cast<std::int32_t>(x[k]);
    }
    if (i < n) {
        out[i] = sum;
    }
    if (cycles != nullptr && i == 0) {
        *cycles = end - begin;
    }
}

} // namespace warpfold::ladder::occupancy
