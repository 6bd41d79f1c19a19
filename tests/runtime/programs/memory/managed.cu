// SPDX-License-Identifier: MIT
// Managed memory and managed variables, used by host and device in turn; advice about ranges of it.
#include "tests/runtime/programs/check.hpp"

__managed__ int counter = 5;
__managed__ float values[4] = {1, 2, 3, 4};

__global__ void add(int* data, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        data[i] += i;
    }
    if (i == 0) {
        counter += 1;
        values[2] = -values[2];
    }
}

static void advise(void* at, std::size_t bytes, cudaMemoryAdvise what) {
#if CUDART_VERSION >= 13000
    CUDA(cudaMemAdvise(at, bytes, what, {cudaMemLocationTypeDevice, 0}));
#else
    CUDA(cudaMemAdvise(at, bytes, what, 0));
#endif
}

static int attribute(cudaMemRangeAttribute which, void* at, std::size_t bytes) {
    int value = -5;
    CUDA(cudaMemRangeGetAttribute(&value, sizeof value, which, at, bytes));
    return value;
}

// Advice is for the pages of a range. A range has what all its pages have.
static void advice_by_range() {
    constexpr std::size_t page = 4096;
    char* p = nullptr;
    CUDA(cudaMallocManaged(&p, 8 * page));
    advise(p + 2 * page, 4 * page, cudaMemAdviseSetReadMostly);
    advise(p + 4 * page, 4 * page, cudaMemAdviseSetPreferredLocation);
    advise(p, 8 * page, cudaMemAdviseSetAccessedBy);
    advise(p + 7 * page, 1, cudaMemAdviseUnsetAccessedBy);
    const auto read_mostly = [&](std::size_t from, std::size_t pages) {
        return attribute(cudaMemRangeAttributeReadMostly, p + from * page, pages * page);
    };
    CHECK(read_mostly(2, 4) == 1 && read_mostly(3, 1) == 1);
    CHECK(read_mostly(0, 2) == 0 && read_mostly(1, 2) == 0 && read_mostly(6, 2) == 0 && read_mostly(0, 8) == 0);
    CHECK(attribute(cudaMemRangeAttributePreferredLocation, p + 4 * page, 4 * page) == 0);
    CHECK(attribute(cudaMemRangeAttributePreferredLocation, p, 8 * page) == cudaInvalidDeviceId);
    CHECK(attribute(cudaMemRangeAttributeAccessedBy, p, 7 * page) == 0);
    CHECK(attribute(cudaMemRangeAttributeAccessedBy, p, 8 * page) == cudaInvalidDeviceId);
    CUDA(cudaFree(p));
}

int main() {
    advice_by_range();
    CHECK(counter == 5 && values[3] == 4.0f);
    counter = 10;
    constexpr int n = 10000;
    int* data = nullptr;
    CUDA(cudaMallocManaged(&data, n * sizeof(int)));
    for (int i = 0; i < n; ++i) {
        data[i] = 1;
    }
#if CUDART_VERSION >= 13000
    const cudaMemLocation here{cudaMemLocationTypeDevice, 0};
    CUDA(cudaMemPrefetchAsync(data, n * sizeof(int), here, 0, nullptr));
#else
    CUDA(cudaMemPrefetchAsync(data, n * sizeof(int), 0, nullptr));
#endif
    add<<<(n + 255) / 256, 256>>>(data, n);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) {
        CHECK(data[i] == i + 1);
    }
    CHECK(counter == 11);
    CHECK(values[2] == -3.0f);
    int direct = 0;
    CUDA(cudaMemcpyFromSymbol(&direct, counter, sizeof direct));
    CHECK(direct == 11);
    CUDA(cudaFree(data));
    return 0;
}
