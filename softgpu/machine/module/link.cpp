// SPDX-License-Identifier: MIT
// Linking: a name with .visible or .weak linkage has one definition for all units, a name without linkage is its unit's
// own. Source: PTX ISA 9.0, chapter 11.6 (linking directives).
#include <algorithm>
#include <set>

#include "softgpu/machine/code/handler_set.hpp"
#include "softgpu/machine/demangle.hpp"
#include "softgpu/machine/grid_groups.hpp"
#include "softgpu/machine/module/loaded_module.hpp"

namespace softgpu::machine {

namespace {

bool is_local(ptx::linkage l) { return l == ptx::linkage::none; }
bool is_weak(ptx::linkage l) { return l == ptx::linkage::weak || l == ptx::linkage::common; }

// The functions by which kernels launch kernels come from a library of NVIDIA's that every such program is linked with,
// and that asks the driver for things that nobody documents: it is left out, and a call of one of them says so.
bool is_device_runtime(const ptx::module& m) {
    return std::ranges::any_of(m.functions, [](const ptx::function& f) {
        return f.has_body && (f.name == "cudaLaunchDeviceV2" || f.name == "__cudaCDP2LaunchDeviceV2");
    });
}

bool wants_grid_groups(const ptx::module& m) {
    return std::ranges::any_of(
        m.functions, [](const ptx::function& f) { return !f.has_body && f.name.starts_with(grid_group_prefix); });
}

class linker {
public:
    linker(link_group& group, const std::vector<std::string>& names) : group_(group), names_(names) {}

    void find_definitions() {
        for (std::size_t unit = 0; unit < group_.units.size(); ++unit) {
            module::implementation& home = *group_.units[unit];
            for (const ptx::variable& v : home.parsed->variables) {
                if (!is_local(v.link) && v.link != ptx::linkage::external) {
                    define(group_.variables, v.name, {&home, &v, is_weak(v.link)}, unit);
                }
            }
            for (ptx::function& f : home.parsed->functions) {
                if (f.has_body && !is_local(f.link)) {
                    define(group_.functions, f.name, {&home, &f, is_weak(f.link)}, unit);
                }
            }
            for (const ptx::alias& a : home.parsed->aliases) {
                ptx::function* const declared = home.parsed->find_function(a.name);
                ptx::function* const code = home.parsed->find_function(a.aliasee);
                if (declared != nullptr && !is_local(declared->link) && code != nullptr && code->has_body) {
                    define(group_.functions, a.name, {&home, code, is_weak(declared->link)}, unit);
                }
            }
        }
    }

    // All that is declared and defined nowhere, in one message.
    void find_undefined() const {
        std::string missing;
        std::size_t count = 0;
        std::set<std::string, std::less<>> said;
        const auto look = [&](const std::string& name, const char* what, std::size_t unit) {
            if (said.insert(name).second && ++count <= 4) {
                missing += (missing.empty() ? "" : ", ") + std::string(what) + demangled(name) + " (wanted by " +
                           names_[unit] + ")";
            }
        };
        for (std::size_t unit = 0; unit < group_.units.size(); ++unit) {
            const ptx::module& m = *group_.units[unit]->parsed;
            for (const ptx::variable& v : m.variables) {
                const bool in_memory = v.space == ptx::suffix::global || v.space == ptx::suffix::const_;
                if (v.link == ptx::linkage::external && in_memory && group_.variable(v.name) == nullptr) {
                    look(v.name, "variable ", unit);
                }
            }
            for (const ptx::function& f : m.functions) {
                if (f.link == ptx::linkage::external && group_.function(f.name) == nullptr &&
                    !comes_from_elsewhere(f.name)) {
                    look(f.name, "function ", unit);
                }
            }
        }
        if (count != 0) {
            throw link_error("no unit defines " + missing +
                             (count > 4 ? " and " + std::to_string(count - 4) + " more" : ""));
        }
    }

private:
    // Of several definitions the one that is not weak, or else the first.
    template <class Thing>
    void define(definitions<Thing>& all, const std::string& name, definition<Thing> fresh, std::size_t unit) {
        const auto [at, is_new] = all.try_emplace(name, fresh);
        if (is_new || fresh.weak) {
            return;
        }
        if (!at->second.weak) {
            throw link_error(demangled(name) + " is defined twice, in " + name_of(at->second.home) + " and in " +
                             names_[unit]);
        }
        at->second = fresh;
    }

    const std::string& name_of(const module::implementation* home) const {
        return names_[static_cast<std::size_t>(std::ranges::find(group_.units, home) - group_.units.begin())];
    }

    link_group& group_;
    const std::vector<std::string>& names_;
};

} // namespace

bool comes_from_elsewhere(std::string_view function) {
    return chosen_handlers().find_builtin(function) != nullptr || function.starts_with("__cuda") ||
           function.starts_with("cuda") || function.starts_with("cnp");
}

void link(std::vector<std::unique_ptr<module>>& units, std::vector<std::string> names) {
    const auto group = std::make_shared<link_group>();
    bool adds_grid_groups = false;
    for (std::size_t k = 0; k < units.size();) {
        module::implementation& unit = units[k]->inside();
        unit.parse_outline();
        if (is_device_runtime(*unit.parsed)) {
            units.erase(units.begin() + static_cast<std::ptrdiff_t>(k));
            names.erase(names.begin() + static_cast<std::ptrdiff_t>(k));
            continue;
        }
        if (!adds_grid_groups && wants_grid_groups(*unit.parsed)) {
            adds_grid_groups = true;
            units.push_back(std::make_unique<module>(std::string(grid_group_functions()), *unit.memory));
            names.emplace_back("the software GPU's grid groups");
        }
        unit.linked = group;
        group->units.push_back(&unit);
        ++k;
    }
    linker l(*group, names);
    l.find_definitions();
    l.find_undefined();
    for (module::implementation* const unit : group->units) {
        unit->place_variables();
    }
    std::uint32_t constant_bytes = 0;
    for (module::implementation* const unit : group->units) {
        unit->join_variables();
        constant_bytes += unit->constant_bytes;
    }
    for (module::implementation* const unit : group->units) {
        unit->constant_bytes = constant_bytes;
        unit->initialise_variables();
    }
}

} // namespace softgpu::machine
