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

#include "tests/runtime/programs/facts/show.hpp"

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
