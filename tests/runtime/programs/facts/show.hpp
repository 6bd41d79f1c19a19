// SPDX-License-Identifier: MIT
// Calls of the runtime and their answers, for programs whose output is compared.
#pragma once

#include <cstdio>

#include <cuda_runtime.h>

inline void show(const char* call, cudaError_t result) {
    const cudaError_t last = cudaGetLastError();
    std::printf("%s -> %s", call, cudaGetErrorName(result));
    if (last != result) {
        std::printf(" (last error %s)", cudaGetErrorName(last));
    }
    std::printf("\n");
}

#define SHOW(call) show(#call, call)
