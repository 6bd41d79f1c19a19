// SPDX-License-Identifier: MIT
// Code that a program loads while it runs: PTX as text, or a fat binary, from memory or from a file.
#include <cctype>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <unordered_map>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/program/registry.hpp"

namespace softgpu::runtime {

// What cudaLibrary_t points to.
struct library {
    std::string file; // what was read
    fat_binary* binary = nullptr;
    std::deque<char> keys; // an address each for the kernels, as the host's stubs are elsewhere
    std::unordered_map<std::string, function*> kernels;
};

namespace {

using libraries = std::unordered_set<std::unique_ptr<library>, by_address, by_address>;

// Guarded by the context's lock.
libraries& loaded() {
    static libraries& all = *new libraries;
    return all;
}

library& checked(library* l) {
    require(loaded().find(l) != loaded().end(), error::invalid_resource_handle);
    return *l;
}

// PTX begins with a comment or a directive.
bool is_text(const char* code) {
    while (std::isspace(static_cast<unsigned char>(*code)) != 0) {
        ++code;
    }
    return code[0] == '.' || (code[0] == '/' && (code[1] == '/' || code[1] == '*'));
}

library& load(std::unique_ptr<library> made, const void* code) {
    const auto* const bytes = static_cast<const char*>(code);
    require(std::memcmp(bytes, "\177ELF", 4) != 0, error::no_kernel_image_for_device);
    made->binary = is_text(bytes) ? &registry::instance().add_text(bytes) : &registry::instance().add_binary(code);
    return **loaded().insert(std::move(made)).first;
}

// What is not found is no more than that here, and nothing to print.
template <class Find>
auto found(Find&& find) {
    try {
        return find();
    } catch (const failure& f) {
        if (f.code == error::invalid_device_function || f.code == error::invalid_symbol) {
            fail(error::symbol_not_found);
        }
        throw;
    }
}

function* kernel_of(context& gpu, library& l, const std::string& name) {
    function*& kernel = l.kernels[name];
    if (kernel == nullptr) {
        const char* const key = &l.keys.emplace_back();
        registry::instance().add_function(*l.binary, key, name.c_str());
        function* const made = registry::instance().find_function(key);
        found([&] { return registry::instance().load(*made, gpu); });
        kernel = made;
    }
    return kernel;
}

machine::variable_place variable(context& gpu, library& l, const char* name) {
    return found([&] {
        return registry::instance().locate({.binary = l.binary, .name = name, .bytes = 0, .managed_host = nullptr}, gpu);
    });
}

error give_variable(void** pointer, std::size_t* bytes, library* handle, const char* name, bool managed) {
    return call([&](context& gpu, locked&) {
        require((pointer != nullptr || bytes != nullptr) && name != nullptr);
        gpu.must_be_alive();
        const machine::variable_place place = variable(gpu, checked(handle), name);
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

// Options for the just-in-time compiler have nothing to act on.
error cudaLibraryLoadData(library** out, const void* code, void*, void**, unsigned, void*, void**, unsigned) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && code != nullptr);
        gpu.must_be_alive();
        *out = &load(std::make_unique<library>(), code);
    });
}

error cudaLibraryLoadFromFile(library** out, const char* path, void*, void**, unsigned, void*, void**, unsigned) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && path != nullptr);
        gpu.must_be_alive();
        std::ifstream in(path, std::ios::binary);
        require(in.is_open(), error::file_not_found);
        auto made = std::make_unique<library>();
        made->file.assign(std::istreambuf_iterator<char>(in), {});
        made->file.append(64, '\0');
        const void* const code = made->file.data();
        *out = &load(std::move(made), code);
    });
}

error cudaLibraryUnload(library* handle) {
    return call([&](context& gpu, locked& lock) {
        gpu.must_be_alive();
        fat_binary* const binary = checked(handle).binary;
        gpu.synchronize(lock);
        registry::instance().remove_binary(*binary);
        loaded().erase(loaded().find(handle));
    });
}

error cudaLibraryGetKernel(function** out, library* handle, const char* name) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && name != nullptr);
        gpu.must_be_alive();
        *out = kernel_of(gpu, checked(handle), name);
    });
}

error cudaLibraryGetKernelCount(unsigned* count, library* handle) {
    return call([&](context& gpu, locked&) {
        require(count != nullptr);
        gpu.must_be_alive();
        *count = static_cast<unsigned>(registry::instance().kernels_of(*checked(handle).binary, gpu).size());
    });
}

error cudaLibraryEnumerateKernels(function** kernels, unsigned count, library* handle) {
    return call([&](context& gpu, locked&) {
        require(kernels != nullptr && count != 0);
        gpu.must_be_alive();
        library& l = checked(handle);
        for (const std::string& name : registry::instance().kernels_of(*l.binary, gpu)) {
            if (count-- == 0) {
                return;
            }
            *kernels++ = kernel_of(gpu, l, name);
        }
    });
}

// There is no device here whose kernels and host call the same functions.
error cudaLibraryGetUnifiedFunction(void** pointer, library* handle, const char* name) {
    return call([&](context& gpu, locked&) {
        require(pointer != nullptr && name != nullptr);
        gpu.must_be_alive();
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
