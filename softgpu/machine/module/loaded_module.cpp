// SPDX-License-Identifier: MIT
#include "softgpu/machine/module/loaded_module.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "softgpu/machine/code/handler_set.hpp"

namespace softgpu::machine {

void module::implementation::write_initial(const ptx::variable& v, std::byte* at) {
    const std::uint32_t width = ptx::bytes_of(v.type);
    std::uint64_t offset = 0;
    for (const ptx::initial_value& value : v.initial) {
        std::uint64_t bits = value.bits;
        if (!value.symbol.empty()) {
            const auto found = variables.find(value.symbol);
            const function_entry* const f = found == variables.end() ? find_function(value.symbol) : nullptr;
            bits = found != variables.end() ? found->second.address : f != nullptr ? f->address : 0;
            bits = bits == 0 ? 0 : bits + static_cast<std::uint64_t>(value.offset);
            if (value.mask != 0) {
                bits = (bits & value.mask) >> (static_cast<unsigned>(__builtin_ctzll(value.mask)));
            }
        }
        if (offset + width > v.bytes()) {
            break;
        }
        std::memcpy(at + offset, &bits, std::min<std::uint32_t>(width, 8));
        offset += width;
    }
}

ptx::module& module::implementation::get() {
    if (!parsed) {
        parse_outline();
        place_variables();
        initialise_variables();
    }
    return *parsed;
}

void module::implementation::parse_outline() {
    if (!parsed) {
        auto fresh = std::make_unique<ptx::module>(ptx::parse(text, ptx::bodies::later));
        parsed = std::move(fresh);
        text.clear();
        text.shrink_to_fit();
        for (const std::string& t : parsed->target) {
            if (t.starts_with("sm_")) {
                std::from_chars(t.data() + 3, t.data() + t.size(), target);
            }
        }
    }
}

void module::implementation::place_variables() {
    for (const ptx::variable& v : parsed->variables) {
        const bool constant = v.space == ptx::suffix::const_;
        if ((v.space != ptx::suffix::global && !constant) || v.link == ptx::linkage::external || v.bytes() == 0) {
            continue;
        }
        const auto* const chosen = v.link == ptx::linkage::none ? nullptr : linked->variable(v.name);
        if (variables.contains(v.name) || (chosen != nullptr && chosen->thing != &v)) {
            continue;
        }
        if (v.managed && shared != nullptr) {
            variables.emplace(v.name, shared->place(v.name, v.bytes()));
            continue;
        }
        const auto kind = constant    ? memory::allocation_kind::constant
                          : v.managed ? memory::allocation_kind::managed
                                      : memory::allocation_kind::variable;
        const memory::address at = memory->allocate(v.bytes(), kind, v.name);
        std::memset(reinterpret_cast<void*>(at), 0, v.bytes());
        variables.emplace(v.name, variable_place{at, v.bytes(), constant, v.managed});
        owned.push_back(at);
        if (constant) {
            constant_bytes += static_cast<std::uint32_t>(v.bytes());
        }
    }
}

void module::implementation::join_variables() {
    for (const ptx::variable& v : parsed->variables) {
        const auto* const chosen = v.link == ptx::linkage::none ? nullptr : linked->variable(v.name);
        if (chosen == nullptr || chosen->home == this) {
            continue;
        }
        if (const auto there = chosen->home->variables.find(v.name); there != chosen->home->variables.end()) {
            variables.emplace(v.name, there->second);
        }
    }
}

void module::implementation::initialise_variables() {
    for (const ptx::variable& v : parsed->variables) {
        const auto* const chosen = v.link == ptx::linkage::none ? nullptr : linked->variable(v.name);
        const auto found = variables.find(v.name);
        if (found == variables.end() || (chosen != nullptr && chosen->thing != &v) ||
            (v.managed && shared != nullptr && !shared->take_initialisation(v.name))) {
            continue;
        }
        if (!v.initial.empty()) {
            write_initial(v, reinterpret_cast<std::byte*>(found->second.address));
        }
    }
}

const function_entry* module::implementation::entry_of(ptx::function& f) {
    auto& entry = functions[&f];
    if (!entry) {
        entry = std::make_unique<function_entry>();
        entry->name = f.name;
        entry->source = &f;
        entry->home = this;
        entry->address = memory->place_code(entry.get());
    }
    return entry.get();
}

const function_entry* module::implementation::find_function(std::string_view name) {
    ptx::function* f = parsed->find_function(name);
    if (f != nullptr && f->link != ptx::linkage::none &&
        (f->has_body || chosen_handlers().find_builtin(name) == nullptr)) {
        if (const auto* const chosen = linked->function(name); chosen != nullptr && chosen->thing != f) {
            return chosen->home->entry_of(*chosen->thing);
        }
    }
    if (f == nullptr || !f->has_body) {
        for (const ptx::alias& a : parsed->aliases) {
            if (a.name == name && a.aliasee != name) {
                return find_function(a.aliasee);
            }
        }
    }
    if (f == nullptr) {
        return nullptr;
    }
    if (f->has_body) {
        return entry_of(*f);
    }
    auto& entry = outside[std::string(name)];
    if (!entry) {
        entry = std::make_unique<function_entry>();
        entry->name = std::string(name);
        entry->home = this;
        entry->run = chosen_handlers().find_builtin(name);
        entry->address = memory->place_code(entry.get());
    }
    return entry.get();
}

symbol_value module::implementation::symbol(std::string_view name) {
    if (const auto v = variables.find(name); v != variables.end()) {
        return {symbol_value::kind::global, v->second.address};
    }
    if (const function_entry* const f = find_function(name)) {
        return {symbol_value::kind::function, f->address};
    }
    return {};
}

} // namespace softgpu::machine
