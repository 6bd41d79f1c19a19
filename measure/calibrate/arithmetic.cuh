// SPDX-License-Identifier: MIT
// Chains of one class of instructions, timed by the clock of their multiprocessor: one warp for the latency, a full block
// with several chains a thread for the throughput. The operations are PTX that ptxas cannot merge.
#pragma once

#include <cstdint>

namespace warpfold::measure::calibrate {

constexpr unsigned unrolled = 16;
constexpr unsigned full_block = 1024;

// once(x, y): x from x. `instructions`: machine instructions of the class in it.
struct integer_op { // an addition and an exclusive or, which are not merged
    static constexpr unsigned instructions = 2;
    static __device__ void once(std::uint32_t& x, std::uint32_t y) {
        asm volatile("add.u32 %0, %0, %1;\n\txor.b32 %0, %0, %1;" : "+r"(x) : "r"(y));
    }
};
struct multiply_op {
    static constexpr unsigned instructions = 1;
    static __device__ void once(std::uint32_t& x, std::uint32_t y) {
        asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(y));
    }
};
struct shift_op {
    static constexpr unsigned instructions = 1;
    static __device__ void once(std::uint32_t& x, std::uint32_t y) {
        asm volatile("shf.l.wrap.b32 %0, %0, %1, %1;" : "+r"(x) : "r"(y));
    }
};
struct fp32_op {
    static constexpr unsigned instructions = 1;
    static __device__ void once(std::uint32_t& x, std::uint32_t y) {
        asm volatile("{.reg .f32 a, b; mov.b32 a, %0; mov.b32 b, %1; fma.rn.f32 a, a, b, b; mov.b32 %0, a;}"
                     : "+r"(x)
                     : "r"(y));
    }
};
struct half_op { // two halves a lane
    static constexpr unsigned instructions = 1;
    static __device__ void once(std::uint32_t& x, std::uint32_t y) {
        asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(y));
    }
};
struct special_op {
    static constexpr unsigned instructions = 1;
    static __device__ void once(std::uint32_t& x, std::uint32_t /*y*/) {
        asm volatile("{.reg .f32 a; mov.b32 a, %0; ex2.approx.ftz.f32 a, a; mov.b32 %0, a;}" : "+r"(x));
    }
};
struct convert_op { // the bits of the result are the next integer
    static constexpr unsigned instructions = 1;
    static __device__ void once(std::uint32_t& x, std::uint32_t /*y*/) {
        asm volatile("{.reg .f32 a; cvt.rn.f32.s32 a, %0; mov.b32 %0, a;}" : "+r"(x));
    }
};
struct logic_op { // a comparison and a selection
    static constexpr unsigned instructions = 2;
    static __device__ void once(std::uint32_t& x, std::uint32_t y) {
        asm volatile("{.reg .pred p; setp.lt.u32 p, %0, %1; selp.b32 %0, 3, %1, p;}" : "+r"(x) : "r"(y));
    }
};
struct guard_op { // an addition that a comparison lets begin
    static constexpr unsigned instructions = 1;
    static __device__ void once(std::uint32_t& x, std::uint32_t y) {
        asm volatile("{.reg .pred p; setp.lt.u32 p, %0, %1; @p add.u32 %0, %0, %1;}" : "+r"(x) : "r"(y));
    }
};
struct shuffle_op {
    static constexpr unsigned instructions = 1;
    static __device__ void once(std::uint32_t& x, std::uint32_t /*y*/) {
        asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(x));
    }
};
struct vote_op { // and the comparison that makes its predicate, by the same unit
    static constexpr unsigned instructions = 2;
    static __device__ void once(std::uint32_t& x, std::uint32_t y) {
        asm volatile("{.reg .pred p; setp.ne.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, 0xffffffff;}"
                     : "+r"(x)
                     : "r"(y));
    }
};
struct fp64_op {
    static constexpr unsigned instructions = 1;
    static __device__ void once(double& x, double y) { asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(x) : "d"(y)); }
};

// Cycles of a block from the first start of a warp to the last end. Both are of the same multiprocessor.
struct interval {
    unsigned long long first = ~0ull, last = 0;
};

// As many chains in each thread, `rounds` times `unrolled` operations each. `out` gets the interval; `sink` something of
// the results.
template <class Op, class T, unsigned Chains>
__global__ void __launch_bounds__(full_block) chains(unsigned rounds, T y, interval* out, T* sink) {
    T x[Chains];
#pragma unroll
    for (unsigned c = 0; c < Chains; ++c) {
        x[c] = static_cast<T>(threadIdx.x + c);
    }
    __syncthreads();
    const unsigned long long start = clock64();
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
        for (unsigned u = 0; u < unrolled; ++u) {
#pragma unroll
            for (unsigned c = 0; c < Chains; ++c) {
                Op::once(x[c], y);
            }
        }
    }
    const unsigned long long end = clock64();
#pragma unroll
    for (unsigned c = 0; c < Chains; ++c) {
        if (x[c] == static_cast<T>(0x7654321)) { // unlikely
            *sink = x[c];
        }
    }
    atomicMin(&out->first, start);
    atomicMax(&out->last, end);
}

// FFMA and IADD side by side: more instructions a cycle than either unit takes.
__global__ void __launch_bounds__(full_block)
    both_units(unsigned rounds, std::uint32_t y, interval* out, std::uint32_t* sink) {
    std::uint32_t x[4] = {threadIdx.x, threadIdx.x + 1, threadIdx.x + 2, threadIdx.x + 3};
    __syncthreads();
    const unsigned long long start = clock64();
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
        for (unsigned u = 0; u < unrolled; ++u) {
            fp32_op::once(x[0], y);
            integer_op::once(x[1], y); // two instructions
            fp32_op::once(x[2], y);
        }
    }
    const unsigned long long end = clock64();
    if (x[0] + x[1] + x[2] + x[3] == 0x7654321) {
        *sink = x[0];
    }
    atomicMin(&out->first, start);
    atomicMax(&out->last, end);
}

// Products of halves with sums of 32 bits: m16n8k16, on Turing m16n8k8. `products`: multiply-adds of one, 0 where there are
// no tensor cores. A warp has `Chains` chains.
template <unsigned Chains>
__global__ void __launch_bounds__(full_block) tensor(unsigned rounds, interval* out, unsigned* products, float* sink) {
#if __CUDA_ARCH__ >= 750
    float d[Chains][4] = {};
    const unsigned a = threadIdx.x & 1;
    __syncthreads();
    const unsigned long long start = clock64();
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
        for (unsigned u = 0; u < unrolled; ++u) {
#pragma unroll
            for (unsigned c = 0; c < Chains; ++c) {
#if __CUDA_ARCH__ >= 800
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
                             "{%0,%1,%2,%3};"
                             : "+f"(d[c][0]), "+f"(d[c][1]), "+f"(d[c][2]), "+f"(d[c][3])
                             : "r"(a));
#else
                asm volatile(
                    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4}, {%4}, {%0,%1,%2,%3};"
                    : "+f"(d[c][0]), "+f"(d[c][1]), "+f"(d[c][2]), "+f"(d[c][3])
                    : "r"(a));
#endif
            }
        }
    }
    const unsigned long long end = clock64();
#pragma unroll
    for (unsigned c = 0; c < Chains; ++c) {
        if (d[c][0] == 12345.0f) {
            *sink = d[c][0];
        }
    }
    atomicMin(&out->first, start);
    atomicMax(&out->last, end);
    *products = __CUDA_ARCH__ >= 800 ? 16 * 8 * 16 : 16 * 8 * 8;
#else
    *products = 0;
#endif
}

// A warp goes round a loop of `unrolled` products that wait for each other. When it ends is known long before.
__global__ void loop(unsigned rounds, std::uint32_t y, interval* out, std::uint32_t* sink) {
    std::uint32_t x = threadIdx.x;
    const unsigned long long start = clock64();
#pragma unroll 1
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
        for (unsigned u = 0; u < unrolled; ++u) {
            multiply_op::once(x, y);
        }
    }
    const unsigned long long end = clock64();
    if (x == 0x7654321) {
        *sink = x;
    }
    if (threadIdx.x == 0) {
        out->first = start;
        out->last = end;
    }
}

// Barriers of the block, one after the other.
__global__ void __launch_bounds__(full_block) barriers(unsigned rounds, interval* out) {
    __syncthreads();
    const unsigned long long start = clock64();
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
        for (unsigned u = 0; u < unrolled; ++u) {
            __syncthreads();
        }
    }
    const unsigned long long end = clock64();
    atomicMin(&out->first, start);
    atomicMax(&out->last, end);
}

} // namespace warpfold::measure::calibrate
