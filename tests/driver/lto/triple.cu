// SPDX-License-Identifier: MIT
// A kernel that calls a function of another unit. nvcc makes LTO-IR of it for link_test.cpp.
extern "C" __device__ unsigned three(unsigned x);

extern "C" __global__ void triple(unsigned* p) { *p = three(*p); }
