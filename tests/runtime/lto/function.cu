// SPDX-License-Identifier: MIT
// What kernel.cu calls.
__device__ unsigned x = 41;
__device__ void store(unsigned* p) { *p = x; }
