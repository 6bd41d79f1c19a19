// SPDX-License-Identifier: MIT
// One program of two translation units that instantiate the same kernels.
#include "tests/runtime/programs/builds/units.hpp"
#include "tests/runtime/programs/check.hpp"

int main() {
    int* p = nullptr;
    CUDA(cudaMallocManaged(&p, 32 * sizeof(int)));
    fill<int><<<1, 32>>>(p, 5);
    fill<int><<<1, 32>>>(p, 6);
    CUDA(cudaDeviceSynchronize());
    CHECK(p[0] == 6 && p[31] == 37);
    int seen = 0;
    CUDA(cudaMemcpyFromSymbol(&seen, counter<int>, sizeof seen));
    CHECK(seen == 4);
    CHECK(filled_by_a(p) == 3);
    CHECK(p[0] == 1 && p[31] == 32);
    long* q = nullptr;
    CUDA(cudaMalloc(&q, 32 * sizeof(long)));
    fill<long><<<1, 32>>>(q, 7);
    scale<long><<<1, 32>>>(q, 2);
    CHECK(scaled_by_a(q) == 160);
    return 0;
}
