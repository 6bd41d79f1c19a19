// SPDX-License-Identifier: MIT
// Kernels of the interpreter's benchmarks. kernels.ptx is the output of nvcc 13.0, stored so that the benchmark needs no
// CUDA:
//     nvcc -std=c++20 -arch=compute_80 -ptx kernels.cu
#include <cstddef>

#include <cuda/barrier>

// Step 1 of the ladder: a tree with a divergent branch.
extern "C" __global__ void tree_modulo(const int* in, int* out, std::size_t n) {
    extern __shared__ int scratch[];
    const unsigned tid = threadIdx.x;
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + tid;
    scratch[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) {
            scratch[tid] += scratch[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) {
        out[blockIdx.x] = scratch[0];
    }
}

// Step 2: packed threads, bank conflicts.
extern "C" __global__ void tree_strided(const int* in, int* out, std::size_t n) {
    extern __shared__ int scratch[];
    const unsigned tid = threadIdx.x;
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + tid;
    scratch[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        const unsigned index = 2 * s * tid;
        if (index < blockDim.x) {
            scratch[index] += scratch[index + s];
        }
        __syncthreads();
    }
    if (tid == 0) {
        out[blockIdx.x] = scratch[0];
    }
}

// Step 3: sequential addressing.
extern "C" __global__ void tree_sequential(const int* in, int* out, std::size_t n) {
    extern __shared__ int scratch[];
    const unsigned tid = threadIdx.x;
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + tid;
    scratch[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            scratch[tid] += scratch[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) {
        out[blockIdx.x] = scratch[0];
    }
}

// Step 9: many adds, then shuffles.
extern "C" __global__ void shuffles(const int* in, int* out, std::size_t n) {
    __shared__ int of_warp[32];
    int sum = 0;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
         i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
        sum += in[i];
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_down_sync(0xFFFFFFFFu, sum, d);
    }
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
        for (int d = 16; d > 0; d /= 2) {
            sum += __shfl_down_sync(0xFFFFFFFFu, sum, d);
        }
        if (threadIdx.x == 0) {
            out[blockIdx.x] = sum;
        }
    }
}

// 256 fused multiply-adds per thread.
extern "C" __global__ void polynomial(const float* in, float* out, std::size_t n) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        const float x = in[i];
        float y = 1.0f;
#pragma unroll 16
        for (int k = 0; k < 256; ++k) {
            y = y * x + 0.5f;
        }
        out[i] = y;
    }
}

// One load per thread, `stride` elements apart.
extern "C" __global__ void gather(const int* in, int* out, std::size_t n, unsigned stride) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i * stride % n];
    }
}

// 16x16 tiles in shared memory; n a multiple of 16.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float a_tile[16][16];
    __shared__ float b_tile[16][16];
    const int row = blockIdx.y * 16 + threadIdx.y;
    const int column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n / 16; ++t) {
        a_tile[threadIdx.y][threadIdx.x] = a[row * n + t * 16 + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = b[(t * 16 + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// Structures of 4 bytes, copied byte by byte: their alignment is 1.
struct rgba {
    unsigned char r, g, b, a;
};
extern "C" __global__ void structures(const rgba* in, rgba* out, std::size_t n) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        const rgba v = in[i];
        out[i] = rgba{v.b, v.g, v.r, static_cast<unsigned char>(v.a ^ v.r)};
    }
}

// 64 byte counters per thread, as in NVIDIA's sample histogram64; 64 threads. Addresses depend on the data.
extern "C" __global__ void byte_counters(const unsigned* in, unsigned* out, unsigned words) {
    __shared__ unsigned char counts[64 * 64];
    for (unsigned k = threadIdx.x; k < 64 * 64; k += 64) {
        counts[k] = 0;
    }
    __syncthreads();
#pragma unroll 4
    for (unsigned k = 0; k < words; ++k) {
        const unsigned v = in[(blockIdx.x * words + k) * 64 + threadIdx.x];
        ++counts[threadIdx.x + 64 * (v >> 2 & 63)];
        ++counts[threadIdx.x + 64 * (v >> 10 & 63)];
    }
    __syncthreads();
    unsigned sum = 0;
    for (unsigned k = 0; k < 64; ++k) {
        sum += counts[threadIdx.x * 64 + ((k + threadIdx.x) & 63)];
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// Keys go to places in shared memory that depend on the data, as in a radix sort: bank conflicts of every kind.
extern "C" __global__ void scatter(const unsigned* in, unsigned* out, std::size_t n) {
    __shared__ unsigned keys[1024];
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned v = i < n ? in[i] : 0;
    for (unsigned k = 0; k < 16; ++k) {
        keys[v >> 3 & 1023] = v;
        __syncthreads();
        v += keys[v >> 7 & 1023] + threadIdx.x;
        __syncthreads();
    }
    out[i] = v;
}

// Interval arithmetic.
extern "C" __global__ void directed(const float* in, float* out, std::size_t n) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        const float x = in[i];
        float low = 1.0f;
        float high = 1.0f;
#pragma unroll 8
        for (int k = 0; k < 64; ++k) {
            low = __fadd_rd(__fmul_rd(low, x), 0.5f);
            high = __fmaf_ru(high, x, 0.5f);
        }
        out[i] = __double2float_ru(static_cast<double>(high) - low) + __float2int_rd(low * 64);
    }
}

// Sixteen fetches per thread from an image of 1024 x 1024 that is turned.
template <class T>
__device__ float turned(cudaTextureObject_t image, unsigned i) {
    const float x = static_cast<float>(i & 1023);
    const float y = static_cast<float>(i >> 10);
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < 16; ++k) {
        const T v = tex2D<T>(image, 0.8f * x - 0.6f * y + k, 0.6f * x + 0.8f * y - k);
        if constexpr (sizeof(T) == 16) {
            sum += v.x + v.y * v.z - v.w;
        } else {
            sum += v;
        }
    }
    return sum;
}
extern "C" __global__ void texture_one(cudaTextureObject_t image, float* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = turned<float>(image, i);
}
extern "C" __global__ void texture_four(cudaTextureObject_t image, float* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = turned<float4>(image, i);
}

// Phases of an mbarrier: every thread writes a word, arrives, waits, and reads another thread's word.
using block_barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
extern "C" __global__ void arrive_wait(const float* in, float* out, unsigned rounds) {
    __shared__ float words[256];
    __shared__ block_barrier all;
    const unsigned t = threadIdx.x;
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * 256 + t;
    if (t == 0) {
        init(&all, 256);
    }
    __syncthreads();
    float sum = in[i];
    for (unsigned k = 0; k < rounds; ++k) {
        words[t] = sum;
        auto token = all.arrive();
        sum *= 0.5f;
        all.wait(std::move(token));
        sum += 0.25f * words[(t + 33 + k) % 256];
        all.arrive_and_wait();
    }
    out[i] = sum;
}

// 128 threads fill two buffers in turn, and 128 others read them.
extern "C" __global__ void producer_consumer(const float* in, float* out, unsigned rounds) {
    __shared__ float words[2][128];
    __shared__ block_barrier free[2];
    __shared__ block_barrier full[2];
    const unsigned t = threadIdx.x % 128;
    if (threadIdx.x == 0) {
        for (unsigned k = 0; k < 2; ++k) {
            init(&free[k], 256);
            init(&full[k], 256);
        }
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        for (unsigned k = 0; k < rounds; ++k) {
            free[k % 2].arrive_and_wait();
            words[k % 2][t] = in[k * 128 + t];
            (void)full[k % 2].arrive();
        }
    } else {
        (void)free[0].arrive();
        (void)free[1].arrive();
        float sum = 0;
        for (unsigned k = 0; k < rounds; ++k) {
            full[k % 2].arrive_and_wait();
            sum += words[k % 2][t ^ 5];
            (void)free[k % 2].arrive();
        }
        out[blockIdx.x * 128 + t] = sum;
    }
}
