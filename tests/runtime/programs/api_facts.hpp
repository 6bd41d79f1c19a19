// SPDX-License-Identifier: MIT
// What the parts of the program of the runtime's answers share; see api_facts.cu.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

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
#define LAUNCH(call)                                                                                                   \
    do {                                                                                                               \
        call;                                                                                                          \
        std::printf("%s -> %s\n", #call, cudaGetErrorName(cudaGetLastError()));                                        \
    } while (false)

// The parts, in the order of their output.
void configurations();
void functions();
void allocations();
void pointers();
void copies();
void symbols();
void streams();
void pools();
void managed();
void device();
void last_errors();
void error_texts();
