// SPDX-License-Identifier: MIT
// A program with kernels, without nvcc: `embedding_program HOW`, run by process_test.cpp.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/runtime/embedded.hpp"

using namespace softgpu::runtime;

namespace {

// Registered before main, as in nvcc's programs, and still registered during destructors of static objects.
sample_program& program = *new sample_program;

struct launches_at_exit {
    bool wanted = false;
    ~launches_at_exit() {
        if (wanted) {
            (void)cudaLaunchKernel(&program.bounded, {5, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr);
        }
    }
} static_object;

error fill(unsigned blocks) {
    void* p = nullptr;
    std::uint32_t value = 1;
    void* arguments[] = {&p, &value};
    const error e = cudaMalloc(&p, 4096);
    return e != error::success ? e : cudaLaunchKernel(&program.fill, {blocks, 1, 1}, {32, 1, 1}, arguments, 0, nullptr);
}

error wild() {
    void* p = nullptr;
    void* arguments[] = {&p};
    return cudaLaunchKernel(&program.wild, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr);
}

// Two streams without an order between them: one fills what the other copies. Prints the copied value.
int unordered() {
    stream* writer = nullptr;
    stream* reader = nullptr;
    void* p = nullptr;
    void* seen = nullptr;
    (void)cudaStreamCreateWithFlags(&writer, 1);
    (void)cudaStreamCreateWithFlags(&reader, 1);
    (void)cudaMalloc(&p, 8);
    (void)cudaHostAlloc(&seen, 8, 0);
    for (int i = 0; i < 8; ++i) {
        (void)cudaMemsetAsync(static_cast<char*>(p) + i, '1', 1, writer);
        (void)cudaMemcpyAsync(static_cast<char*>(seen) + i, static_cast<char*>(p) + i, 1, copy_kind::device_to_host,
                              reader);
    }
    // In the adversarial schedule nothing has run yet.
    const bool early = *static_cast<volatile char*>(seen) != '\0';
    (void)cudaDeviceSynchronize();
    for (int i = 0; i < 8; ++i) {
        std::putchar(static_cast<char*>(seen)[i] == '1' ? '1' : '0');
    }
    std::printf(early ? " early\n" : "\n");
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view how = argc > 1 ? argv[1] : "";
    if (how == "nothing") {
        return 0;
    }
    if (how == "twice") {
        void* p = nullptr;
        std::printf("%s", cudaGetErrorName(cudaMalloc(&p, 16)));
        std::printf(" %s\n", cudaGetErrorName(cudaMalloc(&p, 16)));
        return 0;
    }
    if (how == "unordered") {
        return unordered();
    }
    error e = fill(1);
    if (e == error::success && how != "once") {
        e = fill(2);
    }
    if (e == error::success) {
        e = cudaDeviceSynchronize();
    }
    if (how == "quick_exit") {
        std::quick_exit(0);
    }
    if (how == "_exit") {
        ::_exit(0);
    }
    if (how == "killed") {
        ::kill(::getpid(), SIGKILL);
    }
    if (how == "exit") {
        std::exit(3);
    }
    if (how == "static") {
        static_object.wanted = true;
    }
    if (how == "fault") {
        (void)wild();
        e = cudaDeviceSynchronize();
    }
    if (how == "abort") {
        (void)wild();
        (void)cudaDeviceSynchronize();
        std::abort();
    }
    if (how == "child") {
        const pid_t child = ::fork();
        void* p = nullptr;
        int count = 0;
        if (child == 0) {
            std::printf("%s %s %s", cudaGetErrorName(cudaMalloc(&p, 16)), cudaGetErrorName(cudaGetDeviceCount(&count)),
                        cudaGetErrorName(cudaDeviceSynchronize()));
            std::printf(" %s %s\n", cudaGetErrorName(fill(1)), cudaGetErrorName(cudaGetLastError()));
            std::exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        e = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? fill(3) : error::unknown;
        if (e == error::success) {
            e = cudaDeviceSynchronize();
        }
    }
    if (how == "fork") {
        const pid_t child = ::fork();
        if (child == 0) {
            std::exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        e = fill(3);
    }
    device_properties p{};
    if (e == error::success) {
        e = cudaGetDeviceProperties(&p, 0);
    }
    std::printf("%s %s\n", cudaGetErrorName(e), p.name);
    return e == error::success ? 0 : 1;
}
