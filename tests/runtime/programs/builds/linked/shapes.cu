// SPDX-License-Identifier: MIT
// Functions that the other units call: by name, by address and by table.
#include <cstdio>
#include <new>

#include "tests/runtime/programs/builds/linked/units.hpp"
#include "tests/runtime/programs/check.hpp"

static __device__ int own = 7; // data.cu and main.cu have one too
static __device__ __noinline__ int hidden(int x) { return x + own; }

namespace {
__device__ __noinline__ int unnamed(int x) { return 9 * x; }

struct square : shape {
    using shape::shape;
    __device__ int area() const override { return side * side; }
};
struct triangle : shape {
    using shape::shape;
    __device__ int area() const override { return side * side / 2; }
    __device__ int corners() const override { return 3; }
};
} // namespace

__device__ int twice(int x) { return 2 * x; }
__device__ int thrice(int x) { return 3 * x; }
__device__ int hidden_of_shapes(int x) { return hidden(x) + unnamed(x); }
__device__ operation hidden_operation() { return hidden_of_shapes; }

__device__ int sum_of_block(int x) {
    extern __shared__ int scratch[];
    __shared__ int total;
    scratch[threadIdx.x] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        total = 0;
        for (unsigned t = 0; t < blockDim.x; ++t) {
            total += scratch[t];
        }
    }
    __syncthreads();
    return total;
}

__device__ long factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

__device__ int read_at(const int* p, int at) {
    return p[at]; // the planted fault
}

__device__ const shape* make_square(void* place, int side) { return new (place) square(side); }
__device__ const shape* make_triangle(void* place, int side) { return new (place) triangle(side); }

__global__ static void count(int* p) {
    *p += hidden(0) + step<int>(1) + static_cast<int>(factors[3]);
    std::printf("counted %d\n", counter);
}

void count_on(int* p) {
    count<<<1, 1>>>(p);
    CUDA(cudaDeviceSynchronize());
    add<int><<<1, 1>>>(p, 1000);
    CUDA(cudaDeviceSynchronize());
}
