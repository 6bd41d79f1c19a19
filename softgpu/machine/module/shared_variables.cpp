// SPDX-License-Identifier: MIT
#include "softgpu/machine/module/shared_variables.hpp"

#include "softgpu/memory/alignment.hpp"
#include <algorithm>

#include "softgpu/machine/module/symbol_names.hpp"

namespace softgpu::machine {

namespace {

// nullptr where the name is not that of a shared variable.
const ptx::variable* shared_variable(const module::implementation& unit, const ptx::function& f,
                                     std::string_view name) {
    for (const ptx::variable& v : f.variables) {
        if (v.name == name) {
            return v.space == ptx::suffix::shared ? &v : nullptr;
        }
    }
    const ptx::variable* const v = unit.parsed->find_variable(name);
    if (v == nullptr || v->space != ptx::suffix::shared) {
        return nullptr;
    }
    const auto* const chosen = v->link == ptx::linkage::none ? nullptr : unit.linked->variable(name);
    return chosen == nullptr ? v : chosen->thing;
}

} // namespace

void place_shared(const module::implementation& unit, kernel& k, const ptx::function& f, std::uint64_t& shared) {
    const auto take = [&](const ptx::variable& v) {
        const auto [at, is_new] = k.shared_places.try_emplace(&v, 0);
        if (!is_new) {
            return;
        }
        k.shared_alignment = std::max(k.shared_alignment, v.aligned_to());
        if (v.bytes() == 0 || v.link == ptx::linkage::external) {
            k.dynamic.push_back(&v);
            return;
        }
        shared = round_up(shared, v.aligned_to());
        at->second = shared;
        shared += v.bytes();
    };
    for (const ptx::variable& v : f.variables) {
        if (v.space == ptx::suffix::shared) {
            take(v);
        }
    }
    for (const ptx::instruction& i : f.instructions) {
        for (const ptx::operand& o : i.operands) {
            k.uses_reserved_shared = k.uses_reserved_shared ||
                                     (o.kind == ptx::operand_kind::special && o.name.starts_with("%reserved_smem"));
            visit_names(o, [&](const std::string& name, bool) {
                if (const ptx::variable* const v = shared_variable(unit, f, name)) {
                    take(*v);
                }
            });
        }
    }
}

symbol_value shared_symbol(const module::implementation& unit, const kernel& k, const ptx::function& f,
                           std::string_view name) {
    const ptx::variable* const v = shared_variable(unit, f, name);
    const auto at = v == nullptr ? k.shared_places.end() : k.shared_places.find(v);
    return at == k.shared_places.end() ? symbol_value{} : symbol_value{symbol_value::kind::shared, at->second};
}

} // namespace softgpu::machine
