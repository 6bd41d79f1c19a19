// SPDX-License-Identifier: MIT
// How the test programs fail: the call or the condition, the line, and exit status 1.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                         \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (false)

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t error_of_call = (call);                                                                      \
        if (error_of_call != cudaSuccess) {                                                                            \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_of_call));     \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (false)
