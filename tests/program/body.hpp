// SPDX-License-Identifier: MIT
// Bodies put together by hand, so that these tests do not depend on the parser.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "softgpu/ptx/ast.hpp"

namespace program_test {

using softgpu::ptx::opcode;
using softgpu::ptx::operand;
using softgpu::ptx::operand_kind;
using softgpu::ptx::suffix;

inline operand register_operand(std::uint32_t reg) {
    operand o;
    o.kind = operand_kind::reg;
    o.reg = reg;
    return o;
}

inline operand list_operand(operand_kind kind, std::initializer_list<std::uint32_t> registers) {
    operand o;
    o.kind = kind;
    for (const std::uint32_t r : registers) {
        o.elements.push_back(register_operand(r));
    }
    return o;
}

inline operand address_operand(std::uint32_t base) {
    operand o;
    o.kind = operand_kind::address;
    o.has_register = true;
    o.reg = base;
    return o;
}

inline operand symbol_operand(std::string name) {
    operand o;
    o.kind = operand_kind::symbol;
    o.name = std::move(name);
    return o;
}

class body {
public:
    static constexpr std::uint32_t always = 0xFFFFFFFFu; // no guard

    explicit body(bool is_entry = true) {
        f_.name = "f";
        f_.is_entry = is_entry;
        f_.has_body = true;
        f_.body_parsed = true;
    }

    std::uint32_t reg(suffix type, unsigned vector = 1) {
        f_.registers.push_back({"%r" + std::to_string(f_.registers.size()), type, vector});
        return static_cast<std::uint32_t>(f_.registers.size() - 1);
    }

    body& label(const std::string& name) {
        softgpu::ptx::statement s;
        s.kind = softgpu::ptx::statement_kind::label;
        s.text = name;
        f_.statements.push_back(s);
        return *this;
    }

    body& add(opcode op, std::vector<operand> operands = {}, std::uint32_t guard = always,
              std::vector<suffix> suffixes = {}) {
        softgpu::ptx::instruction i;
        i.op = op;
        i.operands = std::move(operands);
        i.suffixes = std::move(suffixes);
        if (guard != always) {
            i.predicate = softgpu::ptx::guard{guard, false};
        }
        softgpu::ptx::statement s;
        s.index = static_cast<std::uint32_t>(f_.instructions.size());
        i.where = {s.index + 1, 1};
        f_.instructions.push_back(std::move(i));
        f_.statements.push_back(s);
        return *this;
    }

    body& work(unsigned instructions = 1) {
        for (unsigned k = 0; k < instructions; ++k) {
            add(opcode::membar);
        }
        return *this;
    }

    body& bra(const std::string& to, std::uint32_t guard = always) {
        return add(opcode::bra, {symbol_operand(to)}, guard);
    }

    body& brx(std::uint32_t index, const std::string& list) {
        return add(opcode::brx, {register_operand(index), symbol_operand(list)});
    }

    body& branch_targets(const std::string& name, std::vector<std::string> labels) {
        softgpu::ptx::statement s;
        s.kind = softgpu::ptx::statement_kind::branch_targets;
        s.text = name;
        s.names = std::move(labels);
        f_.statements.push_back(s);
        return *this;
    }

    body& ret(std::uint32_t guard = always) { return add(opcode::ret, {}, guard); }

    [[nodiscard]] const softgpu::ptx::function& function() const { return f_; }

private:
    softgpu::ptx::function f_;
};

} // namespace program_test
