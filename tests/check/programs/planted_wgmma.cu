// SPDX-License-Identifier: MIT
// Mistakes with wgmma, one a case, and for each a corrected twin: planted_wgmma CASE [fixed]. Markers as in planted.cu. All are
// a tiled product of halves: D (64 x 8) = A (64 x K) B (8 x K), rows of 128 bytes, swizzled, in two stages.
#include <cstdio>
#include <cstring>

#include <cuda_fp16.h>

namespace {

constexpr int threads = 128;
constexpr int rows_a = 64;
constexpr int rows_b = 8;
constexpr int tile = 64; // of K

enum class fault { none, early_register, no_fence, no_proxy_fence, one_lane_fences, overwritten, factor };

// K-major, 128-byte swizzle, groups of eight rows 1024 bytes apart.
__device__ unsigned long long descriptor(const void* at) {
    const auto address = static_cast<unsigned long long>(__cvta_generic_to_shared(at));
    return (address & 0x3FFFF) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#define WGMMA_FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define WGMMA_COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WGMMA_WAIT(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")
#define WGMMA(acc, a, b)                                                                                               \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0;\n"                                                              \
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"        \
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])                                              \
                 : "l"(a), "l"(b)                                                                                      \
                 : "memory")
#define WGMMA_REGISTERS(acc, a, b)                                                                                     \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0;\n"                                                              \
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p, 1, 1, " \
                 "0; }"                                                                                                \
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                                  \
                 : "memory")

// A tile of A, and behind it one of B.
__device__ void load(__half* to, const __half* a, int rows, const __half* b, int k, int first) {
    for (int n = static_cast<int>(threadIdx.x); n < (rows + rows_b) * tile / 8; n += threads) {
        const int row = n / 8;
        const int chunk = n % 8;
        const __half* const from = row < rows ? a + row * k : b + (row - rows) * k;
        const uint4 eight = *reinterpret_cast<const uint4*>(from + first + chunk * 8);
        *reinterpret_cast<uint4*>(to + row * tile + (chunk ^ row % 8) * 8) =
            eight; // FINDING(products_overwritten): race with wgmma
    }
}

template <fault Fault>
__global__ void multiply(const __half* a, const __half* b, float* d, int k) {
    __shared__ alignas(1024) __half stages[2][(rows_a + rows_b) * tile];
    float acc[4] = {};
    for (int t = 0; t < k / tile; ++t) {
        __half* const stage = stages[t % 2];
        load(stage, a, rows_a, b, k, t * tile);
        if (Fault == fault::one_lane_fences ? threadIdx.x == 0 : Fault != fault::no_proxy_fence) {
            asm volatile("fence.proxy.async;" ::: "memory");
        }
        __syncthreads();
        if (Fault != fault::no_fence) {
            WGMMA_FENCE();
        }
        const unsigned long long at = descriptor(stage);
        const unsigned long long bt = descriptor(stage + rows_a * tile);
        if (Fault == fault::no_proxy_fence) {
            WGMMA(acc, at, bt); // FINDING(no_proxy_fence): missing fence.proxy.async
        } else if (Fault == fault::one_lane_fences) {
            WGMMA(acc, at, bt); // FINDING(one_lane_fences): missing fence.proxy.async
        } else if (Fault == fault::no_fence) {
            WGMMA(acc, at, bt); // FINDING(no_fence): missing wgmma.fence
        } else {
            WGMMA(acc, at, bt);
        }
        WGMMA_COMMIT();
        if (Fault == fault::overwritten) {
            WGMMA_WAIT(2);
        } else {
            WGMMA_WAIT(1);
        }
        __syncthreads(); // all have read the other stage
        // The other products of this tile, in a group of their own.
        if (Fault != fault::no_proxy_fence && Fault != fault::one_lane_fences && Fault != fault::no_fence) {
            WGMMA_FENCE();
            for (int s = 1; s < 4; ++s) {
                WGMMA(acc, at + 2 * s, bt + 2 * s);
            }
            WGMMA_COMMIT();
        }
    }
    const int t = static_cast<int>(threadIdx.x);
    if (Fault == fault::early_register) {
        d[threads * 4 + t] = acc[0]; // FINDING(early_register): race with wgmma
    }
    WGMMA_WAIT(0);
    const int row = t / 32 * 16 + t % 32 / 4;
    for (int n = 0; n < 4; ++n) {
        d[(row + n / 2 * 8) * rows_b + t % 4 * 2 + n % 2] = acc[n];
    }
}

// A in registers, which are filled again while the product may still read them.
template <bool Fixed>
__global__ void factors(const unsigned* a, const __half* b, float* d) {
    __shared__ alignas(1024) __half sb[rows_b * tile];
    load(sb, b, 0, b, tile, 0);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    float acc[4] = {};
    unsigned own[4] = {a[threadIdx.x], a[threadIdx.x], a[threadIdx.x], a[threadIdx.x]};
    for (int s = 0; s < 2; ++s) {
        WGMMA_FENCE();
        WGMMA_REGISTERS(acc, own, descriptor(sb));
        WGMMA_COMMIT();
        if (Fixed) {
            WGMMA_WAIT(0);
        }
        asm volatile("add.u32 %0, %0, 1;" : "+r"(own[0])::"memory"); // FINDING(factor): race with wgmma
    }
    WGMMA_WAIT(0);
    d[threadIdx.x] = acc[0] + static_cast<float>(own[0]);
}

bool is_right(const __half* a, const __half* b, const float* d, int k) {
    for (int m = 0; m < rows_a; ++m) {
        for (int n = 0; n < rows_b; ++n) {
            float sum = 0;
            for (int j = 0; j < k; ++j) {
                sum += __half2float(a[m * k + j]) * __half2float(b[n * k + j]);
            }
            if (sum != d[m * rows_b + n]) {
                std::printf("D[%d][%d] is %g, not %g\n", m, n, static_cast<double>(d[m * rows_b + n]),
                            static_cast<double>(sum));
                return false;
            }
        }
    }
    return true;
}

} // namespace

int main(int count, char** words) {
    constexpr int k = 4 * tile;
    const char* const name = count > 1 ? words[1] : "none";
    const bool fixed = count > 2;
    __half* a = nullptr;
    __half* b = nullptr;
    float* d = nullptr;
    cudaMallocManaged(&a, rows_a * k * sizeof(__half));
    cudaMallocManaged(&b, rows_b * k * sizeof(__half));
    cudaMallocManaged(&d, threads * 5 * sizeof(float));
    for (int n = 0; n < rows_a * k; ++n) {
        a[n] = __float2half(static_cast<float>(n * 7 % 13 - 6));
    }
    for (int n = 0; n < rows_b * k; ++n) {
        b[n] = __float2half(static_cast<float>(n * 5 % 11 - 5));
    }
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("factor")) {
        if (fixed) {
            factors<true><<<1, threads>>>(reinterpret_cast<const unsigned*>(a), b, d);
        } else {
            factors<false><<<1, threads>>>(reinterpret_cast<const unsigned*>(a), b, d);
        }
    } else if (fixed || is("none")) {
        multiply<fault::none><<<1, threads>>>(a, b, d, k);
    } else if (is("early_register")) {
        multiply<fault::early_register><<<1, threads>>>(a, b, d, k);
    } else if (is("no_fence")) {
        multiply<fault::no_fence><<<1, threads>>>(a, b, d, k);
    } else if (is("no_proxy_fence")) {
        multiply<fault::no_proxy_fence><<<1, threads>>>(a, b, d, k);
    } else if (is("one_lane_fences")) {
        multiply<fault::one_lane_fences><<<1, threads>>>(a, b, d, k);
    } else if (is("products_overwritten")) {
        multiply<fault::overwritten><<<1, threads>>>(a, b, d, k);
    } else {
        std::printf("no case %s\n", name);
        return 2;
    }
    const bool ran = cudaDeviceSynchronize() == cudaSuccess;
    const bool wrong = fixed && !is("factor") && !is_right(a, b, d, k);
    cudaFree(a);
    cudaFree(b);
    cudaFree(d);
    return ran && !wrong ? 0 : 1;
}
