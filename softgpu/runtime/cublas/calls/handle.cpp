// SPDX-License-Identifier: MIT
// Handles, their settings, and names of statuses.
#include <new>

#include "softgpu/runtime/calls/current_context.hpp"
#include "softgpu/runtime/cublas/operation.hpp"
#include "softgpu/runtime/cublas/version.hpp"

namespace softgpu::runtime::cublas {
namespace {

struct status_text {
    cublasStatus_t status;
    const char* name;
    const char* text;
};
constexpr status_text statuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the function requires an architectural feature absent from the architecture of the device"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the GPU program failed to execute"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the parameter combination or the functionality is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "the requested functionality requires some license"},
};

// Sets *out to the value, or a setting of a handle to it.
template <class T>
cublasStatus_t give(cublasHandle_t handle, T* out, T cublasContext::*from) noexcept {
    return guarded(handle, [&] {
        require(out != nullptr);
        *out = handle->*from;
        return CUBLAS_STATUS_SUCCESS;
    });
}
template <class T>
cublasStatus_t set(cublasHandle_t handle, T cublasContext::*to, T value) noexcept {
    return guarded(handle, [&] {
        handle->*to = value;
        return CUBLAS_STATUS_SUCCESS;
    });
}

} // namespace
} // namespace softgpu::runtime::cublas

using namespace softgpu::runtime;
using namespace softgpu::runtime::cublas;

#pragma GCC visibility push(default)
extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    if (handle == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    try {
        context& gpu = current_context();
        const locked lock(gpu.mutex());
        gpu.require_usable();
        *handle = new cublasContext{.device = gpu.number()};
        return CUBLAS_STATUS_SUCCESS;
    } catch (const failure& f) {
        (void)status_of(f);
    } catch (const std::bad_alloc&) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    return CUBLAS_STATUS_NOT_INITIALIZED;
}

// Waits for the device, as cuBLAS does.
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    return guarded(handle, [&] {
        context& gpu = all_devices().at(handle->device);
        delete handle;
        locked lock(gpu.mutex());
        gpu.synchronize(lock);
        return CUBLAS_STATUS_SUCCESS;
    });
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* number) { // CuPy hands over no handle
    return number == nullptr ? CUBLAS_STATUS_INVALID_VALUE : (*number = version, CUBLAS_STATUS_SUCCESS);
}
cublasStatus_t cublasGetProperty(int which, int* value) { // major, minor, patch
    if (which < 0 || which > 2 || value == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    *value = which == 0 ? version / 10000 : which == 1 ? version / 100 % 100 : version % 100;
    return CUBLAS_STATUS_SUCCESS;
}
size_t cublasGetCudartVersion() { return version / 10000 * 1000; }

const char* cublasGetStatusName(cublasStatus_t status) {
    for (const status_text& s : statuses) {
        if (s.status == status) {
            return s.name;
        }
    }
    return "CUBLAS_STATUS_UNKNOWN";
}
const char* cublasGetStatusString(cublasStatus_t status) {
    for (const status_text& s : statuses) {
        if (s.status == status) {
            return s.text;
        }
    }
    return "an unknown status";
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    return set(handle, &cublasContext::stream, stream);
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
    return give(handle, stream, &cublasContext::stream);
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
    return mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE
               ? CUBLAS_STATUS_INVALID_VALUE
               : set(handle, &cublasContext::pointers, mode);
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
    return give(handle, mode, &cublasContext::pointers);
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    return set(handle, &cublasContext::math, mode);
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
    return give(handle, mode, &cublasContext::math);
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
    return set(handle, &cublasContext::atomics, mode);
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
    return give(handle, mode, &cublasContext::atomics);
}
// The software GPU uses none.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, size_t) {
    return guarded(handle, [] { return CUBLAS_STATUS_SUCCESS; });
}

} // extern "C"
#pragma GCC visibility pop
