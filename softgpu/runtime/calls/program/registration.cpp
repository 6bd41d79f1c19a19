// SPDX-License-Identifier: MIT
// The calls that nvcc adds to a program: registration before main, and the configurations of kernel<<<...>>>().
#include <chrono>
#include <cstddef>
#include <vector>

#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/accounts/refused_launches.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {
namespace {

struct call_configuration {
    dimensions grid;
    dimensions block;
    std::size_t dynamic_shared_bytes;
    stream* on;
};

std::vector<call_configuration>& configurations() {
    thread_local std::vector<call_configuration> stack;
    return stack;
}

// A kernel may never end, and the program ends without it.
constexpr std::chrono::milliseconds most_wait_for_code{1000};

fat_binary& binary_of(void** handle) { return *reinterpret_cast<fat_binary*>(handle); }

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void** __cudaRegisterFatBinary(void* data) { return reinterpret_cast<void**>(&registry::instance().add_binary(data)); }

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
    if (handle == nullptr) {
        return;
    }
    fat_binary& binary = binary_of(handle);
    const auto end = std::chrono::steady_clock::now() + most_wait_for_code;
    bool finished = true;
    for (const int device : registry::instance().retire(binary)) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        finished = executor::instance().wait_for_all(left, device) && finished;
    }
    registry::instance().remove(binary, finished);
}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, void*, void*, void*, void*,
                            int*) {
    registry::instance().add_function(binary_of(handle), host, name);
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, std::size_t bytes, int, int) {
    registry::instance().add_variable(binary_of(handle), host, name, bytes);
}

void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, std::size_t bytes, int, int) {
    registry::instance().add_managed(binary_of(handle), host, name, bytes);
}

// Called before the host first touches a managed variable. Returns nonzero if the variable exists.
char __cudaInitModule(void** handle) {
    const error e = call([&](context& gpu, locked&) { registry::instance().load(binary_of(handle), gpu); });
    return e == error::success ? 1 : 0;
}

unsigned __cudaPushCallConfiguration(dimensions grid, dimensions block, std::size_t dynamic_shared_bytes, stream* on) {
    configurations().push_back({grid, block, dynamic_shared_bytes, on});
    return 0;
}

error __cudaPopCallConfiguration(dimensions* grid, dimensions* block, std::size_t* dynamic_shared_bytes, void* on) {
    return call([&] {
        require(!configurations().empty(), error::missing_configuration);
        const call_configuration top = configurations().back();
        configurations().pop_back();
        *grid = top.grid;
        *block = top.block;
        *dynamic_shared_bytes = top.dynamic_shared_bytes;
        *static_cast<stream**>(on) = top.on;
        refused_launches::begin_launch_syntax();
    });
}

error __cudaGetKernel(function** kernel, const void* host) {
    return call([&] {
        require(kernel != nullptr);
        *kernel = registry::instance().find_function(host);
        require(*kernel != nullptr, error::invalid_device_function);
    });
}

decltype(__cudaGetKernel) cudaGetKernel [[gnu::alias("__cudaGetKernel")]];
decltype(__cudaGetKernel) cudaGetFuncBySymbol [[gnu::alias("__cudaGetKernel")]];

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
