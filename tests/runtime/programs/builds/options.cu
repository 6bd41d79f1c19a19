// SPDX-License-Identifier: MIT
// Compiled several times with other options of nvcc (see CMakeLists.txt): a kernel with a bit of everything has the
// answer that the host has.
#include <vector>

#include "tests/runtime/programs/check.hpp"

__constant__ int weights[4] = {1, 3, 5, 7};

struct pair {
    int sum;
    int most;
};

template <class T>
__host__ __device__ T larger(T a, T b) {
    return a < b ? b : a;
}

__host__ __device__ pair add(pair a, pair b) { return {a.sum + b.sum, larger(a.most, b.most)}; }

// A table on the stack that is indexed at run time.
__host__ __device__ int digit_sum(unsigned x) {
    int digits[10] = {};
    int n = 0;
    do {
        digits[n++] = static_cast<int>(x % 10);
        x /= 10;
    } while (x != 0 && n < 10);
    int sum = 0;
    for (int i = n - 1; i >= 0; --i) {
        sum = sum * 2 + digits[i];
    }
    return sum;
}

template <class Value>
__global__ void summarize(Value value, int n, pair* out) {
    __shared__ pair warps[32];
    pair mine{0, 0};
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
        const int v = value(i) * weights[i % 4];
        mine = add(mine, {v, v});
    }
    for (int d = 16; d > 0; d /= 2) {
        mine = add(mine, {__shfl_down_sync(~0u, mine.sum, d), __shfl_down_sync(~0u, mine.most, d)});
    }
    if (threadIdx.x % 32 == 0) {
        warps[threadIdx.x / 32] = mine;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < blockDim.x / 32; ++w) {
            mine = add(mine, warps[w]);
        }
        *out = mine;
    }
}

__global__ void roots(const float* in, float* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    out[i] = sqrtf(in[i]) / (1 + in[i]);
}

int main() {
    constexpr int n = 1000;
    pair expected{0, 0};
    const int of_host[4] = {1, 3, 5, 7};
    for (int i = 0; i < n; ++i) {
        const int v = (digit_sum(static_cast<unsigned>(i) * 1234567u) + i) * of_host[i % 4];
        expected = add(expected, {v, v});
    }
    pair* out = nullptr;
    CUDA(cudaMallocManaged(&out, sizeof(pair)));
    summarize<<<1, 128>>>([] __device__(int i) { return digit_sum(static_cast<unsigned>(i) * 1234567u) + i; }, n, out);
    CUDA(cudaDeviceSynchronize());
    CHECK(out->sum == expected.sum && out->most == expected.most);

    std::vector<float> numbers(256);
    for (int i = 0; i < 256; ++i) {
        numbers[i] = static_cast<float>(i * i);
    }
    float* device = nullptr;
    CUDA(cudaMalloc(&device, 512 * sizeof(float)));
    CUDA(cudaMemcpy(device, numbers.data(), 256 * sizeof(float), cudaMemcpyHostToDevice));
    roots<<<4, 64>>>(device, device + 256);
    CUDA(cudaMemcpy(numbers.data(), device + 256, 256 * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; ++i) {
        const float exact = static_cast<float>(i) / static_cast<float>(1 + i * i);
        CHECK(numbers[i] <= exact * 1.000001f && numbers[i] >= exact * 0.999999f); // -use_fast_math: a few ulp
    }
    return 0;
}
