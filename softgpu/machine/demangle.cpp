// SPDX-License-Identifier: MIT
#include "softgpu/machine/demangle.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string_view>

namespace softgpu::machine {

namespace {

// __nv_static_27__e9e3e49d_7_data_cu_counter__Z5countPi: how long the unit's name is, the unit, the name in the unit.
std::string_view without_unit(std::string_view name) {
    constexpr std::string_view prefix = "__nv_static_";
    if (!name.starts_with(prefix)) {
        return name;
    }
    std::size_t length = 0;
    std::size_t at = prefix.size();
    for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && length < name.size(); ++at) {
        length = length * 10 + static_cast<std::size_t>(name[at] - '0');
    }
    // An underscore before the unit and one behind it.
    return length < name.size() && at + length + 2 < name.size() ? name.substr(at + length + 2) : name;
}

// Takes out the namespaces "_INTERNAL_e9e3e49d_7_data_cu_counter::".
std::string without_namespaces_of_units(std::string text) {
    constexpr std::string_view prefix = "_INTERNAL_";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
        const std::size_t end = text.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at + prefix.size());
        if (end != std::string::npos && text.compare(end, 2, "::") == 0) {
            text.erase(at, end + 2 - at);
        } else {
            at += prefix.size();
        }
    }
    return text;
}

} // namespace

std::string demangled(const std::string& name) {
    const std::string plain(without_unit(name));
    if (!plain.starts_with("_Z")) {
        return plain; // "s" would be short
    }
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status),
                                                      std::free);
    return status == 0 && text != nullptr ? without_namespaces_of_units(text.get()) : plain;
}

} // namespace softgpu::machine
