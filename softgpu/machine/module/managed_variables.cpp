// SPDX-License-Identifier: MIT
#include "softgpu/machine/managed_variables.hpp"

#include <cstring>

#include "softgpu/machine/module/loaded_module.hpp"

namespace softgpu::machine {

managed_variables::~managed_variables() {
    for (const auto& [name, there] : places_) {
        memory_.release(there.address);
    }
}

void managed_variables::share_with(module& m) { m.inside().shared = this; }

variable_place managed_variables::place(const std::string& name, std::uint64_t bytes) {
    variable_place& there = places_[name];
    if (there.address == 0) {
        there = {memory_.allocate(bytes, memory::allocation_kind::managed, name), bytes, false, true};
    }
    return there;
}

bool managed_variables::take_initialisation(const std::string& name) {
    if (!written_.insert(name).second) {
        return false;
    }
    const variable_place& there = places_.at(name);
    std::memset(reinterpret_cast<void*>(there.address), 0, there.bytes);
    return true;
}

} // namespace softgpu::machine
