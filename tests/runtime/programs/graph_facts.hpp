// SPDX-License-Identifier: MIT
// What the parts of the program of facts about captures and graphs share; see graph_facts.cu.
#pragma once

#include <cstdio>

#include <cuda_runtime.h>

inline void show(const char* call, cudaError_t result) {
    std::printf("%s -> %s\n", call, cudaGetErrorName(result));
    (void)cudaGetLastError();
}
#define SHOW(call) show(#call, call)

// main() creates them. s: the stream that captures; t: another one; blocking: one that waits for the legacy stream.
inline cudaStream_t s, t, blocking;
inline cudaEvent_t plain, recorded, captured;
inline int *device, *managed, *pinned;
inline int pageable[64];
inline void* out; // what a call returns that is not looked at

// graph_facts_captures.cu
void load_kernels_of_captures();
void captured_nodes();
void ends_of_captures();
// What each call returns while the stream `on` captures, and what becomes of the capture. `kind` names the stream.
void during_captures(cudaStream_t on, const char* kind);
