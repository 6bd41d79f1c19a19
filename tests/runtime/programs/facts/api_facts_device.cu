// SPDX-License-Identifier: MIT
// Answers about streams, events, devices and errors; see api_facts.cu.
#include "tests/runtime/programs/facts/api_facts.hpp"

// As in cuda_profiler_api.h, which the compiler's wheels do not bring.
extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();

void streams() {
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

void device() {
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

void error_texts() {
    for (int code = -1; code <= 1000; ++code) {
        const auto e = static_cast<cudaError_t>(code);
        if (std::strcmp(cudaGetErrorName(e), "unrecognized error code") != 0) {
            std::printf("%d %s: %s\n", code, cudaGetErrorName(e), cudaGetErrorString(e));
        }
    }
    std::printf("1001 %s: %s\n", cudaGetErrorName(static_cast<cudaError_t>(1001)),
                cudaGetErrorString(static_cast<cudaError_t>(1001)));
}
