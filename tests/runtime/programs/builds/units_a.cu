// SPDX-License-Identifier: MIT
#include "tests/runtime/programs/builds/units.hpp"
#include "tests/runtime/programs/check.hpp"

int filled_by_a(int* p) {
    fill<int><<<1, 32>>>(p, 1);
    int seen = 0;
    CUDA(cudaMemcpyFromSymbol(&seen, counter<int>, sizeof seen));
    return seen;
}

long scaled_by_a(long* p) {
    scale<long><<<1, 32>>>(p, 10);
    long seen = 0;
    CUDA(cudaMemcpy(&seen, p + 1, sizeof seen, cudaMemcpyDeviceToHost));
    return seen;
}
