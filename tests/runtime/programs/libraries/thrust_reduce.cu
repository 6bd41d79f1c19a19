// SPDX-License-Identifier: MIT
// Thrust: device_vector, reduce and transform_reduce on 2^20 elements.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>

#include "tests/runtime/programs/check.hpp"

struct square {
    __host__ __device__ long long operator()(int x) const { return static_cast<long long>(x) * x; }
};

int main() {
    constexpr int n = 1 << 20;
    thrust::host_vector<int> host(n);
    long long expected = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
        host[i] = i % 1000 - 499;
        expected += host[i];
        squares += static_cast<long long>(host[i]) * host[i];
    }
    const thrust::device_vector<int> device = host;
    CHECK(thrust::reduce(device.begin(), device.end(), 0) == expected);
    CHECK(thrust::transform_reduce(device.begin(), device.end(), square(), 0LL, thrust::plus<long long>()) == squares);
    CHECK(device[5] == host[5]);
    return 0;
}
