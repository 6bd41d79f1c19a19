// SPDX-License-Identifier: MIT
#include "softgpu/runtime/program/library.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/handle_set.hpp"
#include "softgpu/runtime/program/register_limit.hpp"

namespace softgpu::runtime {
namespace {

// Guarded by the context's lock.
handle_set<library>& loaded() {
    static handle_set<library>& all = *new handle_set<library>;
    return all;
}

// PTX begins with a comment or a directive.
bool is_text(const char* code) {
    while (std::isspace(static_cast<unsigned char>(*code)) != 0) {
        ++code;
    }
    return code[0] == '.' || (code[0] == '/' && (code[1] == '/' || code[1] == '*'));
}

// Nothing but printable characters up to the end of the text.
bool is_printable(const char* code) {
    const char* at = code;
    while ((*at >= ' ' && *at < '\177') || (*at >= '\t' && *at <= '\r')) {
        ++at;
    }
    return at != code && *at == '\0';
}

// Runs find(). A missing kernel or variable becomes symbol_not_found, without a message.
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

} // namespace

std::string code_in_file(const char* path) {
    std::ifstream in(path, std::ios::binary);
    require(in.is_open() && !std::filesystem::is_directory(path), error::file_not_found);
    return {std::istreambuf_iterator<char>(in), {}};
}

library& add_library(std::unique_ptr<library> made, const void* code, unsigned most_registers) {
    const auto* const bytes = static_cast<const char*>(code);
    require(std::memcmp(bytes, "\177ELF", 4) != 0, error::no_kernel_image_for_device);
    if (!is_text(bytes) && is_printable(bytes)) {
        fail(error::invalid_kernel_image, "a module's text is no PTX: it has no .version directive at its start");
    }
    made->binary = is_text(bytes) ? &registry::instance().add_text(with_register_limit(bytes, most_registers))
                                  : &registry::instance().add_binary(code);
    return **loaded().insert(std::move(made)).first;
}

library& checked(library* l) {
    require(loaded().find(l) != loaded().end(), error::invalid_resource_handle);
    return *l;
}

context& find_home(context& gpu, const library* l) { return l->device < 0 ? gpu : gpu.group().at(l->device); }

library* library_of(const function& kernel) {
    const auto at = std::ranges::find(loaded(), kernel.binary, [](const auto& l) { return l->binary; });
    return at == loaded().end() ? nullptr : at->get();
}

void unload_library(context& gpu, locked& lock, library& l) {
    gpu.synchronize(lock);
    // From here on no call finds it: another thread may hold the lock while this one waits.
    const auto gone = loaded().extract(loaded().find(&checked(&l)));
    fat_binary& code = *gone.value()->binary;
    for (const int device : registry::instance().retire(code)) {
        lock.unlock();
        executor::instance().wait_for_all_of(device);
        lock.lock();
    }
    registry::instance().remove(code, true);
}

void discard_library(library& l) {
    (void)registry::instance().retire(*l.binary);
    registry::instance().remove(*l.binary, true);
    loaded().erase(loaded().find(&l));
}

function* kernel_of(context& gpu, library& l, const std::string& name) {
    function*& kernel = l.kernels[name];
    if (kernel == nullptr) {
        const char* const key = &l.keys.emplace_back();
        registry::instance().add_function(*l.binary, key, name.c_str());
        function* const made = registry::instance().find_function(key);
        made->only_on = l.device;
        found([&] { return registry::instance().load(*made, home_of(gpu, &l)); });
        kernel = made;
    }
    return kernel;
}

void load_kernels(context& gpu, library& l) {
    for (const std::string& name : registry::instance().kernels_of(*l.binary, gpu)) {
        const function_on_device& kernel = registry::instance().load(*kernel_of(gpu, l, name), gpu);
        if (const std::string& missing = kernel.image.facts->unresolved; !missing.empty()) {
            fail(error::invalid_ptx,
                 std::string("Unresolved extern function '").append(missing).append("' of kernel ").append(name));
        }
        try {
            kernel.image.owner->check_bodies(*kernel.image.kernel);
        } catch (const ptx::error& wrong) {
            fail(error_of(wrong), std::string("kernel ").append(name).append(": PTX ").append(wrong.what()));
        }
    }
}

machine::variable_place variable_of(context& gpu, library& l, const char* name) {
    return found([&] {
        return registry::instance().locate({.binary = l.binary, .name = name, .bytes = 0, .managed_host = nullptr},
                                           home_of(gpu, &l));
    });
}

} // namespace softgpu::runtime
