// SPDX-License-Identifier: MIT
#include "softgpu/runtime/program/units.hpp"

#include <charconv>
#include <utility>

#include "softgpu/machine/grid_groups.hpp"
#include "softgpu/memory/device_memory.hpp"
#include "softgpu/ptx/error.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::string_view between_units = "\n// softgpu: the next unit\n";

// The units that join_units() has put into one text.
std::vector<std::string_view> units_of(std::string_view text) {
    std::vector<std::string_view> units;
    for (std::size_t end = 0; end != std::string_view::npos;) {
        end = text.find(between_units);
        units.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + between_units.size());
    }
    return units;
}

} // namespace

std::string join_units(std::span<const std::string> units) {
    std::string text;
    for (const std::string& unit : units) {
        text += (text.empty() ? std::string() : std::string(between_units)) + unit;
    }
    return text;
}

void link_text(std::string_view joined, std::vector<std::unique_ptr<machine::module>>& modules,
               const module_maker& make) {
    std::vector<std::string> names;
    for (const std::string_view unit : units_of(joined)) {
        names.push_back("unit " + std::to_string(names.size() + 1));
        modules.push_back(make(std::string(unit)));
    }
    if (names.size() > 1 || joined.find(machine::grid_group_prefix) != std::string_view::npos) {
        machine::link(modules, names);
    }
}

unsigned target_of(std::string_view ptx) {
    constexpr std::string_view directive = ".target sm_";
    const std::size_t at = ptx.find(directive);
    unsigned target = 0;
    if (at != std::string_view::npos) {
        std::from_chars(ptx.data() + at + directive.size(), ptx.data() + ptx.size(), target);
    }
    return target;
}

text_errors errors_of(std::string_view joined) {
    text_errors found;
    memory::device_memory memory(1ull << 32); // for variables
    std::vector<std::unique_ptr<machine::module>> modules;
    try {
        link_text(joined, modules,
                  [&](std::string unit) { return std::make_unique<machine::module>(std::move(unit), memory); });
        for (const auto& m : modules) {
            for (const std::string& name : m->kernel_names()) {
                const machine::kernel& k = *m->find_kernel(name);
                if (const std::string& missing = m->facts(k).unresolved; missing.empty()) {
                    m->check_bodies(k);
                } else {
                    found.link.append("Undefined reference to '").append(missing).append("' in '").append(name);
                    found.link += "'\n";
                }
            }
        }
    } catch (const ptx::error& wrong) {
        found.ptx = wrong.what();
    } catch (const machine::link_error& wrong) {
        found.link += wrong.what();
    }
    return found;
}

} // namespace softgpu::runtime
