// SPDX-License-Identifier: MIT
// Modules and libraries: one object stands behind CUmodule and CUlibrary. Code is loaded at once, so the program may free it.
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/jit_options.hpp"
#include "softgpu/runtime/fatbin/fatbin.hpp"
#include "softgpu/runtime/program/library.hpp"
#include "softgpu/runtime/program/units.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::uint32_t fatbin_magic = 0xBA55ED50;         // of a container
constexpr std::uint32_t fatbin_wrapper_magic = 0x466243B1; // of what points to one

void require_no_machine_code(const void* code) {
    if (std::memcmp(code, "\177ELF", 4) == 0) {
        fail(error::no_kernel_image_for_device,
             "a module of machine code (a cubin) cannot run here: hand over PTX, or a fat binary with PTX");
    }
}

// Modules belong to a context, libraries to none.
enum class belongs : bool { to_context, to_none };

template <class Body>
result on_device_of(belongs where, Body&& body) {
    return without_context([&] {
        if (where == belongs::to_context) {
            require_current_context();
        }
        return call(std::forward<Body>(body));
    });
}

// The PTX of a fat binary, so that the program may free the binary; empty: there is none that is linked, or it is no fat binary.
std::string ptx_of(const void* code, const card& device) {
    std::uint32_t magic = 0;
    std::memcpy(&magic, code, sizeof magic);
    if (magic != fatbin_magic && magic != fatbin_wrapper_magic) {
        return {};
    }
    const auto best = best_ptx(read_fatbin(code), device.newest_ptx());
    return best && !best->relocatable ? decompress(*best) : std::string();
}

// As ptxas does: PTX is for its own architecture and for later ones.
void require_target(std::string_view ptx, const card& device) {
    const unsigned target = target_of(ptx);
    if (target > device.newest_ptx()) {
        fail(error::invalid_ptx, "the PTX is for sm_" + std::to_string(target) + ", newer than the card, sm_" +
                                     std::to_string(device.newest_ptx()) +
                                     ": translate it for that, or choose another SOFTGPU_DEVICE");
    }
}

result load(belongs where, library** out, const void* code, const jit_options& options) {
    return on_device_of(where, [&](context& gpu, locked&) {
        auto fresh = std::make_unique<library>();
        fresh->device = where == belongs::to_context ? gpu.number() : -1;
        require(out != nullptr && code != nullptr);
        gpu.require_usable();
        options.set_log(jit_option::info_log, jit_option::info_log_bytes, {});
        library* made = nullptr;
        try {
            require_no_machine_code(code);
            const std::string unpacked = ptx_of(code, gpu.device());
            made = &add_library(std::move(fresh), unpacked.empty() ? code : unpacked.c_str(), options.most_registers());
            registry::instance().load(*made->binary, gpu, "a module");
            if (unpacked.empty() &&
                !made->binary->text.empty()) { // a compiler's client expects the errors of all kernels now
                require_target(made->binary->text, gpu.device());
                load_kernels(gpu, *made);
            }
        } catch (...) {
            options.set_log(jit_option::error_log, jit_option::error_log_bytes, message_of_exception());
            if (made != nullptr) {
                discard_library(*made);
            }
            throw;
        }
        options.set_log(jit_option::error_log, jit_option::error_log_bytes, {});
        *out = made;
    });
}

result load_file(belongs where, library** out, const char* path, const jit_options& options) {
    std::string text;
    const result read = without_context([&] {
        require(path != nullptr);
        text = code_in_file(path).append(64, '\0');
    });
    if (read != result::success) {
        return read;
    }
    return load(where, out, text.data(), options);
}

result unload(belongs where, library* l) {
    return on_device_of(where, [&](context& gpu, locked& lock) {
        gpu.require_usable();
        unload_library(gpu, lock, checked(l));
    });
}

result get_kernel(belongs where, function** out, library* l, const char* name) {
    return on_device_of(where, [&](context& gpu, locked&) {
        require(out != nullptr && name != nullptr);
        gpu.require_usable();
        *out = kernel_of(gpu, checked(l), name);
    });
}

result count_kernels(belongs where, unsigned* count, library* l) {
    return on_device_of(where, [&](context& gpu, locked&) {
        require(count != nullptr);
        *count = static_cast<unsigned>(registry::instance().kernels_of(*checked(l).binary, home_of(gpu, l)).size());
    });
}

result list_kernels(belongs where, function** out, unsigned count, library* l) {
    return on_device_of(where, [&](context& gpu, locked&) {
        require(out != nullptr && count != 0);
        for (const std::string& name : registry::instance().kernels_of(*checked(l).binary, home_of(gpu, l))) {
            if (count-- == 0) {
                return;
            }
            *out++ = kernel_of(gpu, checked(l), name);
        }
    });
}

result get_variable(device_address* at, std::size_t* bytes, library* l, const char* name, bool managed) {
    return on_device([&](context& gpu, locked&) {
        require((at != nullptr || bytes != nullptr) && name != nullptr);
        gpu.require_usable();
        const machine::variable_place place = variable_of(gpu, checked(l), name);
        require(!managed || place.managed, error::symbol_not_found);
        if (at != nullptr) {
            *at = place.address;
        }
        if (bytes != nullptr) {
            *bytes = place.bytes;
        }
    });
}

result owner_of(library** out, const function* kernel) {
    return on_device([&](context&, locked&) {
        require(out != nullptr);
        *out = library_of(function_of(kernel));
        require(*out != nullptr, error::invalid_resource_handle);
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuModuleLoad(library** out, const char* path) { return load_file(belongs::to_context, out, path, {}); }

result cuModuleLoadData(library** out, const void* code) { return load(belongs::to_context, out, code, {}); }

result cuModuleLoadDataEx(library** out, const void* code, unsigned count, const jit_option* names, void** values) {
    return load(belongs::to_context, out, code, {{names, count}, values});
}

result cuModuleLoadFatBinary(library** out, const void* code) { return load(belongs::to_context, out, code, {}); }

result cuModuleUnload(library* l) { return unload(belongs::to_context, l); }

result cuModuleGetFunction(function** out, library* l, const char* name) {
    return get_kernel(belongs::to_context, out, l, name);
}

result cuModuleGetFunctionCount(unsigned* count, library* l) { return count_kernels(belongs::to_context, count, l); }

result cuModuleEnumerateFunctions(function** out, unsigned count, library* l) {
    return list_kernels(belongs::to_context, out, count, l);
}

result cuModuleGetGlobal_v2(device_address* at, std::size_t* bytes, library* l, const char* name) {
    return get_variable(at, bytes, l, name, false);
}

// CU_MODULE_EAGER_LOADING
result cuModuleGetLoadingMode(int* mode) {
    return without_context([&] {
        require(mode != nullptr);
        *mode = 1;
    });
}

result cuLibraryLoadData(library** out, const void* code, const jit_option* names, void** values, unsigned count,
                         const int*, void**, unsigned) {
    return load(belongs::to_none, out, code, {{names, count}, values});
}

result cuLibraryLoadFromFile(library** out, const char* path, const jit_option* names, void** values, unsigned count,
                             const int*, void**, unsigned) {
    return load_file(belongs::to_none, out, path, {{names, count}, values});
}

result cuLibraryUnload(library* l) { return unload(belongs::to_none, l); }

result cuLibraryGetKernel(function** out, library* l, const char* name) {
    return get_kernel(belongs::to_none, out, l, name);
}

result cuLibraryGetKernelCount(unsigned* count, library* l) { return count_kernels(belongs::to_none, count, l); }

result cuLibraryEnumerateKernels(function** out, unsigned count, library* l) {
    return list_kernels(belongs::to_none, out, count, l);
}

result cuLibraryGetModule(library** out, library* l) {
    return on_device([&](context&, locked&) {
        require(out != nullptr);
        *out = &checked(l);
    });
}

result cuLibraryGetGlobal(device_address* at, std::size_t* bytes, library* l, const char* name) {
    return get_variable(at, bytes, l, name, false);
}

result cuLibraryGetManaged(device_address* at, std::size_t* bytes, library* l, const char* name) {
    return get_variable(at, bytes, l, name, true);
}

// Functions that both kernels and the host can call do not exist here.
result cuLibraryGetUnifiedFunction(void** out, library* l, const char* name) {
    return on_device([&](context&, locked&) {
        require(out != nullptr && name != nullptr);
        (void)checked(l);
        fail(error::symbol_not_found);
    });
}

result cuKernelGetFunction(function** out, function* kernel) {
    return on_device([&](context&, locked&) {
        require(out != nullptr);
        *out = &function_of(kernel);
    });
}

result cuKernelGetLibrary(library** out, function* kernel) { return owner_of(out, kernel); }

result cuFuncGetModule(library** out, function* kernel) { return owner_of(out, kernel); }

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
