// SPDX-License-Identifier: MIT
// Streams that run at the same time: kernels that wait for the host and for each other, default streams' rules, events,
// what returns at once and what waits. Every wait here ends only because the other side gets on.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/runtime/programs/check.hpp"

__global__ void wait_for(const volatile int* flag, int* out) {
    while (*flag == 0) {
    }
    *out += 1;
}

__global__ void raise(volatile int* flag) { *flag = 1; }

__global__ void increment(int* p) { *p += 1; }

__global__ void twice(int* p) { *p *= 2; }

static int read(const int* device) {
    int value = -1;
    CUDA(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

struct mapped_flag {
    volatile int* host = nullptr;
    int* device = nullptr;
    mapped_flag() {
        void* p = nullptr;
        CUDA(cudaHostAlloc(&p, sizeof(int), cudaHostAllocMapped));
        host = static_cast<volatile int*>(p);
        *host = 0;
        CUDA(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device), p, 0));
    }
};

static void a_kernel_waits_for_the_host() {
    mapped_flag flag;
    int* out = nullptr;
    CUDA(cudaMalloc(&out, sizeof(int)));
    CUDA(cudaMemset(out, 0, sizeof(int)));
    cudaStream_t s;
    cudaEvent_t before, after;
    CUDA(cudaStreamCreate(&s));
    CUDA(cudaEventCreate(&before));
    CUDA(cudaEventCreate(&after));
    CUDA(cudaEventRecord(before, s));
    wait_for<<<1, 1, 0, s>>>(flag.device, out);
    CUDA(cudaEventRecord(after, s));
    std::atomic<int> called{0};
    CUDA(cudaLaunchHostFunc(
        s, [](void* c) { ++*static_cast<std::atomic<int>*>(c); }, &called));
    int pageable = 7;
    int* target = nullptr;
    CUDA(cudaMalloc(&target, sizeof(int)));
    CUDA(cudaMemcpyAsync(target, &pageable, sizeof(int), cudaMemcpyHostToDevice, s));
    pageable = 8; // the copy has read it
    CUDA(cudaEventSynchronize(before));
    CHECK(cudaStreamQuery(s) == cudaErrorNotReady);
    CHECK(cudaGetLastError() == cudaSuccess); // not ready is no error
    CHECK(cudaEventQuery(after) == cudaErrorNotReady);
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, before, after) == cudaErrorNotReady);
    CHECK(cudaStreamQuery(nullptr) == cudaErrorNotReady); // the legacy stream waits for s
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(called == 0);
    *flag.host = 1;
    CUDA(cudaEventSynchronize(after));
    CUDA(cudaEventElapsedTime(&milliseconds, before, after));
    CHECK(milliseconds >= 20.0f);
    CUDA(cudaStreamSynchronize(s));
    CHECK(called == 1);
    CHECK(read(out) == 1);
    CHECK(read(target) == 7);
    CUDA(cudaStreamDestroy(s));
    CUDA(cudaFree(out));
    CUDA(cudaFree(target));
}

// More kernels wait than the host has cores, all for the one that is issued last.
static void kernels_wait_for_another_stream() {
    constexpr int waiting = 24;
    int* memory = nullptr;
    CUDA(cudaMalloc(&memory, (waiting + 1) * sizeof(int)));
    CUDA(cudaMemset(memory, 0, (waiting + 1) * sizeof(int)));
    CUDA(cudaDeviceSynchronize());
    std::vector<cudaStream_t> streams(waiting + 1);
    for (int i = 0; i < waiting; ++i) {
        CUDA(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        wait_for<<<1, 1, 0, streams[i]>>>(memory + waiting, memory + i);
    }
    CUDA(cudaStreamCreateWithFlags(&streams[waiting], cudaStreamNonBlocking));
    raise<<<1, 1, 0, streams[waiting]>>>(memory + waiting);
    for (cudaStream_t s : streams) {
        CUDA(cudaStreamSynchronize(s));
        CUDA(cudaStreamDestroy(s));
    }
    for (int i = 0; i < waiting; ++i) {
        CHECK(read(memory + i) == 1);
    }
    CUDA(cudaFree(memory));
}

static void default_streams() {
    mapped_flag flag;
    int* p = nullptr;
    int* q = nullptr;
    CUDA(cudaMalloc(&p, sizeof(int)));
    CUDA(cudaMalloc(&q, sizeof(int)));
    CUDA(cudaMemset(p, 0, sizeof(int)));
    CUDA(cudaMemset(q, 0, sizeof(int)));
    CUDA(cudaDeviceSynchronize());
    cudaStream_t apart, joined;
    CUDA(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    CUDA(cudaStreamCreate(&joined));
    wait_for<<<1, 1, 0, apart>>>(flag.device, p);
    // The legacy stream and what blocks on it pass by the non-blocking one.
    increment<<<1, 1>>>(q);
    increment<<<1, 1, 0, joined>>>(q);
    increment<<<1, 1>>>(q);
    increment<<<1, 1, 0, cudaStreamPerThread>>>(q);
    twice<<<1, 1>>>(q);
    CUDA(cudaStreamSynchronize(nullptr));
    CHECK(read(q) == 8);
    CHECK(cudaStreamQuery(apart) == cudaErrorNotReady);
    (void)cudaGetLastError();
    *flag.host = 1;
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaStreamQuery(apart));
    // A blocking stream holds the legacy one up, and that the other blocking ones.
    *flag.host = 0;
    wait_for<<<1, 1, 0, joined>>>(flag.device, p);
    twice<<<1, 1>>>(p);
    increment<<<1, 1, 0, cudaStreamPerThread>>>(p);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(cudaStreamQuery(cudaStreamPerThread) == cudaErrorNotReady);
    (void)cudaGetLastError();
    CUDA(cudaStreamDestroy(joined)); // its work goes on, and the legacy stream still waits for it
    twice<<<1, 1>>>(p);
    *flag.host = 1;
    CUDA(cudaDeviceSynchronize());
    CHECK(read(p) == 2 * (2 * (1 + 1) + 1));
    CUDA(cudaStreamDestroy(apart));
    CUDA(cudaFree(p));
    CUDA(cudaFree(q));
}

static void events_order_streams() {
    mapped_flag flag;
    int* p = nullptr;
    CUDA(cudaMalloc(&p, sizeof(int)));
    CUDA(cudaMemset(p, 0, sizeof(int)));
    CUDA(cudaDeviceSynchronize());
    cudaStream_t a, b;
    cudaEvent_t done;
    CUDA(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    wait_for<<<1, 1, 0, a>>>(flag.device, p);
    CUDA(cudaEventRecord(done, a));
    CUDA(cudaStreamWaitEvent(b, done, 0));
    CUDA(cudaEventRecord(done, nullptr)); // b waits for what was recorded when it was told to
    CUDA(cudaEventDestroy(done));
    twice<<<1, 1, 0, b>>>(p);
    increment<<<1, 1, 0, b>>>(p);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(cudaStreamQuery(b) == cudaErrorNotReady);
    (void)cudaGetLastError();
    *flag.host = 1;
    CUDA(cudaStreamSynchronize(b));
    CHECK(read(p) == 3);
    // Memory is freed and given again in the stream's order.
    int* scratch = nullptr;
    for (int i = 0; i < 20; ++i) {
        CUDA(cudaMallocAsync(&scratch, 1 << 20, a));
        CUDA(cudaMemsetAsync(scratch, 0, sizeof(int), a));
        increment<<<1, 1, 0, a>>>(scratch);
        CUDA(cudaMemcpyAsync(p, scratch, sizeof(int), cudaMemcpyDeviceToDevice, a));
        CUDA(cudaFreeAsync(scratch, a));
        CHECK(cudaFreeAsync(scratch, a) == cudaErrorInvalidValue);
        (void)cudaGetLastError();
    }
    CUDA(cudaStreamSynchronize(a));
    CHECK(read(p) == 1);
    CUDA(cudaStreamDestroy(a));
    CUDA(cudaStreamDestroy(b));
    CUDA(cudaFree(p));
}

static void several_threads() {
    constexpr int threads = 6;
    int* sums = nullptr;
    CUDA(cudaMalloc(&sums, threads * sizeof(int)));
    CUDA(cudaMemset(sums, 0, threads * sizeof(int)));
    CUDA(cudaDeviceSynchronize());
    std::vector<std::thread> hosts;
    for (int t = 0; t < threads; ++t) {
        hosts.emplace_back([=] {
            cudaStream_t s;
            cudaEvent_t e;
            CUDA(cudaStreamCreate(&s));
            CUDA(cudaEventCreate(&e));
            for (int i = 0; i < 100; ++i) {
                cudaStream_t const on = i % 3 == 0 ? s : i % 3 == 1 ? cudaStreamPerThread : cudaStreamLegacy;
                increment<<<1, 1, 0, on>>>(sums + t);
                CUDA(cudaEventRecord(e, on));
                CUDA(cudaStreamWaitEvent(s, e, 0));
                CUDA(cudaStreamWaitEvent(cudaStreamPerThread, e, 0));
                if (i % 25 == 0) {
                    CUDA(cudaEventSynchronize(e));
                }
            }
            CUDA(cudaDeviceSynchronize());
            CHECK(read(sums + t) == 100);
            CUDA(cudaEventDestroy(e));
            CUDA(cudaStreamDestroy(s));
        });
    }
    for (std::thread& t : hosts) {
        t.join();
    }
    CUDA(cudaFree(sums));
}

static void many_launches() {
    int* p = nullptr;
    CUDA(cudaMalloc(&p, sizeof(int)));
    CUDA(cudaMemset(p, 0, sizeof(int)));
    for (int i = 0; i < 10000; ++i) {
        increment<<<1, 1>>>(p);
    }
    CHECK(read(p) == 10000);
    CUDA(cudaFree(p));
}

int main() {
    a_kernel_waits_for_the_host();
    kernels_wait_for_another_stream();
    default_streams();
    events_order_streams();
    several_threads();
    many_launches();
    return 0;
}
