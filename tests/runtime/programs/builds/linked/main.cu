// SPDX-License-Identifier: MIT
// A program of three units, linked on the device. With the argument `fault`: a function of another unit reads beyond an
// allocation.
#include <cstring>

#include "tests/runtime/programs/builds/linked/units.hpp"
#include "tests/runtime/programs/check.hpp"

static __device__ int own = 1; // data.cu and shapes.cu have one too
static __device__ __noinline__ int hidden(int x) { return x - own; }

namespace {
__device__ __noinline__ int unnamed(int x) { return 7 * x; }
} // namespace

__global__ static void count(int* p) { p[threadIdx.x] = hidden(10) + unnamed(1) + static_cast<int>(factors[3]); }

__global__ void by_name(int* p) {
    __shared__ int total;
    if (threadIdx.x == 0) {
        total = counter;
    }
    const int sum = sum_of_block(static_cast<int>(threadIdx.x));
    __syncthreads();
    p[threadIdx.x] = twice(static_cast<int>(threadIdx.x)) + 1000 * total + 100000 * sum + numbers[threadIdx.x];
}

__global__ void by_address(int* p) {
    const operation mine = threadIdx.x % 2 == 0 ? hidden_operation() : chosen;
    p[threadIdx.x] =
        mine(static_cast<int>(threadIdx.x)) + static_cast<int>(factorial(static_cast<int>(threadIdx.x % 5)));
}

__global__ void by_table(int* p) {
    alignas(16) unsigned char place[sizeof(shape)];
    const int side = static_cast<int>(threadIdx.x);
    const shape* const s = threadIdx.x < 16 ? make_square(place, side) : make_triangle(place, side);
    p[threadIdx.x] = 10 * s->area() + s->corners();
    if (threadIdx.x == 0) {
        managed_sum += numbers[3];
    }
}

__global__ void once_for_all(int* p) {
    p[threadIdx.x] = step<int>(static_cast<int>(threadIdx.x));
    if (threadIdx.x == 0) {
        seen_by_all<int> = 6;
    }
}

__global__ void faulty(int* p, int at) { p[0] = read_at(p, at); }

int main(int count_of_arguments, char** arguments) {
    int* p = nullptr;
    CUDA(cudaMalloc(&p, 32 * sizeof(int)));
    int seen[32];
    const auto see = [&] { CUDA(cudaMemcpy(seen, p, sizeof seen, cudaMemcpyDeviceToHost)); };
    if (count_of_arguments > 1 && std::strcmp(arguments[1], "fault") == 0) {
        faulty<<<1, 1>>>(p, 32);
        CUDA(cudaDeviceSynchronize());
        return 0;
    }

    by_name<<<1, 32, 32 * sizeof(int)>>>(p);
    see();
    CHECK(seen[0] == 40000 + 49600000 + 1 && seen[3] == 6 + 40000 + 49600000 + 4);
    const int other[2] = {70, 80};
    CUDA(cudaMemcpyToSymbol(numbers, other, sizeof other, 30 * sizeof(int)));
    CUDA(cudaMemcpyToSymbol(counter, other, sizeof(int)));
    by_name<<<1, 32, 32 * sizeof(int)>>>(p);
    see();
    CHECK(seen[31] == 62 + 70000 + 49600000 + 80);

    by_address<<<1, 32>>>(p);
    see();
    CHECK(seen[4] == 4 + 7 + 36 + 24 && seen[7] == 21 + 2);

    by_table<<<1, 32>>>(p);
    CUDA(cudaDeviceSynchronize());
    see();
    CHECK(seen[5] == 254 && seen[20] == 2003);
    CHECK(managed_sum == 104);

    once_for_all<<<1, 32>>>(p);
    see();
    CHECK(seen[8] == 13);
    set_factors({1, 1, 1, 50});
    count<<<1, 32>>>(p);
    see();
    CHECK(seen[31] == 9 + 7 + 50);
    int* const c = address_of_counter();
    count_on(c); // 70 + 4, + 7 + (1 + 6) + 50, + 1000
    CUDA(cudaMemcpyFromSymbol(seen, counter, sizeof(int)));
    CHECK(seen[0] == 1138);
    add<int><<<1, 1>>>(c, 2);
    CUDA(cudaMemcpyFromSymbol(seen, counter, sizeof(int)));
    CHECK(seen[0] == 1140);
    return 0;
}
