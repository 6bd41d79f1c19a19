// SPDX-License-Identifier: MIT
// The linker: takes units of PTX and gives a text of ours, which cuModuleLoadData takes in the place of machine code.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/jit_options.hpp"
#include "softgpu/runtime/core/handle_set.hpp"
#include "softgpu/runtime/fatbin/fatbin.hpp"
#include "softgpu/runtime/program/library.hpp"
#include "softgpu/runtime/program/register_limit.hpp"
#include "softgpu/runtime/program/registry.hpp"
#include "softgpu/runtime/program/units.hpp"

namespace softgpu::runtime {
namespace {

enum class link_input : int { machine_code = 0, ptx = 1, fat_binary = 2, object = 3, library = 4 };

// The object behind CUlinkState.
struct link_state {
    std::vector<std::string> units;
    unsigned most_registers = 0;   // of a thread; 0: any
    std::vector<jit_option> names; // only where the program wants a log: it keeps the values until the link ends
    void** values = nullptr;
    std::string linked;

    [[nodiscard]] jit_options options() const { return {names, values}; }
};

struct link_states {
    std::mutex access;
    handle_set<link_state> all;
};

link_states& states() {
    static link_states& only = *new link_states; // never destroyed: static destructors make calls too
    return only;
}

// Runs body(link_state&) with the lock held.
template <class Body>
result on_link(link_state* s, Body&& body) {
    return with_context([&] {
        const std::lock_guard lock(states().access);
        require(states().all.contains(s), error::invalid_resource_handle);
        body(*s);
    });
}

void add(link_state& s, link_input kind, const void* data, std::size_t bytes) {
    require(data != nullptr && bytes != 0);
    if (is_device_runtime(data, bytes)) {
        return;
    }
    switch (kind) {
    case link_input::ptx: {
        const auto* const text = static_cast<const char*>(data);
        s.units.emplace_back(text, ::strnlen(text, bytes));
        return;
    }
    case link_input::fat_binary: {
        const std::vector<fatbin_entry> entries = read_fatbin(data, bytes);
        const auto best = best_ptx(entries, current_context().device().newest_ptx());
        require(best.has_value(), error::no_kernel_image_for_device);
        s.units.push_back(decompress(*best));
        return;
    }
    case link_input::machine_code:
    case link_input::object:
    case link_input::library:
        fail(error::no_kernel_image_for_device, "the linker takes PTX and fat binaries with PTX, no machine code");
    }
    fail(error::invalid_value);
}

// Throws invalid_ptx where a name is undefined, and where a unit or a kernel is wrong in another way.
void require_complete(const link_state& s) {
    context& gpu = current_context();
    const locked lock(gpu.mutex());
    gpu.require_usable();
    auto fresh = std::make_unique<library>();
    fresh->device = gpu.number();
    library& made = add_library(std::move(fresh), s.linked.c_str());
    try {
        load_kernels(gpu, made);
    } catch (...) {
        s.options().set_log(jit_option::error_log, jit_option::error_log_bytes, message_of_exception());
        discard_library(made);
        throw;
    }
    s.options().set_log(jit_option::error_log, jit_option::error_log_bytes, {});
    discard_library(made);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuLinkCreate_v2(unsigned count, const jit_option* names, void** values, link_state** out) {
    return with_context([&] {
        require(out != nullptr && (count == 0 || (names != nullptr && values != nullptr)));
        auto made = std::make_unique<link_state>();
        const jit_options options{{names, count}, values};
        made->most_registers = options.most_registers();
        if (std::ranges::find(options.names, jit_option::error_log) != options.names.end()) {
            made->names.assign(names, names + count);
            made->values = values;
        }
        const std::lock_guard lock(states().access);
        *out = states().all.insert(std::move(made)).first->get();
    });
}

result cuLinkAddData_v2(link_state* s, link_input kind, void* data, std::size_t bytes, const char*, unsigned,
                        const jit_option*, void**) {
    return on_link(s, [&](link_state& state) { add(state, kind, data, bytes); });
}

result cuLinkAddFile_v2(link_state* s, link_input kind, const char* path, unsigned, const jit_option*, void**) {
    return on_link(s, [&](link_state& state) {
        require(path != nullptr);
        const std::string contents = code_in_file(path);
        add(state, kind, contents.data(), contents.size());
    });
}

// The text belongs to the state. Its size counts the zero at its end.
result cuLinkComplete(link_state* s, void** out, std::size_t* bytes) {
    return on_link(s, [&](link_state& state) {
        require(out != nullptr && !state.units.empty());
        state.linked = with_register_limit(join_units(state.units), state.most_registers);
        require_complete(state);
        *out = state.linked.data();
        if (bytes != nullptr) {
            *bytes = state.linked.size() + 1;
        }
    });
}

result cuLinkDestroy(link_state* s) {
    return with_context([&] {
        const std::lock_guard lock(states().access);
        const auto at = states().all.find(s);
        require(at != states().all.end(), error::invalid_resource_handle);
        states().all.erase(at);
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
