// SPDX-License-Identifier: MIT
// Kernels with real control flow and many registers, for nvcc to turn into PTX.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

extern "C" __global__ void tree_reduce(int* out, const int* in, unsigned n) {
    extern __shared__ int shared[];
    const unsigned t = threadIdx.x;
    const unsigned i = blockIdx.x * blockDim.x + t;
    shared[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) {
            shared[t] += shared[t + stride];
        }
        __syncthreads();
    }
    if (t == 0) {
        out[blockIdx.x] = shared[0];
    }
}

extern "C" __global__ void early_return(float* out, const float* in, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) {
        return;
    }
    float x = in[i];
    for (int k = 0; k < n; ++k) {
        if (x > 100.0f) {
            out[i] = -1.0f;
            return;
        }
        if (k % 3 == 0) {
            continue;
        }
        switch (k % 7) {
        case 0: x += in[k]; break;
        case 1: x *= 1.5f; break;
        case 2: x = sinf(x); // falls through
        case 4: x -= 2.0f; break;
        default: x = fmaf(x, x, 0.25f); break;
        }
    }
    out[i] = x;
}

extern "C" __global__ void block_sort(unsigned* keys, unsigned* values) {
    using sort = cub::BlockRadixSort<unsigned, 128, 8, unsigned>;
    __shared__ typename sort::TempStorage storage;
    unsigned k[8];
    unsigned v[8];
    for (int j = 0; j < 8; ++j) {
        k[j] = keys[threadIdx.x * 8 + j];
        v[j] = values[threadIdx.x * 8 + j];
    }
    sort(storage).Sort(k, v);
    for (int j = 0; j < 8; ++j) {
        keys[threadIdx.x * 8 + j] = k[j];
        values[threadIdx.x * 8 + j] = v[j];
    }
}

extern "C" __global__ void block_scan(double* data) {
    using scan = cub::BlockScan<double, 256>;
    __shared__ typename scan::TempStorage storage;
    double x[4];
    for (int j = 0; j < 4; ++j) {
        x[j] = data[threadIdx.x * 4 + j];
    }
    scan(storage).InclusiveSum(x, x);
    for (int j = 0; j < 4; ++j) {
        data[threadIdx.x * 4 + j] = x[j];
    }
}
