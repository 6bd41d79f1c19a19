// SPDX-License-Identifier: MIT
// Prints what a few hundred calls of the runtime return, right and wrong ones, one line each. Run on a real GPU the
// output is the golden file tests/runtime/programs/facts/data/api_facts.txt; on the software GPU it has to be the same.
#include "tests/runtime/programs/facts/api_facts.hpp"

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

void configurations() {
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

void functions() {
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

void pointers() {
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

void symbols() {
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

void last_errors() {
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
