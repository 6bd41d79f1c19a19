// SPDX-License-Identifier: MIT
// Variables in device and constant memory, by symbol and by address.
#include "tests/runtime/programs/check.hpp"

__device__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ float coefficients[4];
static __device__ double hidden = 2.5;
template <class T>
__device__ T of_type = T(7);
struct pair {
    int a;
    double b;
};
__constant__ pair both = {3, 0.25};
__device__ const int* into_table = &table[2];

__global__ void use(double* out) {
    const int i = static_cast<int>(threadIdx.x);
    out[i] =
        table[i] * static_cast<double>(coefficients[i % 4]) + hidden + of_type<short> + both.a + both.b + into_table[0];
    __syncthreads();
    if (i == 0) {
        table[7] = 100;
    }
}

int main() {
    const float host[4] = {1, 10, 100, 1000};
    CUDA(cudaMemcpyToSymbol(coefficients, host, sizeof host));
    int patch = 50;
    CUDA(cudaMemcpyToSymbol(table, &patch, sizeof patch, 4));
    const double changed = 0.5;
    CUDA(cudaMemcpyToSymbol(hidden, &changed, sizeof changed));
    void* address = nullptr;
    std::size_t bytes = 0;
    CUDA(cudaGetSymbolAddress(&address, table));
    CUDA(cudaGetSymbolSize(&bytes, table));
    CHECK(bytes == sizeof(int) * 8);
    int seen[8] = {};
    CUDA(cudaMemcpy(seen, address, sizeof seen, cudaMemcpyDeviceToHost));
    CHECK(seen[0] == 1 && seen[1] == 50 && seen[7] == 8);
    short of_host = 0;
    CUDA(cudaMemcpyFromSymbol(&of_host, of_type<short>, sizeof of_host));
    CHECK(of_host == 7);
    double* out = nullptr;
    CUDA(cudaMalloc(&out, 8 * sizeof(double)));
    use<<<1, 8>>>(out);
    double results[8] = {};
    CUDA(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    const int expected_table[8] = {1, 50, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < 8; ++i) {
        CHECK(results[i] == expected_table[i] * static_cast<double>(host[i % 4]) + 0.5 + 7 + 3 + 0.25 + 3);
    }
    CUDA(cudaMemcpyFromSymbol(seen, table, sizeof seen));
    CHECK(seen[7] == 100);
    return 0;
}
