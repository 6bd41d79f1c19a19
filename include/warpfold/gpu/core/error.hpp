// SPDX-License-Identifier: MIT
// CUDA runtime errors as exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "warpfold/error.hpp"

namespace warpfold {

// A runtime call or a launch failed. what() has the call, the error and the source location.
struct cuda_error : error {
    cuda_error(cudaError_t code_, const std::string& what) : error(what), code(code_) {}

    cudaError_t code;
};

// The device does not have enough free memory.
struct out_of_memory : cuda_error {
    using cuda_error::cuda_error;
};

namespace detail {

// Throws unless `code` is cudaSuccess. Clears the runtime's last error if it is not sticky.
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
