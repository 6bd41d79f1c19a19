// SPDX-License-Identifier: MIT
// Kernels of the interpreter's benchmarks. kernels.ptx is the output of nvcc 13.0, stored so that the benchmark needs no
// CUDA:
//     nvcc -std=c++20 -arch=compute_75 -ptx kernels.cu
#include <cstddef>

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
