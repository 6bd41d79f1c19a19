// SPDX-License-Identifier: MIT
// The meaning of each name in a function: nested scopes over the names of the module.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::ptx {

// A declared thing. `kind` is symbol_kind::none for a register.
struct entity {
    symbol_kind kind = symbol_kind::none;
    std::uint32_t index = 0;
    location where;
};

// The names of a module's variables, functions and aliases. Points into the module, which must not change.
class module_names {
public:
    explicit module_names(const module& m);

    [[nodiscard]] const entity* find(std::string_view name) const noexcept;

private:
    std::unordered_map<std::string_view, entity> names_;
};

// Scopes are numbered in the order they open and stay known after they close. Names point into the module's text.
class scopes {
public:
    static constexpr std::uint32_t outermost = 0;

    scopes();

    // Opens a scope within the current one and makes it the current one. The outermost, which is open from the start,
    // holds the parameters and what the body declares outside of any braces of its own.
    void open(location where);
    void close() noexcept;
    [[nodiscard]] std::uint32_t current() const noexcept { return current_; }
    [[nodiscard]] bool is_nested() const noexcept { return current_ != outermost; }
    [[nodiscard]] location opened_at() const noexcept { return scopes_[current_].where; }

    // Throws ptx::error where the name is already declared in the current scope.
    void declare(std::string_view name, const entity& e);
    // %r<23>: registers [index, index + count) of the function.
    void declare_family(std::string_view prefix, std::uint32_t count, const entity& first);

    [[nodiscard]] std::optional<entity> find(std::string_view name, std::uint32_t number) const noexcept;
    [[nodiscard]] std::optional<entity> find(std::string_view name) const noexcept { return find(name, current_); }

private:
    struct family {
        std::string_view prefix;
        std::uint32_t count = 0;
        entity first;
    };
    struct scope {
        std::uint32_t parent = outermost;
        location where;
        std::vector<family> families;
        std::vector<std::string_view> names;
    };
    struct key {
        std::uint32_t scope = 0;
        std::string_view name;
        bool operator==(const key&) const = default;
    };
    struct key_hash {
        std::size_t operator()(const key& k) const noexcept {
            return std::hash<std::string_view>()(k.name) ^ (std::size_t{k.scope} * 0x9E3779B97F4A7C15u);
        }
    };

    [[nodiscard]] std::optional<entity> find_in(const scope& s, std::uint32_t number,
                                                std::string_view name) const noexcept;
    [[nodiscard]] static bool overlap(const family& a, const family& b) noexcept;

    std::vector<scope> scopes_;
    std::unordered_map<key, entity, key_hash> names_;
    std::uint32_t current_ = outermost;
};

} // namespace softgpu::ptx
