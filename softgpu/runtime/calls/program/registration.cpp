// SPDX-License-Identifier: MIT
// The calls that nvcc adds to a program: registration before main, and the configurations of kernel<<<...>>>().
#include <cstddef>
#include <vector>

#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/accounts/refused_launches.hpp"
#include "softgpu/runtime/calls/call.hpp"
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

fat_binary& binary_of(void** handle) { return *reinterpret_cast<fat_binary*>(handle); }

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void** __cudaRegisterFatBinary(void* data) { return reinterpret_cast<void**>(&registry::instance().add_binary(data)); }

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
    if (handle != nullptr) {
        registry::instance().remove_binary(binary_of(handle));
    }
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
