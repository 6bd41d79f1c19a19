// SPDX-License-Identifier: MIT
// The units of one program that share functions and variables, as built with -rdc=true. A module that stands alone is a group
// of one.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/machine/launch.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// The definition of a name that is visible to all units.
template <class Thing>
struct definition {
    module::implementation* home = nullptr;
    Thing* thing = nullptr;
    bool weak = false;
};
template <class Thing>
using definitions = std::map<std::string, definition<Thing>, std::less<>>;

// Whether a function that no unit defines is the software GPU's own, or one of NVIDIA's device runtime: what of that is not
// there says so when it is called.
[[nodiscard]] bool comes_from_elsewhere(std::string_view function);

struct link_group {
    std::mutex mutex; // of everything that its modules hold
    std::vector<module::implementation*> units;
    definitions<ptx::function> functions;
    definitions<const ptx::variable> variables;

    // nullptr where no unit defines the name.
    [[nodiscard]] const definition<ptx::function>* function(std::string_view name) const {
        return find(functions, name);
    }
    [[nodiscard]] const definition<const ptx::variable>* variable(std::string_view name) const {
        return find(variables, name);
    }

private:
    template <class Thing>
    static const definition<Thing>* find(const definitions<Thing>& all, std::string_view name) {
        const auto at = all.find(name);
        return at == all.end() ? nullptr : &at->second;
    }
};

} // namespace softgpu::machine
