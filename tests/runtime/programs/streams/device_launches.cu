// SPDX-License-Identifier: MIT
// Kernels that launch kernels, on the device runtime of CUDA 12 and 13: recursion, streams, events, tail launches, copies, and
// what is refused.
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "tests/runtime/programs/check.hpp"

namespace {

// Quicksort: each grid sorts a range, and launches a child for each half.
__global__ void insertion_sort(int* data, int count) {
    for (int i = 1; i < count; ++i) {
        const int value = data[i];
        int k = i;
        for (; k > 0 && data[k - 1] > value; --k) {
            data[k] = data[k - 1];
        }
        data[k] = value;
    }
}

__global__ void quicksort(int* data, int count, int depth) {
    if (count <= 16 || depth == 20) {
        insertion_sort<<<1, 1>>>(data, count);
        return;
    }
    const int pivot = data[count / 2];
    int low = 0;
    int high = count - 1;
    while (low <= high) {
        while (data[low] < pivot) {
            ++low;
        }
        while (data[high] > pivot) {
            --high;
        }
        if (low <= high) {
            const int kept = data[low];
            data[low++] = data[high];
            data[high--] = kept;
        }
    }
    cudaStream_t halves[2];
    for (cudaStream_t& s : halves) {
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    }
    if (high > 0) {
        quicksort<<<1, 1, 0, halves[0]>>>(data, high + 1, depth + 1);
    }
    if (low < count - 1) {
        quicksort<<<1, 1, 0, halves[1]>>>(data + low, count - low, depth + 1);
    }
    for (const cudaStream_t s : halves) {
        cudaStreamDestroy(s);
    }
}

void sorts() {
    std::vector<int> host(3000);
    std::mt19937 random(7);
    std::ranges::generate(host, [&] { return static_cast<int>(random() % 1000); });
    int* data = nullptr;
    CUDA(cudaMalloc(&data, host.size() * sizeof(int)));
    CUDA(cudaMemcpy(data, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice));
    quicksort<<<1, 1>>>(data, static_cast<int>(host.size()), 0);
    std::vector<int> sorted(host.size());
    CUDA(cudaMemcpy(sorted.data(), data, host.size() * sizeof(int), cudaMemcpyDeviceToHost));
    std::ranges::sort(host);
    CHECK(sorted == host);
    CUDA(cudaFree(data));
}

// Mariani and Silver: a square whose border has one count of iterations has it inside too; others are divided.
constexpr int side = 64;
constexpr int most_iterations = 64;

__host__ __device__ int iterations(int x, int y) {
    const float cx = -2.f + 3.f * static_cast<float>(x) / side;
    const float cy = -1.5f + 3.f * static_cast<float>(y) / side;
    float zx = 0;
    float zy = 0;
    int n = 0;
    while (n < most_iterations && zx * zx + zy * zy < 4.f) {
        const float next = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = next;
        ++n;
    }
    return n;
}

__global__ void fill_square(int* image, int x, int y, int n) {
    image[(y + static_cast<int>(threadIdx.y)) * side + x + static_cast<int>(threadIdx.x)] = n;
}

__global__ void each_pixel(int* image, int x, int y) {
    const int px = x + static_cast<int>(threadIdx.x);
    const int py = y + static_cast<int>(threadIdx.y);
    image[py * side + px] = iterations(px, py);
}

__global__ void mandelbrot(int* image, int x0, int y0, int size) {
    const int x = x0 + static_cast<int>(blockIdx.x) * size;
    const int y = y0 + static_cast<int>(blockIdx.y) * size;
    __shared__ int low;
    __shared__ int high;
    if (threadIdx.x == 0) {
        low = most_iterations + 1;
        high = -1;
    }
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < size; k += static_cast<int>(blockDim.x)) {
        const int border[] = {iterations(x + k, y), iterations(x + k, y + size - 1), iterations(x, y + k),
                              iterations(x + size - 1, y + k)};
        for (const int n : border) {
            atomicMin(&low, n);
            atomicMax(&high, n);
        }
    }
    __syncthreads();
    if (threadIdx.x != 0) {
        return;
    }
    const auto threads = static_cast<unsigned>(size);
    if (low == high && size <= 16) {
        fill_square<<<1, dim3(threads, threads)>>>(image, x, y, low);
    } else if (size <= 8) {
        each_pixel<<<1, dim3(threads, threads)>>>(image, x, y);
    } else {
        mandelbrot<<<dim3(2, 2), 32>>>(image, x, y, size / 2);
    }
}

void draws() {
    int* image = nullptr;
    CUDA(cudaMalloc(&image, side * side * sizeof(int)));
    CUDA(cudaMemset(image, 0xFF, side * side * sizeof(int)));
    mandelbrot<<<dim3(2, 2), 32>>>(image, 0, 0, side / 2);
    std::vector<int> drawn(side * side);
    CUDA(cudaMemcpy(drawn.data(), image, drawn.size() * sizeof(int), cudaMemcpyDeviceToHost));
    int different = 0;
    for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
            CHECK(drawn[static_cast<std::size_t>(y * side + x)] >= 0);
            different += drawn[static_cast<std::size_t>(y * side + x)] != iterations(x, y) ? 1 : 0;
        }
    }
    CHECK(different < side * side / 20); // the method misses what is inside a uniform border
    CUDA(cudaFree(image));
}

// Each link of the chain launches the next behind itself and its children.
__global__ void append(int* log, int* used, int value) { log[(*used)++] = value; }

__global__ void mark_done(int* done, int which) { done[which] = 1; }

__global__ void link_of_chain(int* log, int* used, int* done, int n) {
    mark_done<<<1, 1, 0, cudaStreamFireAndForget>>>(done, 2 * n);
    mark_done<<<1, 1>>>(done, 2 * n + 1);
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, used, 10 * n);
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, used, 10 * n + 1);
    if (n > 0 && done[2 * n - 2] + done[2 * n - 1] != 2) {
        log[0] = -1; // the children of the link before were not over
    }
    if (n < 5) {
        link_of_chain<<<1, 1, 0, cudaStreamTailLaunch>>>(log, used, done, n + 1);
    }
}

void chains() {
    int* data = nullptr; // log, how much of it is used, children that are over
    CUDA(cudaMalloc(&data, 64 * sizeof(int)));
    CUDA(cudaMemset(data, 0, 64 * sizeof(int)));
    link_of_chain<<<1, 1>>>(data, data + 32, data + 40, 0);
    append<<<1, 1>>>(data, data + 32, 99); // of the host: after all of it
    int log[64];
    CUDA(cudaMemcpy(log, data, sizeof(log), cudaMemcpyDeviceToHost));
    CHECK(log[32] == 13);
    for (int n = 0; n <= 5; ++n) {
        CHECK(log[2 * n] == 10 * n && log[2 * n + 1] == 10 * n + 1);
        CHECK(log[40 + 2 * n] == 1 && log[41 + 2 * n] == 1);
    }
    CHECK(log[12] == 99);
    CUDA(cudaFree(data));
}

// Streams and events of a grid order its children; copies and fills take part.
__global__ void add_one(int* data) { data[threadIdx.x] += 1; }
__global__ void times_two(int* data) { data[threadIdx.x] *= 2; }

__global__ void orders(int* data, int* copy, cudaError_t* results) {
    cudaStream_t first;
    cudaStream_t second;
    cudaEvent_t ready;
    results[0] = cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    results[1] = cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    results[2] = cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    results[3] = cudaMemsetAsync(data, 0, 32 * sizeof(int), first);
    add_one<<<1, 32, 0, first>>>(data);
    results[4] = cudaEventRecord(ready, first);
    results[5] = cudaStreamWaitEvent(second, ready, 0);
    times_two<<<1, 32, 0, second>>>(data);
    add_one<<<1, 32, 0, second>>>(data);
    results[6] = cudaMemcpyAsync(copy, data, 32 * sizeof(int), cudaMemcpyDeviceToDevice, second);
    results[7] = cudaEventDestroy(ready);
    results[8] = cudaStreamDestroy(first);
    results[9] = cudaStreamDestroy(second);
    results[10] = cudaGetLastError();
    // A pending launch sees the values of its parameters at the launch, and all writes of its launching thread.
    copy[32] = 5;
    append<<<1, 1>>>(copy + 33, copy + 36, copy[32]);
}

void streams_and_events() {
    int* data = nullptr;
    cudaError_t* results = nullptr;
    CUDA(cudaMalloc(&data, 96 * sizeof(int)));
    CUDA(cudaMemset(data, 0, 96 * sizeof(int)));
    CUDA(cudaMallocManaged(&results, 11 * sizeof(cudaError_t)));
    orders<<<1, 1>>>(data, data + 32, results);
    int host[96];
    CUDA(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (int k = 0; k < 11; ++k) {
        CHECK(results[k] == cudaSuccess);
    }
    for (int k = 0; k < 32; ++k) {
        CHECK(host[32 + k] == 3);
    }
    CHECK(host[65] == 5 && host[68] == 1);
    CUDA(cudaFree(results));
    CUDA(cudaFree(data));
}

// What a device function of the runtime says, and what it refuses.
struct answers {
    int device, count, multiprocessors, version, blocks, registers;
    size_t pending;
    cudaError_t too_wide, after_it, no_stream, blocking_stream, timed_event, host_copy, other_attribute;
    char name[24];
    int heap;
};

__global__ void asks(answers* a) {
    cudaGetDevice(&a->device);
    cudaGetDeviceCount(&a->count);
    cudaDeviceGetAttribute(&a->multiprocessors, cudaDevAttrMultiProcessorCount, a->device);
    cudaRuntimeGetVersion(&a->version);
    cudaDeviceGetLimit(&a->pending, cudaLimitDevRuntimePendingLaunchCount);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a->blocks, add_one, 256, 0);
    cudaFuncAttributes of;
    cudaFuncGetAttributes(&of, add_one);
    a->registers = of.numRegs;
    add_one<<<1, 2048>>>(nullptr);
    a->too_wide = cudaPeekAtLastError();
    const char* const name = cudaGetErrorName(cudaGetLastError());
    for (int k = 0; k < 23; ++k) {
        a->name[k] = name[k];
        if (name[k] == 0) {
            break;
        }
    }
    a->after_it = cudaGetLastError();
    add_one<<<1, 32, 0, reinterpret_cast<cudaStream_t>(0x12300)>>>(nullptr);
    a->no_stream = cudaGetLastError();
    cudaStream_t s;
    a->blocking_stream = cudaStreamCreateWithFlags(&s, cudaStreamDefault);
    cudaEvent_t e;
    a->timed_event = cudaEventCreateWithFlags(&e, cudaEventDefault);
    a->host_copy = cudaMemcpyAsync(a, a, 4, cudaMemcpyHostToDevice, nullptr);
    a->other_attribute = cudaDeviceGetAttribute(&a->heap, static_cast<cudaDeviceAttr>(99999), a->device);
    void* memory = nullptr;
    a->heap = cudaMalloc(&memory, 100) == cudaSuccess && memory != nullptr && cudaFree(memory) == cudaSuccess ? 1 : 0;
}

__global__ void nothing() {}

__global__ void too_many(cudaError_t* results, int launches) {
    for (int k = 0; k < launches; ++k) {
        nothing<<<1, 1, 0, cudaStreamFireAndForget>>>();
        results[k] = cudaGetLastError();
    }
}

__global__ void deeper(int* deepest, cudaError_t* refused, int depth) {
    *deepest = depth;
    deeper<<<1, 1>>>(deepest, refused, depth + 1);
    if (const cudaError_t e = cudaGetLastError(); e != cudaSuccess) {
        *refused = e;
    }
}

void limits_and_errors() {
    answers* a = nullptr;
    CUDA(cudaMallocManaged(&a, sizeof(answers)));
    std::memset(a, 0, sizeof(answers));
    asks<<<1, 1>>>(a);
    CUDA(cudaDeviceSynchronize());
    int multiprocessors = 0;
    int blocks = 0;
    CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 0));
    cudaFuncAttributes of{};
    CUDA(cudaFuncGetAttributes(&of, add_one));
    CHECK(a->device == 0 && a->count >= 1 && a->multiprocessors == multiprocessors && a->version >= 12000);
    CHECK(a->blocks == blocks && a->registers == of.numRegs && a->pending == 2048);
    CHECK(a->too_wide == cudaErrorInvalidConfiguration || a->too_wide == cudaErrorInvalidValue);
    CHECK(std::strncmp(a->name, "cudaErrorInvalid", 16) == 0);
    CHECK(a->after_it == cudaSuccess && a->no_stream == cudaErrorInvalidResourceHandle);
    CHECK(a->blocking_stream != cudaSuccess && a->timed_event != cudaSuccess && a->host_copy != cudaSuccess);
    CHECK(a->other_attribute != cudaSuccess && a->heap == 1);
    CUDA(cudaFree(a));

    CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100));
    cudaError_t* results = nullptr;
    CUDA(cudaMallocManaged(&results, 150 * sizeof(cudaError_t)));
    too_many<<<1, 1>>>(results, 80);
    CUDA(cudaDeviceSynchronize());
    CHECK(std::count(results, results + 80, cudaSuccess) == 80);
    too_many<<<1, 1>>>(results, 150);
    CUDA(cudaDeviceSynchronize());
    // Children may begin at once, and make room: at least the limit is accepted.
    const auto accepted = std::count(results, results + 150, cudaSuccess);
    CHECK(accepted >= 100);
    CHECK(std::count(results, results + 150, cudaErrorLaunchPendingCountExceeded) == 150 - accepted);
    CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 2048));

    int* deepest = nullptr;
    CUDA(cudaMallocManaged(&deepest, sizeof(int)));
    deeper<<<1, 1>>>(deepest, results, 0);
    CUDA(cudaDeviceSynchronize());
    CHECK(*deepest == 24 && results[0] == cudaErrorLaunchMaxDepthExceeded);
    CUDA(cudaFree(deepest));
    CUDA(cudaFree(results));
}

// In a graph, and in the order of a stream of the host.
void in_a_graph() {
    int* data = nullptr;
    CUDA(cudaMalloc(&data, 64 * sizeof(int)));
    CUDA(cudaMemset(data, 0, 64 * sizeof(int)));
    cudaStream_t s;
    CUDA(cudaStreamCreate(&s));
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    link_of_chain<<<1, 1, 0, s>>>(data, data + 32, data + 40, 3);
    append<<<1, 1, 0, s>>>(data, data + 32, 7);
    cudaGraph_t graph;
    CUDA(cudaStreamEndCapture(s, &graph));
    cudaGraphExec_t run;
    CUDA(cudaGraphInstantiate(&run, graph, 0));
    CUDA(cudaGraphLaunch(run, s));
    CUDA(cudaGraphLaunch(run, s));
    int log[64];
    CUDA(cudaMemcpyAsync(log, data, sizeof(log), cudaMemcpyDeviceToHost, s));
    CUDA(cudaStreamSynchronize(s));
    CHECK(log[32] == 14 && log[6] == 7 && log[13] == 7 && log[7] == 30);
    CUDA(cudaGraphExecDestroy(run));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(s));
    CUDA(cudaFree(data));
}

} // namespace

int main() {
    sorts();
    draws();
    chains();
    streams_and_events();
    limits_and_errors();
    in_a_graph();
    return 0;
}
