// SPDX-License-Identifier: MIT
#include "softgpu/runtime/program/registry.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "softgpu/machine/demangle.hpp"
#include "softgpu/runtime/accounts/current_checks.hpp"
#include "softgpu/runtime/accounts/operation_order.hpp"
#include "softgpu/runtime/accounts/predictions.hpp"
#include "softgpu/runtime/core/device_group.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/process.hpp"
#include "softgpu/runtime/fatbin/fatbin.hpp"
#include "softgpu/runtime/program/optimiser.hpp"
#include "softgpu/runtime/program/units.hpp"

namespace softgpu::runtime {
namespace {

[[noreturn]] void fail_without_ptx(const std::vector<fatbin_entry>& entries, const card& device,
                                   const std::string& wanted) {
    const bool some = std::ranges::any_of(entries, [](const fatbin_entry& e) { return e.kind == fatbin_kind::ptx; });
    if (some) {
        fail(error::no_kernel_image_for_device,
             "the program embeds no PTX for " + wanted + " that a device of compute capability " +
                 std::to_string(device.major) + "." + std::to_string(device.minor) +
                 " can run: build with -gencode arch=compute_75,code=compute_75, or choose another SOFTGPU_DEVICE");
    }
    const bool later = std::ranges::any_of(entries, [](const fatbin_entry& e) { return e.kind == fatbin_kind::lto; });
    if (later) {
        fail(error::no_kernel_image_for_device,
             "the program embeds no PTX for " + wanted +
                 ", only LTO-IR (code=lto_75, -dlto) that a device of compute capability " +
                 std::to_string(device.major) + "." + std::to_string(device.minor) +
                 " cannot run: build with -gencode arch=compute_75,code=compute_75, or choose another SOFTGPU_DEVICE");
    }
    fail(error::no_kernel_image_for_device, "the program embeds no PTX for " + wanted +
                                                ": build with -gencode arch=compute_75,code=compute_75, as machine "
                                                "code (code=sm_75) cannot run here");
}

void trace_all(const std::vector<std::unique_ptr<machine::module>>& modules) {
    if (!predicted_latencies().empty()) {
        for (const auto& m : modules) {
            m->trace(predicted_latencies(), predicted_by_lanes());
        }
    }
}

} // namespace

error error_of(const ptx::error& wrong) noexcept {
    return dynamic_cast<const ptx::unknown_version*>(&wrong) != nullptr ? error::unsupported_ptx_version
                                                                        : error::invalid_ptx;
}

registry::registry() { owner_process::set_by_registration(); }

registry& registry::instance() {
    static registry& only = *new registry; // never destroyed: static constructors and destructors use it
    return only;
}

fat_binary& registry::add_binary(const void* data) {
    const std::lock_guard lock(mutex_);
    binaries_.push_back(std::make_unique<fat_binary>());
    binaries_.back()->data = data;
    return *binaries_.back();
}

fat_binary& registry::add_text(std::string ptx) {
    const std::lock_guard lock(mutex_);
    binaries_.push_back(std::make_unique<fat_binary>());
    binaries_.back()->text = std::move(ptx);
    return *binaries_.back();
}

std::vector<int> registry::retire(fat_binary& binary) {
    const std::lock_guard lock(mutex_);
    std::erase_if(variables_, [&](const auto& v) { return v.second.binary == &binary; });
    std::erase_if(handles_, [&](const auto& h) { return h.second->binary == &binary; });
    for (auto at = functions_.begin(); at != functions_.end();) {
        if (at->second->binary == &binary) {
            binary.retired.push_back(std::move(at->second));
            at = functions_.erase(at);
        } else {
            ++at;
        }
    }
    std::set<int> devices;
    for (const auto& other : binaries_) {
        if (other.get() == &binary || checking::current() != nullptr) {
            for (const auto& [device, code] : other->on) {
                devices.insert(device);
            }
        }
    }
    return {devices.begin(), devices.end()};
}

void registry::remove(fat_binary& binary, bool finished) {
    checking::discard_order();
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(binaries_, &binary, [](const auto& b) { return b.get(); });
    if (!finished) {
        (void)at->release();
    }
    binaries_.erase(at);
}

void registry::add_function(fat_binary& binary, const void* host, const char* name) {
    auto made = std::make_unique<function>();
    made->binary = &binary;
    made->host = host;
    made->name = name;
    const std::lock_guard lock(mutex_);
    std::unique_ptr<function>& place = functions_[host];
    if (place != nullptr) {
        handles_.erase(place.get());
    }
    place = std::move(made);
    handles_[place.get()] = place.get();
}

void registry::add_variable(fat_binary& binary, const void* host, const char* name, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    variables_[host] = {.binary = &binary, .name = name, .bytes = bytes};
}

void registry::add_managed(fat_binary& binary, void** host, const char* name, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    variables_[host] = {.binary = &binary, .name = name, .bytes = bytes, .managed_host = host};
    binary.managed.push_back({.name = name, .host = host});
}

bool registry::empty() {
    const std::lock_guard lock(mutex_);
    return binaries_.empty();
}

function* registry::find_function(const void* host_or_handle) {
    const std::lock_guard lock(mutex_);
    if (const auto at = functions_.find(host_or_handle); at != functions_.end()) {
        return at->second.get();
    }
    const auto at = handles_.find(host_or_handle);
    return at == handles_.end() ? nullptr : at->second;
}

function* registry::find_function(const machine::module& in, const std::string& name) {
    const std::lock_guard lock(mutex_);
    for (const auto& binary : binaries_) {
        for (const auto& [device, code] : binary->on) {
            if (std::ranges::none_of(code.modules, [&](const auto& m) { return m.get() == &in; })) {
                continue;
            }
            const auto is_wanted = [&](const function& f) { return f.binary == binary.get() && f.name == name; };
            for (const auto& [host, f] : functions_) {
                if (is_wanted(*f)) {
                    return f.get();
                }
            }
            const auto at = std::ranges::find_if(binary->nameless, [&](const auto& f) { return is_wanted(*f); });
            if (at != binary->nameless.end()) {
                return at->get();
            }
            binary->nameless.push_back(std::make_unique<function>());
            function& made = *binary->nameless.back();
            made.binary = binary.get();
            made.name = name;
            return &made;
        }
    }
    return nullptr;
}

function_on_device& registry::load(function& f, context& gpu) {
    const std::lock_guard lock(mutex_);
    require(f.only_on < 0 || f.only_on == gpu.number(), error::invalid_resource_handle);
    function_on_device& here = f.on[gpu.number()];
    if (here.image.facts == nullptr) {
        if (f.demangled.empty()) {
            f.demangled = machine::demangled(f.name);
        }
        kernel_image found;
        for (const auto& m : load_locked(*f.binary, gpu, f.demangled).modules) {
            found.kernel = m->find_kernel(f.name);
            if (found.kernel != nullptr) {
                found.owner = m.get();
                break;
            }
        }
        if (found.kernel == nullptr) {
            fail(error::invalid_device_function, "the program's PTX has no kernel " + f.demangled);
        }
        try {
            found.facts = &found.owner->facts(*found.kernel);
        } catch (const ptx::error& e) {
            fail(error::invalid_ptx, f.demangled + ": PTX " + e.what());
        }
        here.image = found;
    }
    return here;
}

std::vector<std::string> registry::kernels_of(fat_binary& binary, context& gpu) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& m : load_locked(binary, gpu, "a kernel").modules) {
        for (std::string& name : m->kernel_names()) {
            if (std::ranges::find(names, name) == names.end()) {
                names.push_back(std::move(name));
            }
        }
    }
    return names;
}

const device_variable* registry::find_variable(const void* host) {
    const std::lock_guard lock(mutex_);
    if (const auto at = variables_.find(host); at != variables_.end()) {
        return &at->second;
    }
    // A program names a managed variable by the variable's address in device memory, not by the registered pointer.
    for (const auto& [key, v] : variables_) {
        if (v.managed_host != nullptr && host != nullptr && *v.managed_host == host) {
            return &v;
        }
    }
    return nullptr;
}

machine::variable_place registry::locate(const device_variable& v, context& gpu) {
    const std::lock_guard lock(mutex_);
    for (const auto& m : load_locked(*v.binary, gpu, v.name).modules) {
        const machine::variable_place place = m->find_variable(v.name);
        if (place.address != 0) {
            return place;
        }
    }
    fail(error::invalid_symbol, "the program's PTX has no variable " + v.name);
}

void registry::load(fat_binary& binary, context& gpu, const std::string& wanted) {
    const std::lock_guard lock(mutex_);
    load_locked(binary, gpu, wanted);
}

std::unique_ptr<machine::module> registry::make_module(fat_binary& binary, context& gpu, std::string ptx) {
    auto made = std::make_unique<machine::module>(std::move(ptx), gpu.memory());
    if (memory::device_memory* const common = gpu.group().common_memory()) {
        if (binary.shared == nullptr) {
            binary.shared = std::make_unique<machine::managed_variables>(*common);
        }
        binary.shared->share_with(*made);
    }
    return made;
}

loaded_binary& registry::load_locked(fat_binary& binary, context& gpu, const std::string& wanted) {
    loaded_binary& here = binary.on[gpu.number()];
    if (here.loaded) {
        return here;
    }
    if (!binary.text.empty()) {
        load_text(binary, gpu);
        return here;
    }
    const std::vector<fatbin_entry> entries = read_fatbin(binary.data);
    const unsigned newest = gpu.device().newest_ptx();
    const std::optional<fatbin_entry> best = best_ptx(entries, newest);
    if (!best && !best_lto(entries, newest)) {
        fail_without_ptx(entries, gpu.device(), wanted);
    }
    if (!best || best->relocatable) {
        load_units(binary, gpu, entries, wanted);
    } else {
        here.modules.push_back(make_module(binary, gpu, decompress(*best)));
    }
    if (!gpu.options().profile_path.empty()) {
        for (const auto& m : here.modules) {
            m->profile();
        }
    }
    trace_all(here.modules);
    here.loaded = true;
    tell_of_managed(binary, here);
    return here;
}

// Gives the host the addresses of managed variables.
void registry::tell_of_managed(const fat_binary& binary, const loaded_binary& here) {
    for (const fat_binary::managed_variable& v : binary.managed) {
        for (const auto& m : here.modules) {
            const machine::variable_place place = m->find_variable(v.name);
            if (place.address != 0) {
                *v.host = reinterpret_cast<void*>(place.address);
                break;
            }
        }
    }
}

void registry::load_text(fat_binary& binary, context& gpu) {
    loaded_binary& here = binary.on[gpu.number()];
    try {
        link_text(binary.text, here.modules,
                  [&](std::string unit) { return make_module(binary, gpu, std::move(unit)); });
    } catch (const ptx::error& wrong) {
        here.modules.clear();
        fail(error_of(wrong), std::string("the PTX of a library: ") + wrong.what());
    } catch (const machine::link_error& wrong) {
        here.modules.clear();
        fail(error::invalid_ptx, std::string("the units of a library cannot be linked: ") + wrong.what());
    }
    trace_all(here.modules);
    here.loaded = true;
}

// Links the units of a program as PTX, because nvcc's linker produces machine code only. Units of LTO-IR alone become one unit.
void registry::load_units(fat_binary& binary, context& gpu, const std::vector<fatbin_entry>& entries,
                          const std::string& wanted) {
    std::vector<std::unique_ptr<machine::module>> units;
    std::vector<std::string> names;
    std::vector<std::string> without;
    std::vector<lto_unit> to_optimise;
    const unsigned newest = gpu.device().newest_ptx();
    const std::uint32_t containers = entries.back().container + 1;
    for (std::uint32_t c = 0; c < containers; ++c) {
        std::vector<fatbin_entry> own;
        std::ranges::copy_if(entries, std::back_inserter(own), [&](const fatbin_entry& e) {
            return e.container == c && (e.relocatable || e.kind == fatbin_kind::lto);
        });
        if (own.empty()) {
            continue;
        }
        std::string name(own.front().source);
        name = name.empty() ? "unit " + std::to_string(names.size() + without.size() + 1) : name;
        if (const auto best = best_ptx(own, newest)) {
            units.push_back(make_module(binary, gpu, decompress(*best)));
            names.push_back(name);
        } else if (const auto later = best_lto(own, newest)) {
            to_optimise.push_back(
                {fat_binary_input, {reinterpret_cast<const char*>(later->within.data()), later->within.size()}});
        } else if (std::ranges::none_of(own, [](const fatbin_entry& e) { return e.kind == fatbin_kind::ptx; })) {
            without.push_back(name);
        }
    }
    if (!to_optimise.empty()) {
        optimised made = link_by_nvidia(to_optimise, {"-arch=sm_" + std::to_string(newest), "-lineinfo"});
        if (!made.errors.empty()) {
            fail(error::no_kernel_image_for_device,
                 wanted + " needs units that the program has as LTO-IR alone (-dlto, code=lto_75): " + made.errors +
                     "; or build with -gencode arch=compute_75,code=compute_75");
        }
        units.push_back(make_module(binary, gpu, std::move(made.ptx)));
        names.emplace_back("the units of LTO-IR");
    }
    try {
        machine::link(units, names);
    } catch (const ptx::error& wrong) {
        fail(error_of(wrong), std::string("the PTX of the program's units: ") + wrong.what());
    } catch (const machine::link_error& wrong) {
        fail(error::invalid_ptx,
             std::string("the program's units cannot be linked: ") + wrong.what() +
                 (without.empty() ? std::string()
                                  : "; " + std::to_string(without.size()) + " of its units hold machine code only"));
    }
    binary.on[gpu.number()].modules = std::move(units);
}

void registry::unload(context& gpu) {
    const std::lock_guard lock(mutex_);
    for (auto& [host, f] : functions_) {
        f->on.erase(gpu.number());
    }
    for (const auto& binary : binaries_) {
        binary->on.erase(gpu.number());
        for (const auto& f : binary->nameless) {
            f->on.erase(gpu.number());
        }
    }
}

void registry::reload_managed(context& gpu) {
    const std::lock_guard lock(mutex_);
    for (const auto& binary : binaries_) {
        if (binary->shared != nullptr) {
            binary->shared->begin_anew();
        }
        if (!binary->managed.empty()) {
            load_locked(*binary, gpu, "a managed variable");
        }
    }
}

function& function_of(const void* kernel) {
    require(kernel != nullptr, error::invalid_device_function);
    function* found = registry::instance().find_function(kernel);
    require(found != nullptr, error::invalid_resource_handle);
    return *found;
}

} // namespace softgpu::runtime
