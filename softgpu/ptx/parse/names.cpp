// SPDX-License-Identifier: MIT
// Scopes, with numbered registers found by arithmetic instead of by their names.
#include "softgpu/ptx/parse/names.hpp"

#include <cstdint>
#include <string>

namespace softgpu::ptx {

namespace {

// The number behind `prefix` in `name`, if it is written as the family's declaration makes it: no leading zeros.
std::optional<std::uint32_t> number_behind(std::string_view name, std::string_view prefix) noexcept {
    if (name.size() <= prefix.size() || !name.starts_with(prefix)) {
        return std::nullopt;
    }
    const std::string_view digits = name.substr(prefix.size());
    if (digits.size() > 9 || (digits.size() > 1 && digits[0] == '0')) {
        return std::nullopt;
    }
    std::uint32_t n = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9') {
            return std::nullopt;
        }
        n = n * 10 + static_cast<std::uint32_t>(c - '0');
    }
    return n;
}

[[noreturn]] void fail_redeclared(std::string_view name, location where, location before) {
    throw error(where, "'" + std::string(name) + "' is already declared at " + std::to_string(before.line) + ":" +
                           std::to_string(before.column));
}

} // namespace

module_names::module_names(const module& m) {
    names_.reserve(m.variables.size() + m.functions.size());
    for (std::uint32_t i = 0; i < m.variables.size(); ++i) {
        const variable& v = m.variables[i];
        entity& e = names_[v.name];
        if (e.kind == symbol_kind::none || m.variables[e.index].link == linkage::external) {
            e = {symbol_kind::variable, i, v.where};
        }
    }
    for (std::uint32_t i = 0; i < m.functions.size(); ++i) {
        const function& f = m.functions[i];
        const auto [at, fresh] = names_.try_emplace(f.name, entity{symbol_kind::function, i, f.where});
        if (!fresh && f.has_body && at->second.kind == symbol_kind::function) {
            at->second = {symbol_kind::function, i, f.where};
        }
    }
    for (std::uint32_t i = 0; i < m.aliases.size(); ++i) {
        names_[m.aliases[i].name] = {symbol_kind::alias, i, m.aliases[i].where};
    }
}

const entity* module_names::find(std::string_view name) const noexcept {
    const auto at = names_.find(name);
    return at == names_.end() ? nullptr : &at->second;
}

scopes::scopes() : scopes_(1) {}

void scopes::open(location where) {
    scopes_.push_back({current_, where, {}, {}});
    current_ = static_cast<std::uint32_t>(scopes_.size() - 1);
}

void scopes::close() noexcept { current_ = scopes_[current_].parent; }

void scopes::declare(std::string_view name, const entity& e) {
    scope& here = scopes_[current_];
    if (const auto before = find_in(here, current_, name)) {
        fail_redeclared(name, e.where, before->where);
    }
    here.names.push_back(name);
    names_.emplace(key{current_, name}, e);
}

// Whether two families have a name in common, as %r<20> and %r1<3> have %r10 to %r12.
bool scopes::overlap(const family& a, const family& b) noexcept {
    const family& wide = a.prefix.size() <= b.prefix.size() ? a : b;
    const family& narrow = a.prefix.size() <= b.prefix.size() ? b : a;
    if (wide.prefix == narrow.prefix) {
        return wide.count != 0 && narrow.count != 0;
    }
    if (!number_behind(narrow.prefix, wide.prefix)) {
        return false;
    }
    for (std::uint32_t i = 0; i < narrow.count; ++i) {
        const auto n = number_behind(std::string(narrow.prefix) + std::to_string(i), wide.prefix);
        if (!n || *n >= wide.count) {
            return false; // the numbers only grow
        }
        return true;
    }
    return false;
}

void scopes::declare_family(std::string_view prefix, std::uint32_t count, const entity& first) {
    scope& here = scopes_[current_];
    const family fresh{prefix, count, first};
    for (const family& f : here.families) {
        if (overlap(f, fresh)) {
            fail_redeclared(prefix, first.where, f.first.where);
        }
    }
    for (const std::string_view name : here.names) {
        const auto n = number_behind(name, prefix);
        if (n && *n < count) {
            fail_redeclared(name, first.where, find_in(here, current_, name)->where);
        }
    }
    here.families.push_back(fresh);
}

std::optional<entity> scopes::find_in(const scope& s, std::uint32_t number, std::string_view name) const noexcept {
    for (const family& f : s.families) {
        const auto n = number_behind(name, f.prefix);
        if (n && *n < f.count) {
            return entity{f.first.kind, f.first.index + *n, f.first.where};
        }
    }
    if (s.names.empty()) {
        return std::nullopt;
    }
    const auto at = names_.find({number, name});
    return at == names_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<entity> scopes::find(std::string_view name, std::uint32_t number) const noexcept {
    while (true) {
        if (const auto found = find_in(scopes_[number], number, name)) {
            return found;
        }
        if (number == outermost) {
            return std::nullopt;
        }
        number = scopes_[number].parent;
    }
}

} // namespace softgpu::ptx
