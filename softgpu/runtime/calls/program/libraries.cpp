// SPDX-License-Identifier: MIT
// Code that a program loads while it runs.
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/program/library.hpp"

namespace softgpu::runtime {
namespace {

error give_variable(void** pointer, std::size_t* bytes, library* handle, const char* name, bool managed) {
    return call([&](context& gpu, locked&) {
        require((pointer != nullptr || bytes != nullptr) && name != nullptr);
        gpu.require_usable();
        const machine::variable_place place = variable_of(gpu, checked(handle), name);
        require(!managed || place.managed, error::symbol_not_found);
        if (pointer != nullptr) {
            *pointer = reinterpret_cast<void*>(place.address);
        }
        if (bytes != nullptr) {
            *bytes = place.bytes;
        }
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// Options of the just-in-time compiler and of the library are not read, unlike those of the driver's calls.
error cudaLibraryLoadData(library** out, const void* code, void*, void**, unsigned, void*, void**, unsigned) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && code != nullptr);
        gpu.require_usable();
        *out = &add_library(std::make_unique<library>(), code);
    });
}

error cudaLibraryLoadFromFile(library** out, const char* path, void*, void**, unsigned, void*, void**, unsigned) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && path != nullptr);
        gpu.require_usable();
        auto made = std::make_unique<library>();
        made->file = code_in_file(path).append(64, '\0');
        const void* const code = made->file.data();
        *out = &add_library(std::move(made), code);
    });
}

error cudaLibraryUnload(library* handle) {
    return call([&](context& gpu, locked& lock) {
        gpu.require_usable();
        unload_library(gpu, lock, checked(handle));
    });
}

error cudaLibraryGetKernel(function** out, library* handle, const char* name) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && name != nullptr);
        gpu.require_usable();
        *out = kernel_of(gpu, checked(handle), name);
    });
}

error cudaLibraryGetKernelCount(unsigned* count, library* handle) {
    return give(count, [&](context& gpu) {
        return static_cast<unsigned>(registry::instance().kernels_of(*checked(handle).binary, gpu).size());
    });
}

error cudaLibraryEnumerateKernels(function** kernels, unsigned count, library* handle) {
    return call([&](context& gpu, locked&) {
        require(kernels != nullptr && count != 0);
        gpu.require_usable();
        library& l = checked(handle);
        for (const std::string& name : registry::instance().kernels_of(*l.binary, gpu)) {
            if (count-- == 0) {
                return;
            }
            *kernels++ = kernel_of(gpu, l, name);
        }
    });
}

// Functions that both kernels and the host can call do not exist here.
error cudaLibraryGetUnifiedFunction(void** pointer, library* handle, const char* name) {
    return call([&](context& gpu, locked&) {
        require(pointer != nullptr && name != nullptr);
        gpu.require_usable();
        (void)checked(handle);
        fail(error::symbol_not_found);
    });
}

error cudaLibraryGetGlobal(void** pointer, std::size_t* bytes, library* handle, const char* name) {
    return give_variable(pointer, bytes, handle, name, false);
}

error cudaLibraryGetManaged(void** pointer, std::size_t* bytes, library* handle, const char* name) {
    return give_variable(pointer, bytes, handle, name, true);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
