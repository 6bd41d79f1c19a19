// SPDX-License-Identifier: MIT
// Modules that use each other's functions and variables, as the units of a program built with -rdc=true do. A module
// that stands alone is a group of one.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/machine/module/module.hpp"

namespace softgpu::machine {

// What a name that is visible to all units stands for: the definition in one of them.
template <class Thing>
struct definition {
    module::implementation* home = nullptr;
    Thing* thing = nullptr;
    bool weak = false;
};

struct link_group {
    std::mutex mutex; // of all that its modules hold
    std::vector<module::implementation*> units;
    std::map<std::string, definition<ptx::function>, std::less<>> functions;
    std::map<std::string, definition<const ptx::variable>, std::less<>> variables;

    // nullptr where no unit defines it.
    [[nodiscard]] const definition<ptx::function>* function(std::string_view name) const;
    [[nodiscard]] const definition<const ptx::variable>* variable(std::string_view name) const;
};

} // namespace softgpu::machine
