// SPDX-License-Identifier: MIT
// What three translation units built with -rdc=true share on the device. Each also has names of its own that the others
// have too.
#pragma once

#include <cuda_runtime.h>

// Defined in data.cu.
extern __device__ int counter;
extern __device__ int numbers[32];
extern __constant__ float factors[4];
extern __managed__ int managed_sum;
using operation = int (*)(int);
extern __device__ operation chosen; // initialised with a function of shapes.cu

// Defined in shapes.cu.
__device__ int twice(int x);
__device__ int thrice(int x);
__device__ operation hidden_operation();
__device__ int sum_of_block(int x); // with shared memory of its own, and dynamic shared memory
__device__ long factorial(int n);
__device__ int read_at(const int* p, int at);

struct shape {
    int side;
    __device__ explicit shape(int s) : side(s) {}
    __device__ virtual int area() const = 0;
    __device__ virtual int corners() const { return 4; }
};
__device__ const shape* make_square(void* place, int side);
__device__ const shape* make_triangle(void* place, int side);

// Every unit has a copy of these, and the program one.
template <class T>
__device__ T seen_by_all = 5;

template <class T>
__device__ __noinline__ T step(T x) {
    __shared__ T last[32];
    last[threadIdx.x % 32] = x + seen_by_all<T>;
    __syncwarp();
    return last[threadIdx.x % 32];
}

template <class T>
__global__ void add(T* p, T what) {
    p[threadIdx.x] += what;
}

// On the host.
void count_on(int* p);     // in shapes.cu: a kernel of the same name as one in main.cu
int* address_of_counter(); // in data.cu
void set_factors(const float (&values)[4]);
