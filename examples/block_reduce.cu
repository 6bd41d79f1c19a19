// SPDX-License-Identifier: MIT
// A user's kernel with warpfold's building blocks: mean and variance of each row of a matrix, one block per row.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "warpfold/block/reduce.cuh"
#include "warpfold/gpu/core/error.hpp"

struct moments {
    float count, mean, squares; // squares: the sum of squared distances from the mean
};

// Combines two parts of the data. Associative up to rounding. block::reduce needs no identity.
struct together {
    __device__ moments operator()(const moments& a, const moments& b) const {
        const float count = a.count + b.count, apart = b.mean - a.mean;
        return {count, a.mean + apart * b.count / count,
                a.squares + b.squares + apart * apart * a.count * b.count / count};
    }
};

__global__ void row_moments(const float* matrix, unsigned columns, moments* of_row) {
    __shared__ warpfold::block::reduce_storage<moments> storage;
    const float* row = matrix + std::size_t{blockIdx.x} * columns;
    moments mine{1, row[threadIdx.x], 0};
    for (unsigned k = threadIdx.x + blockDim.x; k < columns; k += blockDim.x) {
        mine = together{}(mine, {1, row[k], 0});
    }
    mine = warpfold::block::reduce(mine, together{}, storage);
    if (threadIdx.x == 0) {
        of_row[blockIdx.x] = mine;
    }
}

int main() {
    constexpr unsigned rows = 64, columns = 10000;
    std::vector<float> matrix(std::size_t{rows} * columns);
    for (std::size_t k = 0; k < matrix.size(); ++k) {
        matrix[k] = (static_cast<float>(k % columns * 7919 % columns) + 0.5f) / columns;
    }
    float* data;
    moments* result;
    WARPFOLD_CHECK_CUDA(cudaMalloc(&data, matrix.size() * sizeof(float)));
    WARPFOLD_CHECK_CUDA(cudaMalloc(&result, rows * sizeof(moments)));
    WARPFOLD_CHECK_CUDA(cudaMemcpy(data, matrix.data(), matrix.size() * sizeof(float), cudaMemcpyDefault));
    row_moments<<<rows, 256>>>(data, columns, result);
    WARPFOLD_CHECK_CUDA(cudaGetLastError());
    moments last;
    WARPFOLD_CHECK_CUDA(cudaMemcpy(&last, result + rows - 1, sizeof(last), cudaMemcpyDefault));
    std::printf("last row: mean %.4f, variance %.4f\n", last.mean, last.squares / last.count);
    WARPFOLD_CHECK_CUDA(cudaFree(data));
    WARPFOLD_CHECK_CUDA(cudaFree(result));
}
