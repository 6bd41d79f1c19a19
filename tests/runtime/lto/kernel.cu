// SPDX-License-Identifier: MIT
// The kernel of units_test.cpp, as LTO-IR: its function and its variable are another unit's.
extern __device__ unsigned x;
__device__ void store(unsigned* p);

__global__ void k(unsigned* q) {
    ++x;
    store(q);
}
