// SPDX-License-Identifier: MIT
// A program with a kernel of its own that loads a library with kernels, uses it and closes it, again and again: each
// time the library's variables are as new, and the program's own kernel and variables are not disturbed.
#include <dlfcn.h>

#include "tests/runtime/programs/builds/plugin.hpp"
#include "tests/runtime/programs/check.hpp"

__device__ int runs = 100; // the library has one of the same name

__global__ void increment(int* out) { *out = ++runs; }

int main(int argc, char** argv) {
    CHECK(argc == 2);
    int* out = nullptr;
    CUDA(cudaMalloc(&out, sizeof(int)));
    for (int round = 1; round <= 3; ++round) {
        void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        CHECK(library != nullptr);
        auto* const run = reinterpret_cast<plugin_run*>(dlsym(library, "run"));
        CHECK(run != nullptr);
        CHECK(run(3) == 6012);
        CHECK(run(-4) == 7013);
        CHECK(dlclose(library) == 0);
        increment<<<1, 1>>>(out);
        int seen = 0;
        CUDA(cudaMemcpy(&seen, out, sizeof seen, cudaMemcpyDeviceToHost));
        CHECK(seen == 100 + round);
    }
    return 0;
}
