// SPDX-License-Identifier: MIT
// The function that triple.cu calls.
extern "C" __device__ unsigned three(unsigned x) { return 3 * x; }
