// SPDX-License-Identifier: MIT
// Errors of the CUDA runtime as exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "warpfold/error.hpp"

namespace warpfold {

// A call of the runtime failed, or a launch did: what() names the call, the error and the place.
struct cuda_error : error {
    cuda_error(cudaError_t code_, const std::string& what) : error(what), code(code_) {}

    cudaError_t code;
};

// The device has not as much memory as the call needs.
struct out_of_memory : cuda_error {
    using cuda_error::cuda_error;
};

namespace detail {

// Throws unless `code` is cudaSuccess, and takes the error back from the runtime where it is not sticky.
inline void cuda_check(cudaError_t code, const char* call, const char* file, int line) {
    if (code == cudaSuccess) {
        return;
    }
    (void)cudaGetLastError();
    const std::string what = std::string("warpfold: ") + call + ": " + cudaGetErrorName(code) + " (" +
                             cudaGetErrorString(code) + "), " + file + ":" + std::to_string(line);
    if (code == cudaErrorMemoryAllocation) {
        throw out_of_memory(code, what);
    }
    throw cuda_error(code, what);
}

} // namespace detail
} // namespace warpfold

#define WARPFOLD_CHECK_CUDA(call) ::warpfold::detail::cuda_check((call), #call, __FILE__, __LINE__)
