// SPDX-License-Identifier: MIT
// The runtime's functions again: they count, and pass the call on. Not compiled by nvcc, which defines some of them itself.
#include "tests/library/runtime_calls/counted_calls.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

namespace warpfold::tests {

runtime_calls counted;

namespace {

template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

} // namespace

} // namespace warpfold::tests

using warpfold::tests::counted;
using warpfold::tests::next;

extern "C" cudaError_t CUDARTAPI cudaGetDevice(int* device) {
    static auto* const real = next<cudaError_t(int*)>("cudaGetDevice");
    ++counted.devices;
    return real(device);
}
extern "C" cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                                     void** each) {
    static auto* const real = next<cudaError_t(const cudaLaunchConfig_t*, const void*, void**)>("cudaLaunchKernelExC");
    ++counted.launches;
    return real(config, kernel, each);
}
extern "C" cudaError_t CUDARTAPI cudaMallocAsync(void** memory, size_t bytes, cudaStream_t stream) {
    static auto* const real = next<cudaError_t(void**, size_t, cudaStream_t)>("cudaMallocAsync");
    ++counted.others;
    return real(memory, bytes, stream);
}
extern "C" cudaError_t CUDARTAPI cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
    static auto* const real = next<cudaError_t(void*, int, size_t, cudaStream_t)>("cudaMemsetAsync");
    ++counted.others;
    return real(memory, value, bytes, stream);
}
extern "C" cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
    static auto* const real = next<cudaError_t(int*, cudaDeviceAttr, int)>("cudaDeviceGetAttribute");
    ++counted.others;
    return real(value, which, device);
}
extern "C" cudaError_t CUDARTAPI cudaFuncGetAttributes(cudaFuncAttributes* found, const void* kernel) {
    static auto* const real = next<cudaError_t(cudaFuncAttributes*, const void*)>("cudaFuncGetAttributes");
    ++counted.others;
    return real(found, kernel);
}
