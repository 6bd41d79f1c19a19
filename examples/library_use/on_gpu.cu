// SPDX-License-Identifier: MIT
// The same sum on a GPU: nvcc -std=c++20 $(pkg-config --cflags warpfold) on_gpu.cu
#include <cstdio>
#include <numeric>
#include <vector>

#include <warpfold/reduce.cuh>

int main() {
    std::vector<int> numbers(1'000'000);
    std::iota(numbers.begin(), numbers.end(), 0);
    int* there;
    WARPFOLD_CHECK_CUDA(cudaMalloc(&there, numbers.size() * sizeof(int)));
    WARPFOLD_CHECK_CUDA(cudaMemcpy(there, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyDefault));
    const auto sum = warpfold::reduce(warpfold::gpu{}, there, numbers.size());
    std::printf("sum %lld\n", static_cast<long long>(sum));
    WARPFOLD_CHECK_CUDA(cudaFree(there));
}
