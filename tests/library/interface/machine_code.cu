// SPDX-License-Identifier: MIT
// Kernels that ptxas compiles for a card with 1,536 threads a multiprocessor, without a warning.
#include "warpfold/reduce.cuh"

void reduce_all(const float* in, float* out) {
    const warpfold::gpu on{};
    warpfold::reduce(on, in, 5, out);
    warpfold::reduce(
        on, in, 5, out, [] __host__ __device__(float a, float) { return a; }, 0.0f);
}
