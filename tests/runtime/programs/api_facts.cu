// SPDX-License-Identifier: MIT
// Prints what a few hundred calls of the runtime return, right and wrong ones, one line each. Run on a real GPU the
// output is the golden file tests/runtime/data/api_facts.txt; on the software GPU it has to be the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

// As in cuda_profiler_api.h, which the compiler's wheels do not bring.
extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();

static void show(const char* call, cudaError_t result) {
    const cudaError_t last = cudaGetLastError();
    std::printf("%s -> %s", call, cudaGetErrorName(result));
    if (last != result) {
        std::printf(" (last error %s)", cudaGetErrorName(last));
    }
    std::printf("\n");
}

#define SHOW(call) show(#call, call)
#define LAUNCH(call)                                                                                                   \
    do {                                                                                                               \
        call;                                                                                                          \
        std::printf("%s -> %s\n", #call, cudaGetErrorName(cudaGetLastError()));                                        \
    } while (false)

__device__ int symbol[16] = {1, 2, 3};
__constant__ float constant_symbol[4] = {1, 2, 3, 4};

__global__ void nothing() {}
__global__ void cached() {}
__global__ void __launch_bounds__(128) bounded() {}
__global__ void dynamic_shared(int* out) {
    extern __shared__ int words[];
    words[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    if (out != nullptr) {
        out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
    }
}
__global__ void static_shared(int* out) {
    __shared__ int words[10240];
    for (int i = static_cast<int>(threadIdx.x); i < 10240; i += static_cast<int>(blockDim.x)) {
        words[i] = i;
    }
    __syncthreads();
    if (out != nullptr) {
        out[threadIdx.x] = words[10239 - threadIdx.x];
    }
}
__global__ void parameters(char a, double b, int c, void* d, short e) {
    if (d != nullptr) {
        *static_cast<double*>(d) = a + b + c + e;
    }
}
static void not_a_kernel() {}

static void configurations() {
    LAUNCH((nothing<<<0, 32>>>()));
    LAUNCH((nothing<<<1, 0>>>()));
    LAUNCH((nothing<<<dim3(1, 0, 1), 32>>>()));
    LAUNCH((nothing<<<1, 1024>>>()));
    LAUNCH((nothing<<<1, 1025>>>()));
    LAUNCH((nothing<<<1, dim3(32, 33, 1)>>>()));
    LAUNCH((nothing<<<1, dim3(1, 1, 64)>>>()));
    LAUNCH((nothing<<<1, dim3(1, 1, 65)>>>()));
    LAUNCH((nothing<<<dim3(1, 65535, 1), 1>>>()));
    LAUNCH((nothing<<<dim3(1, 65536, 1), 1>>>()));
    LAUNCH((nothing<<<dim3(1, 1, 65536), 1>>>()));
    LAUNCH((nothing<<<dim3(2147483648u, 1, 1), 1>>>()));
    LAUNCH((nothing<<<1, 1, 48 * 1024>>>()));
    LAUNCH((nothing<<<1, 1, 48 * 1024 + 1>>>()));
    LAUNCH((nothing<<<1, 1, 1024 * 1024>>>()));
    LAUNCH((bounded<<<1, 128>>>()));
    LAUNCH((bounded<<<1, 129>>>()));
    LAUNCH((bounded<<<1, 1025>>>()));
    LAUNCH((static_shared<<<1, 32, 8 * 1024>>>(nullptr)));
    LAUNCH((static_shared<<<1, 32, 8 * 1024 + 4>>>(nullptr)));
    LAUNCH((dynamic_shared<<<1, 32, 64 * 1024>>>(nullptr)));
    SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
    LAUNCH((dynamic_shared<<<1, 32, 64 * 1024>>>(nullptr)));
    LAUNCH((dynamic_shared<<<1, 32, 64 * 1024 + 1>>>(nullptr)));
    SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    LAUNCH((dynamic_shared<<<1, 32, 227 * 1024>>>(nullptr)));
    SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 + 1));
    SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    SHOW(cudaFuncSetAttribute(static_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 187 * 1024));
    SHOW(cudaFuncSetAttribute(static_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 187 * 1024 + 1));
    SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, -1));
    SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
    SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, -2));
    SHOW(cudaFuncSetAttribute(dynamic_shared, static_cast<cudaFuncAttribute>(99), 1));
    SHOW(cudaFuncSetAttribute(reinterpret_cast<const void*>(not_a_kernel),
                              cudaFuncAttributePreferredSharedMemoryCarveout, 1));
    SHOW(cudaFuncSetAttribute(static_cast<const void*>(nullptr), cudaFuncAttributePreferredSharedMemoryCarveout, 1));
    SHOW(cudaFuncSetCacheConfig(cached, cudaFuncCachePreferL1));
    SHOW(cudaFuncSetCacheConfig(cached, static_cast<cudaFuncCache>(9)));
    void* no_arguments[1] = {nullptr};
    const auto* const kernel = reinterpret_cast<const void*>(nothing);
    SHOW(cudaLaunchKernel(kernel, dim3(0), dim3(32), no_arguments, 0, nullptr));
    SHOW(cudaLaunchKernel(kernel, dim3(1), dim3(0), no_arguments, 0, nullptr));
    SHOW(cudaLaunchKernel(kernel, dim3(1), dim3(1025), no_arguments, 0, nullptr));
    SHOW(cudaLaunchKernel(kernel, dim3(1), dim3(1), no_arguments, 1 << 20, nullptr));
    SHOW(cudaLaunchKernel(reinterpret_cast<const void*>(bounded), dim3(1), dim3(129), no_arguments, 0, nullptr));
    SHOW(cudaLaunchCooperativeKernel(kernel, dim3(0), dim3(32), no_arguments, 0, nullptr));
    SHOW(cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(1025), no_arguments, 0, nullptr));
    SHOW(cudaLaunchKernel(reinterpret_cast<const void*>(nothing), dim3(1), dim3(32), no_arguments, 0, nullptr));
    SHOW(cudaLaunchKernel(reinterpret_cast<const void*>(nothing), dim3(1), dim3(32), nullptr, 0, nullptr));
    SHOW(cudaLaunchKernel(reinterpret_cast<const void*>(not_a_kernel), dim3(1), dim3(32), no_arguments, 0, nullptr));
    SHOW(cudaLaunchKernel(nullptr, dim3(1), dim3(32), no_arguments, 0, nullptr));
    SHOW(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(nothing), dim3(132), dim3(1024), no_arguments, 0,
                                     nullptr));
    SHOW(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(nothing), dim3(100000), dim3(1024), no_arguments, 0,
                                     nullptr));
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(0);
    SHOW(cudaLaunchKernelExC(&config, kernel, no_arguments));
    config.gridDim = dim3(2);
    config.blockDim = dim3(64);
    SHOW(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(nothing), no_arguments));
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    SHOW(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(nothing), no_arguments));
    config.gridDim = dim3(1000000);
    SHOW(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(nothing), no_arguments));
    SHOW(cudaDeviceSynchronize());
}

static void functions() {
    cudaFuncAttributes a{};
    SHOW(cudaFuncGetAttributes(&a, static_shared));
    std::printf("shared %zu max threads %d max dynamic %d carveout %d\n", a.sharedSizeBytes, a.maxThreadsPerBlock,
                a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout);
    SHOW(cudaFuncGetAttributes(&a, bounded));
    std::printf("shared %zu max threads %d max dynamic %d carveout %d\n", a.sharedSizeBytes, a.maxThreadsPerBlock,
                a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout);
    SHOW(cudaFuncGetAttributes(&a, nothing));
    std::printf("constant %zu local %zu binary %d ptx %d max dynamic %d carveout %d cache %d\n", a.constSizeBytes,
                a.localSizeBytes, a.binaryVersion, a.ptxVersion, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout,
                a.cacheModeCA);
    SHOW(cudaFuncGetAttributes(&a, reinterpret_cast<const void*>(not_a_kernel)));
    SHOW(cudaFuncGetAttributes(&a, static_cast<const void*>(nullptr)));
    SHOW(cudaFuncGetAttributes(nullptr, nothing));
    for (std::size_t i = 0; i < 6; ++i) {
        std::size_t offset = 0, bytes = 0;
        const cudaError_t e = cudaFuncGetParamInfo(reinterpret_cast<const void*>(parameters), i, &offset, &bytes);
        std::printf("parameter %zu: %s offset %zu bytes %zu\n", i, cudaGetErrorName(e), offset, bytes);
    }
    (void)cudaGetLastError();
    const char* name = nullptr;
    SHOW(cudaFuncGetName(&name, reinterpret_cast<const void*>(parameters)));
    std::printf("name %s\n", name);
    cudaKernel_t kernel{};
    SHOW(cudaGetKernel(&kernel, reinterpret_cast<const void*>(nothing)));
    SHOW(cudaGetKernel(&kernel, reinterpret_cast<const void*>(not_a_kernel)));
    cudaFunction_t function{};
    SHOW(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(nothing)));
    SHOW(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(not_a_kernel)));
    int blocks = -1;
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 128, 0));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1024, 0));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 32, 0));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 33, 0));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 96, 0));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, static_shared, 128, 0));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic_shared, 128, 20000));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic_shared, 128, 227 * 1024));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic_shared, 128, 300 * 1024));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 128, 49153));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, nothing, 128, 0, 2));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, static_cast<const void*>(nullptr), 128, 0));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 0, 0));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, -1, 0));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1025, 0));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 129, 0));
    std::printf("blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, nothing, 128, 0));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reinterpret_cast<const void*>(not_a_kernel), 128, 0));
    std::size_t bytes = 0;
    SHOW(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, nothing, 1, 128));
    std::printf("bytes %zu\n", bytes);
    SHOW(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, nothing, 4, 128));
    std::printf("bytes %zu\n", bytes);
    SHOW(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, static_shared, 2, 128));
    std::printf("bytes %zu\n", bytes);
    SHOW(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, nothing, 100, 128));
    SHOW(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, nothing, 0, 128));
    int grid = 0, block = 0;
    SHOW(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing));
    std::printf("grid %d block %d\n", grid, block);
}

static void allocations() {
    void* p = reinterpret_cast<void*>(8);
    SHOW(cudaMalloc(&p, 0));
    std::printf("pointer is null: %d\n", p == nullptr);
    SHOW(cudaMalloc(static_cast<void**>(nullptr), 4));
    SHOW(cudaMalloc(&p, std::size_t{1} << 50));
    SHOW(cudaMalloc(&p, ~std::size_t{0}));
    SHOW(cudaFree(nullptr));
    SHOW(cudaMalloc(&p, 100));
    SHOW(cudaFree(static_cast<char*>(p) + 4));
    SHOW(cudaFree(p));
    SHOW(cudaFree(p));
    int on_host[4] = {};
    SHOW(cudaFree(on_host));
    SHOW(cudaFree(reinterpret_cast<void*>(16)));
    SHOW(cudaFreeHost(nullptr));
    SHOW(cudaFreeHost(on_host));
    std::size_t pitch = 0;
    SHOW(cudaMallocPitch(&p, &pitch, 100, 10));
    std::printf("pitch %zu\n", pitch);
    SHOW(cudaFreeHost(p));
    SHOW(cudaFree(p));
    SHOW(cudaMallocPitch(&p, &pitch, 513, 10));
    std::printf("pitch %zu\n", pitch);
    SHOW(cudaFree(p));
    SHOW(cudaMallocPitch(&p, &pitch, 0, 10));
    SHOW(cudaMallocPitch(&p, &pitch, 10, 0));
    cudaPitchedPtr pitched{};
    SHOW(cudaMalloc3D(&pitched, make_cudaExtent(100, 5, 3)));
    std::printf("pitch %zu xsize %zu ysize %zu\n", pitched.pitch, pitched.xsize, pitched.ysize);
    SHOW(cudaFree(pitched.ptr));
    SHOW(cudaMallocHost(&p, 100));
    SHOW(cudaFree(p));
    SHOW(cudaMallocHost(&p, 100));
    SHOW(cudaFreeHost(static_cast<char*>(p) + 8));
    SHOW(cudaFreeHost(p));
    SHOW(cudaFreeHost(p));
    SHOW(cudaMallocHost(&p, 0));
    SHOW(cudaHostAlloc(&p, 100, cudaHostAllocMapped | cudaHostAllocPortable));
    unsigned flags = 0;
    SHOW(cudaHostGetFlags(&flags, p));
    std::printf("flags %u\n", flags);
    void* device = nullptr;
    SHOW(cudaHostGetDevicePointer(&device, p, 0));
    std::printf("same address: %d\n", device == p);
    SHOW(cudaHostGetDevicePointer(&device, p, 1));
    SHOW(cudaHostGetDevicePointer(&device, on_host, 0));
    SHOW(cudaHostGetFlags(&flags, on_host));
    SHOW(cudaFreeHost(p));
    SHOW(cudaHostAlloc(&p, 100, 0x80));
    SHOW(cudaHostAlloc(&p, 100, cudaHostAllocWriteCombined));
    SHOW(cudaHostGetFlags(&flags, p));
    std::printf("flags %u\n", flags);
    SHOW(cudaHostRegister(p, 100, cudaHostRegisterDefault));
    SHOW(cudaFreeHost(p));
    SHOW(cudaMallocHost(&p, 100));
    SHOW(cudaHostGetFlags(&flags, p));
    std::printf("flags %u\n", flags);
    SHOW(cudaHostUnregister(p));
    SHOW(cudaFreeHost(p));
    SHOW(cudaMalloc(&p, 100));
    SHOW(cudaHostRegister(p, 100, cudaHostRegisterDefault));
    SHOW(cudaHostGetDevicePointer(&device, p, 0));
    SHOW(cudaFree(p));
    std::vector<char> pageable(1 << 20);
    SHOW(cudaHostRegister(pageable.data(), pageable.size(), cudaHostRegisterDefault));
    SHOW(cudaHostRegister(pageable.data(), pageable.size(), cudaHostRegisterDefault));
    SHOW(cudaHostUnregister(pageable.data() + 4096));
    SHOW(cudaHostUnregister(pageable.data()));
    SHOW(cudaHostUnregister(pageable.data()));
    SHOW(cudaHostRegister(nullptr, 100, cudaHostRegisterDefault));
    SHOW(cudaHostRegister(pageable.data(), 0, cudaHostRegisterDefault));
    SHOW(cudaHostRegister(pageable.data(), 100, 0x80));
    SHOW(cudaHostUnregister(nullptr));
    SHOW(cudaMallocManaged(&p, 100));
    SHOW(cudaFree(p));
    SHOW(cudaMallocManaged(&p, 0));
    SHOW(cudaMallocManaged(&p, 100, 7));
    std::size_t available = 0, total = 0;
    SHOW(cudaMemGetInfo(&available, &total));
    SHOW(cudaMemGetInfo(nullptr, nullptr));
}

static void describe(const char* what, const void* p) {
    cudaPointerAttributes a{};
    const cudaError_t e = cudaPointerGetAttributes(&a, p);
    std::printf("%s: %s type %d device %d device pointer %d host pointer %d\n", what, cudaGetErrorName(e), a.type,
                a.device,
                a.devicePointer == nullptr ? 0
                : a.devicePointer == p     ? 1
                                           : 2,
                a.hostPointer == nullptr ? 0
                : a.hostPointer == p     ? 1
                                         : 2);
    (void)cudaGetLastError();
}

static void pointers() {
    int on_host[4] = {};
    describe("null", nullptr);
    describe("host", on_host);
    void *device = nullptr, *pinned = nullptr, *managed = nullptr, *of_pool = nullptr, *of_symbol = nullptr;
    cudaMalloc(&device, 256);
    cudaMallocHost(&pinned, 256);
    cudaMallocManaged(&managed, 256);
    cudaMallocAsync(&of_pool, 256, nullptr);
    cudaGetSymbolAddress(&of_symbol, symbol);
    describe("device", device);
    describe("inside device", static_cast<char*>(device) + 100);
    describe("pinned", pinned);
    describe("inside pinned", static_cast<char*>(pinned) + 100);
    describe("managed", managed);
    describe("pool", of_pool);
    describe("symbol", of_symbol);
    cudaHostRegister(on_host, sizeof on_host, cudaHostRegisterDefault);
    describe("registered", on_host);
    cudaHostUnregister(on_host);
    cudaFree(device);
    cudaFreeHost(pinned);
    cudaFree(managed);
    cudaFreeAsync(of_pool, nullptr);
    SHOW(cudaPointerGetAttributes(nullptr, on_host));
    (void)cudaGetLastError();
}

static void copies() {
    char *device = nullptr, *other = nullptr;
    std::vector<char> host(4096);
    cudaMalloc(&device, 1024);
    cudaMalloc(&other, 1024);
    SHOW(cudaMemcpy(device, host.data(), 1024, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(device, host.data(), 1024, cudaMemcpyDefault));
    SHOW(cudaMemcpy(host.data(), device, 1024, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(device, host.data(), 1024, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(device, host.data(), 1024, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy(host.data(), host.data() + 2048, 1024, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(host.data(), host.data() + 2048, 1024, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy(host.data(), host.data() + 2048, 1024, cudaMemcpyHostToHost));
    SHOW(cudaMemcpy(host.data(), host.data() + 2048, 1024, cudaMemcpyDefault));
    SHOW(cudaMemcpy(device, other, 1024, cudaMemcpyHostToHost));
    SHOW(cudaMemcpy(device, other, 1024, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(device, other, 1024, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(device, other, 1024, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy(device, host.data(), 1024, static_cast<cudaMemcpyKind>(7)));
    SHOW(cudaMemcpy(device, host.data(), 1024, static_cast<cudaMemcpyKind>(-1)));
    SHOW(cudaMemcpy(nullptr, host.data(), 16, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(device, nullptr, 16, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(host.data(), nullptr, 16, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(nullptr, nullptr, 0, static_cast<cudaMemcpyKind>(7)));
    SHOW(cudaMemcpyAsync(device, host.data(), 1024, cudaMemcpyHostToDevice, nullptr));
    SHOW(cudaMemcpyAsync(host.data(), device, 1024, cudaMemcpyHostToDevice, nullptr));
    SHOW(cudaMemcpyPeer(device, 0, other, 0, 1024));
    SHOW(cudaMemcpyPeer(device, 0, other, 5, 1024));
    SHOW(cudaMemset(device, 1, 1024));
    SHOW(cudaMemset(nullptr, 1, 16));
    SHOW(cudaMemset(nullptr, 1, 0));
    SHOW(cudaMemset(host.data(), 1, 16));
    SHOW(cudaMemcpy2D(device, 64, host.data(), 100, 64, 10, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(device, 32, host.data(), 100, 64, 10, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(device, 64, host.data(), 32, 64, 10, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(device, 64, host.data(), 100, 0, 10, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(device, 64, host.data(), 100, 64, 0, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(device, 64, host.data(), 100, 64, 10, static_cast<cudaMemcpyKind>(9)));
    SHOW(cudaMemcpy2D(device, std::size_t{1} << 40, host.data(), 100, 64, 10, cudaMemcpyHostToDevice));
    SHOW(cudaMemset2D(device, 64, 1, 32, 10));
    SHOW(cudaMemset2D(device, 16, 1, 32, 10));
    SHOW(cudaMemset2D(device, 64, 1, 0, 10));
    cudaMemcpy3DParms three{};
    SHOW(cudaMemcpy3D(&three));
    SHOW(cudaMemcpy3D(nullptr));
    three.srcPtr = make_cudaPitchedPtr(host.data(), 16, 16, 4);
    three.dstPtr = make_cudaPitchedPtr(device, 16, 16, 4);
    three.extent = make_cudaExtent(16, 4, 2);
    three.kind = cudaMemcpyHostToDevice;
    SHOW(cudaMemcpy3D(&three));
    three.srcPtr.pitch = 8;
    SHOW(cudaMemcpy3D(&three));
    SHOW(cudaMemset3D(three.dstPtr, 0, three.extent));
    SHOW(cudaFree(device));
    SHOW(cudaFree(other));
}

static void symbols() {
    int words[16] = {};
    void* address = nullptr;
    std::size_t bytes = 0;
    SHOW(cudaGetSymbolSize(&bytes, symbol));
    std::printf("bytes %zu\n", bytes);
    SHOW(cudaGetSymbolAddress(&address, symbol));
    SHOW(cudaGetSymbolSize(&bytes, constant_symbol));
    std::printf("bytes %zu\n", bytes);
    SHOW(cudaMemcpyFromSymbol(words, symbol, sizeof words));
    std::printf("values %d %d %d %d\n", words[0], words[1], words[2], words[3]);
    SHOW(cudaMemcpyToSymbol(symbol, words, sizeof words));
    SHOW(cudaMemcpyToSymbol(symbol, words, 8, 60));
    SHOW(cudaMemcpyToSymbol(symbol, words, 4, 60));
    SHOW(cudaMemcpyToSymbol(symbol, words, sizeof words + 4));
    SHOW(cudaMemcpyToSymbol(symbol, words, 4, 0, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpyToSymbol(symbol, words, 4, 0, cudaMemcpyDefault));
    SHOW(cudaMemcpyToSymbol(symbol, nullptr, 4));
    SHOW(cudaMemcpyFromSymbol(words, symbol, 4, 0, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpyToSymbol(symbol, words, 0));
    SHOW(cudaMemcpyToSymbol(symbol, words, 4, ~std::size_t{0}));
    SHOW(cudaMemcpyFromSymbol(words, words, 4));
    SHOW(cudaMemcpyToSymbol(words, words, 4));
    SHOW(cudaMemcpyToSymbol(static_cast<const void*>(nullptr), words, 4));
    SHOW(cudaGetSymbolAddress(&address, words));
    SHOW(cudaGetSymbolAddress(&address, static_cast<const void*>(nullptr)));
    SHOW(cudaGetSymbolSize(&bytes, words));
    SHOW(cudaMemcpyToSymbolAsync(symbol, words, 4, 0, cudaMemcpyHostToDevice, nullptr));
}

static void streams() {
    cudaStream_t stream{}, second{};
    int least = 9, greatest = 9, priority = 9;
    unsigned flags = 9;
    unsigned long long id = 0;
    SHOW(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    std::printf("priorities %d to %d\n", least, greatest);
    SHOW(cudaStreamCreate(nullptr));
    SHOW(cudaStreamCreate(&stream));
    SHOW(cudaStreamCreateWithFlags(&second, 2));
    SHOW(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, -100));
    SHOW(cudaStreamGetPriority(second, &priority));
    SHOW(cudaStreamGetFlags(second, &flags));
    std::printf("priority %d flags %u\n", priority, flags);
    SHOW(cudaStreamGetFlags(nullptr, &flags));
    SHOW(cudaStreamGetPriority(nullptr, &priority));
    std::printf("priority %d flags %u\n", priority, flags);
    SHOW(cudaStreamGetId(stream, &id));
    SHOW(cudaStreamQuery(stream));
    SHOW(cudaStreamQuery(nullptr));
    SHOW(cudaStreamSynchronize(stream));
    SHOW(cudaStreamSynchronize(cudaStreamLegacy));
    SHOW(cudaStreamSynchronize(cudaStreamPerThread));
    SHOW(cudaStreamDestroy(nullptr));
    SHOW(cudaStreamDestroy(cudaStreamLegacy));
    SHOW(cudaStreamDestroy(cudaStreamPerThread));
    SHOW(cudaLaunchHostFunc(stream, nullptr, nullptr));
    SHOW(cudaStreamAddCallback(stream, nullptr, nullptr, 0));
    cudaStreamCaptureStatus status{};
    SHOW(cudaStreamIsCapturing(stream, &status));
    std::printf("status %d\n", status);
    cudaEvent_t event{}, later{}, untimed{};
    float milliseconds = -1;
    SHOW(cudaEventCreate(nullptr));
    SHOW(cudaEventCreate(&event));
    SHOW(cudaEventCreate(&later));
    SHOW(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    SHOW(cudaEventCreateWithFlags(&untimed, 0x80));
    SHOW(cudaEventCreateWithFlags(&untimed, cudaEventInterprocess));
    SHOW(cudaEventQuery(event));
    SHOW(cudaEventSynchronize(event));
    SHOW(cudaStreamWaitEvent(stream, event, 0));
    SHOW(cudaStreamWaitEvent(stream, event, 7));
    SHOW(cudaEventElapsedTime(&milliseconds, event, later));
    SHOW(cudaEventRecord(event, stream));
    SHOW(cudaEventRecord(later, nullptr));
    SHOW(cudaEventRecord(untimed, nullptr));
    SHOW(cudaEventSynchronize(event));
    SHOW(cudaEventSynchronize(later));
    SHOW(cudaEventSynchronize(untimed));
    SHOW(cudaEventElapsedTime(&milliseconds, event, later));
    SHOW(cudaEventElapsedTime(&milliseconds, untimed, later));
    SHOW(cudaEventElapsedTime(&milliseconds, nullptr, later));
    SHOW(cudaEventElapsedTime(nullptr, event, later));
    SHOW(cudaEventRecord(nullptr, nullptr));
    SHOW(cudaEventQuery(nullptr));
    SHOW(cudaEventSynchronize(nullptr));
    SHOW(cudaEventDestroy(nullptr));
    SHOW(cudaStreamWaitEvent(stream, nullptr, 0));
    SHOW(cudaEventRecordWithFlags(event, stream, 2));
    SHOW(cudaEventDestroy(event));
    SHOW(cudaEventDestroy(later));
    SHOW(cudaEventDestroy(untimed));
    SHOW(cudaStreamDestroy(stream));
    SHOW(cudaStreamDestroy(second));
}

static void pools() {
    cudaMemPool_t pool{}, mine{};
    void* p = nullptr;
    SHOW(cudaDeviceGetDefaultMemPool(&pool, 0));
    SHOW(cudaDeviceGetDefaultMemPool(&pool, 3));
    SHOW(cudaDeviceGetMemPool(&mine, 0));
    std::printf("default is current: %d\n", mine == pool);
    SHOW(cudaMallocAsync(&p, 1000, nullptr));
    std::uint64_t value = 9;
    SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
    std::printf("used %llu\n", static_cast<unsigned long long>(value));
    SHOW(cudaFreeAsync(p, nullptr));
    SHOW(cudaMallocAsync(&p, 0, nullptr));
    SHOW(cudaFreeAsync(nullptr, nullptr));
    SHOW(cudaMallocAsync(static_cast<void**>(nullptr), 4, nullptr));
    SHOW(cudaMallocAsync(&p, std::size_t{1} << 50, nullptr));
    SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
    std::printf("threshold %llu\n", static_cast<unsigned long long>(value));
    value = ~std::uint64_t{0};
    SHOW(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
    SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
    std::printf("threshold %llu\n", static_cast<unsigned long long>(value));
    int reuse = 9;
    SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
    std::printf("reuse %d\n", reuse);
    SHOW(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
    value = 5;
    SHOW(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
    value = 0;
    SHOW(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
    SHOW(cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(99), &value));
    SHOW(cudaMemPoolTrimTo(pool, 0));
    cudaMemPoolProps properties{};
    SHOW(cudaMemPoolCreate(&mine, &properties));
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = 7;
    SHOW(cudaMemPoolCreate(&mine, &properties));
    properties.location.id = 0;
    SHOW(cudaMemPoolCreate(&mine, &properties));
    SHOW(cudaMallocFromPoolAsync(&p, 500, mine, nullptr));
    SHOW(cudaFreeAsync(p, nullptr));
    SHOW(cudaDeviceSetMemPool(0, mine));
    SHOW(cudaMallocAsync(&p, 500, nullptr));
    SHOW(cudaFree(p));
    SHOW(cudaMemPoolDestroy(mine));
    SHOW(cudaDeviceGetMemPool(&mine, 0));
    std::printf("default is current: %d\n", mine == pool);
    SHOW(cudaMemPoolDestroy(pool));
    SHOW(cudaMalloc(&p, 100));
    SHOW(cudaFreeAsync(p, nullptr));
    cudaMemLocation location{cudaMemLocationTypeDevice, 0};
    cudaMemAccessFlags access{};
    SHOW(cudaMemPoolGetAccess(&access, pool, &location));
    std::printf("access %d\n", access);
}

static void managed() {
    char* p = nullptr;
    char* device = nullptr;
    cudaMallocManaged(&p, 1 << 20);
    cudaMalloc(&device, 1 << 20);
    const cudaMemLocation here{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 0},
        none{cudaMemLocationTypeDevice, 8};
    SHOW(cudaMemPrefetchAsync(p, 1 << 20, here, 0, nullptr));
    SHOW(cudaMemPrefetchAsync(p, 1 << 20, host, 0, nullptr));
    SHOW(cudaMemPrefetchAsync(p, 1 << 20, none, 0, nullptr));
    SHOW(cudaMemPrefetchAsync(device, 1 << 20, here, 0, nullptr));
    SHOW(cudaMemPrefetchAsync(p, 0, here, 0, nullptr));
    SHOW(cudaMemPrefetchAsync(p, (1 << 20) + 65536, here, 0, nullptr));
    SHOW(cudaMemAdvise(p, 1 << 20, cudaMemAdviseSetReadMostly, here));
    int value = 9;
    SHOW(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, p, 1 << 20));
    std::printf("read mostly %d\n", value);
    SHOW(cudaMemAdvise(p, 1 << 20, cudaMemAdviseSetPreferredLocation, here));
    SHOW(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributePreferredLocation, p, 1 << 20));
    std::printf("preferred %d\n", value);
    SHOW(cudaMemAdvise(device, 1 << 20, cudaMemAdviseSetReadMostly, here));
    SHOW(cudaStreamAttachMemAsync(nullptr, p, 0, cudaMemAttachGlobal));
    SHOW(cudaMemcpy(p, device, 1 << 20, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy(p, device, 1 << 20, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(device, p, 1 << 20, cudaMemcpyHostToDevice));
    cudaDeviceSynchronize();
    cudaFree(p);
    cudaFree(device);
}

static void device() {
    int value = 9;
    std::size_t bytes = 0;
    SHOW(cudaGetDeviceCount(nullptr));
    SHOW(cudaGetDevice(&value));
    std::printf("device %d\n", value);
    SHOW(cudaGetDevice(nullptr));
    SHOW(cudaSetDevice(0));
    SHOW(cudaSetDevice(77));
    SHOW(cudaSetDevice(-1));
    SHOW(cudaInitDevice(0, 0, 0));
    SHOW(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    SHOW(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 77));
    SHOW(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(0), 0));
    SHOW(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(999), 0));
    SHOW(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
    cudaDeviceProp properties{};
    SHOW(cudaGetDeviceProperties(&properties, 0));
    SHOW(cudaGetDeviceProperties(&properties, 77));
    SHOW(cudaGetDeviceProperties(nullptr, 0));
    SHOW(cudaChooseDevice(&value, &properties));
    unsigned flags = 99;
    SHOW(cudaGetDeviceFlags(&flags));
    std::printf("flags %u\n", flags);
    SHOW(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    SHOW(cudaGetDeviceFlags(&flags));
    std::printf("flags %u\n", flags);
    SHOW(cudaSetDeviceFlags(0x1000));
    for (int limit = 0; limit < 7; ++limit) {
        bytes = 0;
        const cudaError_t e = cudaDeviceGetLimit(&bytes, static_cast<cudaLimit>(limit));
        std::printf("limit %d: %s %zu\n", limit, cudaGetErrorName(e), bytes);
    }
    (void)cudaGetLastError();
    SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    SHOW(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    std::printf("stack %zu\n", bytes);
    SHOW(cudaDeviceSetLimit(cudaLimitStackSize, std::size_t{1} << 30));
    SHOW(cudaDeviceSetLimit(static_cast<cudaLimit>(50), 4096));
    SHOW(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
    SHOW(cudaDeviceGetLimit(&bytes, static_cast<cudaLimit>(50)));
    SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    SHOW(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    std::printf("heap %zu\n", bytes);
    SHOW(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20));
    SHOW(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 30));
    SHOW(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32));
    SHOW(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 1000));
    SHOW(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 3));
    SHOW(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100));
    cudaFuncCache cache{};
    SHOW(cudaDeviceGetCacheConfig(&cache));
    std::printf("cache %d\n", cache);
    SHOW(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    SHOW(cudaDeviceGetCacheConfig(&cache));
    std::printf("cache %d\n", cache);
    cudaSharedMemConfig banks{};
    SHOW(cudaDeviceGetSharedMemConfig(&banks));
    std::printf("banks %d\n", banks);
    SHOW(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
    SHOW(cudaDeviceCanAccessPeer(&value, 0, 0));
    std::printf("peer %d\n", value);
    SHOW(cudaDeviceCanAccessPeer(&value, 0, 44));
    SHOW(cudaDeviceEnablePeerAccess(0, 0));
    SHOW(cudaDeviceDisablePeerAccess(0));
    char bus[20] = {};
    SHOW(cudaDeviceGetPCIBusId(bus, 20, 0));
    SHOW(cudaDeviceGetByPCIBusId(&value, bus));
    SHOW(cudaDeviceGetByPCIBusId(&value, "0000:ff:1f.7"));
    SHOW(cudaDeviceGetByPCIBusId(&value, "nonsense"));
    int version = 0;
    SHOW(cudaRuntimeGetVersion(&version));
    std::printf("runtime %d\n", version);
    SHOW(cudaRuntimeGetVersion(nullptr));
    SHOW(cudaDriverGetVersion(nullptr));
    void* entry = &version;
    cudaDriverEntryPointQueryResult found{};
    SHOW(cudaGetDriverEntryPointByVersion("cuNoSuchCall", &entry, 13000, cudaEnableDefault, &found));
    std::printf("found %d null %d\n", found, entry == nullptr);
    SHOW(cudaGetDriverEntryPointByVersion("cuNoSuchCall", &entry, 13000, cudaEnableDefault, nullptr));
    SHOW(cudaProfilerStart());
    SHOW(cudaProfilerStop());
    SHOW(cudaCtxResetPersistingL2Cache());
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    SHOW(cudaThreadExchangeStreamCaptureMode(&mode));
    std::printf("mode %d\n", mode);
}

static void last_errors() {
    void* p = nullptr;
    cudaMalloc(&p, std::size_t{1} << 50);
    std::printf("peek %s\n", cudaGetErrorName(cudaPeekAtLastError()));
    cudaFree(nullptr);
    cudaSetDevice(77);
    cudaDeviceSynchronize();
    std::printf("peek %s\n", cudaGetErrorName(cudaPeekAtLastError()));
    std::printf("get %s\n", cudaGetErrorName(cudaGetLastError()));
    std::printf("get %s\n", cudaGetErrorName(cudaGetLastError()));
    nothing<<<0, 0>>>();
    std::printf("synchronize %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    std::printf("get %s\n", cudaGetErrorName(cudaGetLastError()));
}

static void error_texts() {
    for (int code = -1; code <= 1000; ++code) {
        const auto e = static_cast<cudaError_t>(code);
        if (std::strcmp(cudaGetErrorName(e), "unrecognized error code") != 0) {
            std::printf("%d %s: %s\n", code, cudaGetErrorName(e), cudaGetErrorString(e));
        }
    }
    std::printf("1001 %s: %s\n", cudaGetErrorName(static_cast<cudaError_t>(1001)),
                cudaGetErrorString(static_cast<cudaError_t>(1001)));
}

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    const std::string which = argc > 1 ? argv[1] : "";
    const struct {
        const char* name;
        void (*run)();
    } parts[] = {{"configurations", configurations},
                 {"functions", functions},
                 {"allocations", allocations},
                 {"pointers", pointers},
                 {"copies", copies},
                 {"symbols", symbols},
                 {"streams", streams},
                 {"pools", pools},
                 {"managed", managed},
                 {"device", device},
                 {"last_errors", last_errors},
                 {"error_texts", error_texts}};
    bool found = false;
    for (const auto& part : parts) {
        if (which.empty() || which == part.name) {
            std::printf("== %s\n", part.name);
            part.run();
            found = true;
        }
    }
    return found ? 0 : 2;
}
