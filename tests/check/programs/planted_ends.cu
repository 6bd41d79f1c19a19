// SPDX-License-Identifier: MIT
// Kernels that come to no good end, launches that never begin, and processes that do not end by exit(): as planted.cu,
// planted_ends CASE [fixed]. The program itself asks for no error.
#undef NDEBUG
#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include <sys/wait.h>
#include <unistd.h>

namespace {

template <bool Fixed>
__global__ void spin(int* out) {
    __shared__ volatile int flag;
    if (threadIdx.x == 0) {
        flag = Fixed ? 1 : 0;
    }
    __syncthreads();
    if (threadIdx.x == 5) {
        while (flag == 0) {
        }
    }
    out[threadIdx.x] = 1;
}

template <bool Fixed>
__global__ void free_twice(int* out) {
    int* const p = static_cast<int*>(malloc(64));
    p[0] = 1;
    out[0] = p[0];
    free(p);
    if (!Fixed) {
        free(p); // FINDING(device_free): invalid free
    }
}

template <bool Fixed>
__global__ void trapped(int* out) {
    if (!Fixed) {
        asm volatile("trap;"); // FINDING(trapped): trap
    }
    out[threadIdx.x] = 1;
}

template <bool Fixed>
__global__ void asserted(int* out) {
    assert(Fixed || threadIdx.x < 16); // FINDING(asserted): failed assertion
    out[threadIdx.x] = 1;
}

__global__ void increment(int* out) { out[0] = out[0] + 1; }

__global__ void write_one(int* out) { out[threadIdx.x] = 1; }

bool is(const char* name, const char* which) { return std::strcmp(name, which) == 0; }

} // namespace

#define LAUNCH(kernel, blocks, threads)                                                                                \
    if (fixed) {                                                                                                       \
        kernel<true><<<blocks, threads>>>(out);                                                                        \
    } else {                                                                                                           \
        kernel<false><<<blocks, threads>>>(out);                                                                       \
    }

int main(int argc, char** argv) {
    const char* const name = argc > 1 ? argv[1] : "";
    const bool fixed = argc > 2;
    int* out = nullptr;
    cudaMalloc(&out, 4096);
    cudaMemset(out, 0, 4096);
    if (is(name, "spins")) { // HOST_FINDING(spins): deadlock
        LAUNCH(spin, 1, 32);
    } else if (is(name, "device_free")) {
        LAUNCH(free_twice, 1, 1);
    } else if (is(name, "trapped")) {
        LAUNCH(trapped, 1, 32);
    } else if (is(name, "asserted")) {
        LAUNCH(asserted, 1, 32);
    } else if (is(name, "refused")) {
        write_one<<<1, fixed ? 1024 : 2048>>>(out); // HOST_FINDING(refused): launch refused
    } else if (is(name, "asked")) {                 // the fixed one asks
        write_one<<<0, 32>>>(out);                  // HOST_FINDING(asked): launch refused
        if (fixed) {
            (void)cudaPeekAtLastError();
        }
    } else if (is(name, "overwritten")) {
        write_one<<<1, 32, fixed ? 0 : 300000>>>(out); // HOST_FINDING(overwritten): launch refused
        (void)cudaMalloc(nullptr, 1);
        (void)cudaGetLastError();
    } else if (is(name, "increments")) {
        increment<<<4, 64>>>(out);
    } else if (is(name, "lost")) { // ends as the third argument says, behind a finding
        cudaMemset(out, 0, 4097);
        const char* const how = argc > 2 ? argv[2] : "";
        if (is(how, "abort")) {
            std::abort();
        } else if (is(how, "terminate")) {
            std::terminate();
        } else if (is(how, "_exit")) {
            ::_exit(0);
        } else if (is(how, "quick_exit")) {
            std::quick_exit(0);
        } else if (is(how, "exec")) {
            ::execl("/bin/true", "true", static_cast<char*>(nullptr));
        } else if (is(how, "kill")) {
            ::kill(::getpid(), SIGKILL);
        } else if (is(how, "fork")) {
            const pid_t child = ::fork();
            if (child == 0) {
                std::exit(0);
            }
            int status = 0;
            ::waitpid(child, &status, 0);
        }
    } else {
        std::printf("no case %s\n", name);
        return 2;
    }
    cudaDeviceSynchronize();
    cudaFree(out);
    return 0;
}
