// SPDX-License-Identifier: MIT
// Variables that the other units use.
#include "tests/runtime/programs/builds/linked/units.hpp"
#include "tests/runtime/programs/check.hpp"

__device__ int counter = 40;
__device__ int numbers[32] = {1, 2, 3, 4};
__constant__ float factors[4] = {1, 2, 3, 4};
__managed__ int managed_sum = 100;
__device__ operation chosen = thrice;

static __device__ int own = 3; // main.cu and shapes.cu have one too

__global__ static void count(int* p) { atomicAdd(p, ++own); }

int* address_of_counter() {
    int* p = nullptr;
    CUDA(cudaGetSymbolAddress(reinterpret_cast<void**>(&p), counter));
    count<<<1, 1>>>(p);
    int left = 0;
    CUDA(cudaMemcpyFromSymbol(&left, own, sizeof left));
    CHECK(left == 4);
    return p;
}

void set_factors(const float (&values)[4]) { CUDA(cudaMemcpyToSymbol(factors, values, sizeof values)); }
