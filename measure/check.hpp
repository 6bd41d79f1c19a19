// SPDX-License-Identifier: MIT
// CUDA errors as exceptions: the failing call, its source line, and the runtime's message.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace warpfold::measure {

struct cuda_error : std::runtime_error {
    cuda_error(cudaError_t code_, const std::string& what) : std::runtime_error(what), code(code_) {}

    cudaError_t code;
};

// Throws cuda_error unless `code` is cudaSuccess; clears an error that is not sticky.
inline void check(cudaError_t code, const char* call, const char* file, int line) {
    if (code == cudaSuccess) {
        return;
    }
    (void)cudaGetLastError();
    throw cuda_error(code, std::string(call) + ": " + cudaGetErrorName(code) + " (" + cudaGetErrorString(code) + "), " +
                               file + ":" + std::to_string(line));
}

} // namespace warpfold::measure

#define WARPFOLD_CUDA_CHECK(call) ::warpfold::measure::check((call), #call, __FILE__, __LINE__)
