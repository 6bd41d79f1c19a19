// SPDX-License-Identifier: MIT
// A kernel template and a variable template that two translation units use (units_a.cu, units_b.cu). Without -rdc each
// unit has a copy of the variable on the device.
#pragma once

#include <cuda_runtime.h>

template <class T>
static __device__ T counter = 2;

template <class T>
__global__ static void fill(T* p, T value) {
    p[threadIdx.x] = value + static_cast<T>(threadIdx.x);
    if (threadIdx.x == 0) {
        counter<T> += 1;
    }
}

template <class T>
__global__ void scale(T* p, T by) {
    p[threadIdx.x] *= by;
}

int filled_by_a(int* p);   // fills, and gives its unit's counter
long scaled_by_a(long* p); // scales by 10 and gives p[1]
