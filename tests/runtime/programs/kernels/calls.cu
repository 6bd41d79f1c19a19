// SPDX-License-Identifier: MIT
// Calls in kernels as ordinary C++ makes them: functions that are not inlined, by pointer, virtual, recursive, with
// structures by value; the heap, printf to standard output, and room asked for at run time.
#include <alloca.h>

#include <vector>

#include "tests/runtime/programs/check.hpp"

struct record {
    int a;
    double b;
    char c[5];
};
__host__ __device__ record changed(record r, int n) {
    r.a += n;
    r.b *= n;
    r.c[n % 5] = static_cast<char>(n);
    return r;
}
__device__ __noinline__ record change(record r, int n) { return changed(r, n); }

struct shape {
    float side;
    __device__ explicit shape(float s) : side(s) {}
    __device__ virtual float area() const = 0;
    __device__ virtual ~shape() {}
};
struct square : shape {
    using shape::shape;
    __device__ float area() const override { return side * side; }
};
struct triangle : shape {
    using shape::shape;
    __device__ float area() const override { return side * side / 2; }
};

__device__ int increment(int x) { return x + 1; }
__device__ int twice(int x) { return 2 * x; }
__constant__ int (*functions[2])(int) = {increment, twice};
__device__ int (*chosen)(int) = twice;

__device__ __noinline__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}
__host__ __device__ int sum_below(int n) { return n * (n - 1) / 2; }
__device__ __noinline__ int sum_on_stack(int n) {
    int* const room = static_cast<int*>(alloca(n * sizeof(int)));
    for (int k = 0; k < n; ++k) {
        room[k] = k;
    }
    int sum = 0;
    for (int k = n; k-- > 0;) {
        sum += room[k];
    }
    return sum;
}
__device__ __noinline__ int neighbour(int value) {
    __shared__ int all[64];
    all[threadIdx.x] = value;
    __syncthreads();
    const int other = all[threadIdx.x ^ 1];
    __syncthreads();
    return other;
}

struct result {
    record changed;
    int by_table, by_pointer, ackermann, stack, neighbour;
    float area;
};
__global__ void calls(result* out, int (*given)(int)) {
    const int t = static_cast<int>(threadIdx.x);
    result& mine = out[t];
    mine.changed = change(record{t, 1.5, {1, 2, 3, 4, 5}}, t + 1);
    mine.by_table = functions[t % 2](t);
    mine.by_pointer = given(t);
    mine.ackermann = ackermann(2, t % 4);
    mine.stack = sum_on_stack(t);
    mine.neighbour = neighbour(10 * t);
    const shape* const s = t % 3 == 0 ? static_cast<shape*>(new square(t)) : new triangle(t);
    mine.area = s->area();
    delete s;
}

__global__ void keep(int** lists, int n) {
    int* const list = static_cast<int*>(malloc(n * sizeof(int)));
    for (int k = 0; k < n; ++k) {
        list[k] = k + static_cast<int>(threadIdx.x);
    }
    lists[threadIdx.x] = list;
}
__global__ void sum_up(int** lists, int n, int* sums) {
    int sum = 0;
    for (int k = 0; k < n; ++k) {
        sum += lists[threadIdx.x][k];
    }
    sums[threadIdx.x] = sum;
    free(lists[threadIdx.x]);
}

int main() {
    constexpr int threads = 64;
    result* out = nullptr;
    CUDA(cudaMallocManaged(&out, threads * sizeof(result)));
    int (*given)(int) = nullptr;
    CUDA(cudaMemcpyFromSymbol(&given, chosen, sizeof(given)));
    calls<<<1, threads>>>(out, given);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < threads; ++t) {
        const record r = changed(record{t, 1.5, {1, 2, 3, 4, 5}}, t + 1);
        CHECK(out[t].changed.a == r.a && out[t].changed.b == r.b);
        for (int k = 0; k < 5; ++k) {
            CHECK(out[t].changed.c[k] == r.c[k]);
        }
        CHECK(out[t].by_table == (t % 2 == 0 ? t + 1 : 2 * t));
        CHECK(out[t].by_pointer == 2 * t);
        CHECK(out[t].ackermann == 2 * (t % 4) + 3);
        CHECK(out[t].stack == sum_below(t));
        CHECK(out[t].neighbour == 10 * (t ^ 1));
        CHECK(out[t].area == (t % 3 == 0 ? 1.0f * t * t : 0.5f * t * t));
    }

    int** lists = nullptr;
    int* sums = nullptr;
    CUDA(cudaMalloc(&lists, threads * sizeof(int*)));
    CUDA(cudaMallocManaged(&sums, threads * sizeof(int)));
    CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    keep<<<1, threads>>>(lists, 100);
    sum_up<<<1, threads>>>(lists, 100, sums);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < threads; ++t) {
        CHECK(sums[t] == sum_below(100) + 100 * t);
    }
    return 0;
}
