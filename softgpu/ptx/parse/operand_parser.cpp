// SPDX-License-Identifier: MIT
// Operands of instructions. Source: PTX ISA 9.0, chapter 6, "Instruction Operands".
#include <cstdint>
#include <utility>

#include "softgpu/ptx/isa/special_register.hpp"
#include "softgpu/ptx/parse/body_parser.hpp"
#include "softgpu/ptx/parse/constant.hpp"

namespace softgpu::ptx {

namespace {

constexpr unsigned deepest = 4; // braces, brackets and parentheses within each other

bool is_video_selector(std::string_view text) noexcept {
    if (text.size() < 2 || text.size() > 5 || (text[0] != 'b' && text[0] != 'h')) {
        return false;
    }
    const char highest = text[0] == 'b' ? '7' : '3';
    for (const char c : text.substr(1)) {
        if (c < '0' || c > highest) {
            return false;
        }
    }
    return true;
}

} // namespace

std::optional<std::uint32_t> body_parser::find_register(std::string_view name) const noexcept {
    const std::optional<entity> e = scopes_.find(name);
    return e && e->kind == symbol_kind::none ? std::optional(e->index) : std::nullopt;
}

void body_parser::fail_undeclared_register(const token& name) {
    throw error(name.where, "undeclared register '" + std::string(name.text) + "'");
}

bool body_parser::at_operand() const noexcept {
    return in_.at_kind(token_kind::identifier) || in_.at('[') || in_.at('{') || at_constant(in_);
}

operand body_parser::parse_operand(unsigned depth) {
    operand first = parse_single_operand(depth);
    if (!in_.at('|')) {
        return first;
    }
    operand both;
    both.kind = operand_kind::pair;
    both.where = first.where;
    both.elements.reserve(2);
    both.elements.push_back(std::move(first));
    in_.next();
    both.elements.push_back(parse_single_operand(depth));
    for (const operand& o : both.elements) {
        if (&o == both.elements.data() && o.kind == operand_kind::vector) {
            continue; // tex {...}|p
        }
        if (o.kind != operand_kind::reg && o.kind != operand_kind::sink) {
            throw error(o.where, "both sides of '|' are registers");
        }
    }
    return both;
}

operand body_parser::parse_single_operand(unsigned depth) {
    const token& t = in_.peek();
    if (depth > deepest) {
        throw error(t.where, "operands are nested too deeply");
    }
    switch (t.kind) {
    case token_kind::identifier: return parse_named_operand();
    case token_kind::integer:
    case token_kind::float32:
    case token_kind::float64: return constant_operand();
    case token_kind::punctuation: break;
    default: in_.fail_expected("an operand");
    }
    operand o;
    o.where = t.where;
    switch (t.character) {
    case '[': return parse_address(depth);
    case '{':
        o.kind = operand_kind::vector;
        in_.next();
        parse_list(o, '}', depth);
        if (depth == 0 && o.elements.size() == 1) { // Triton writes ld.global.b32 {a}, [b]
            return operand(std::move(o.elements.front()));
        }
        return o;
    case '(':
        if (depth == 0 && is_call_) {
            o.kind = operand_kind::group;
            in_.next();
            parse_list(o, ')', depth);
            return o;
        }
        return constant_operand();
    case '!': {
        const location where = in_.next().where;
        if (in_.at_kind(token_kind::identifier) && !in_.peek().is_identifier("WARP_SZ")) {
            o = parse_named_operand();
            if (o.kind != operand_kind::reg) {
                throw error(o.where, "'!' stands before a predicate or a number");
            }
            o.negated = true;
        } else {
            o = constant_operand();
            if (o.kind != operand_kind::integer) {
                throw error(o.where, "'!' stands before a predicate or a number");
            }
            o.bits = o.bits == 0 ? 1 : 0;
        }
        o.where = where;
        return o;
    }
    case '-':
    case '+':
    case '~': return constant_operand();
    default: in_.fail_expected("an operand");
    }
}

operand body_parser::constant_operand() {
    const constant c = parse_constant(in_);
    operand o;
    o.kind = c.kind == constant_kind::integer   ? operand_kind::integer
             : c.kind == constant_kind::float32 ? operand_kind::float32
                                                : operand_kind::float64;
    o.bits = c.bits;
    o.where = c.where;
    return o;
}

operand body_parser::parse_named_operand() {
    if (in_.peek().text == "WARP_SZ") {
        return constant_operand();
    }
    const token name = in_.next();
    operand o;
    o.where = name.where;
    if (name.text == "_") {
        return o;
    }
    if (const auto reg = find_register(name.text)) {
        o.kind = operand_kind::reg;
        o.reg = *reg;
        if (in_.at_kind(token_kind::dotted) && in_.peek().glued) {
            parse_component(o, name);
        }
        return o;
    }
    if (name.text[0] == '%') {
        o.kind = operand_kind::special;
        o.name = name.text;
        if (in_.at_kind(token_kind::dotted) && in_.peek().glued && is_special_register(name.text)) {
            const token component = in_.next();
            o.name += '.';
            o.name += component.text;
            if (!is_special_register(o.name)) {
                throw error(component.where,
                            "'" + std::string(name.text) + "' has no component '." + std::string(component.text) + "'");
            }
        }
        if (!is_special_register(o.name)) {
            fail_undeclared_register(name);
        }
        return o;
    }
    o.kind = operand_kind::symbol;
    o.name = name.text;
    o.offset = (in_.at('[') ? parse_element(name) : 0) + parse_offset(in_);
    has_symbol_ = true;
    return o;
}

// The place of an array's element: 6 for [3] behind the name of an array of .b16.
std::int64_t body_parser::parse_element(const token& name) {
    const entity e = resolve(name.text, scopes_.current(), name.where);
    const variable* const v = e.kind == symbol_kind::local      ? &f_.variables[e.index]
                              : e.kind == symbol_kind::variable ? &owner_.variables[e.index]
                                                                : nullptr;
    if (v == nullptr || !v->is_array || v->dimensions.size() > 1) {
        throw error(name.where, "'" + std::string(name.text) + "' is no array of one dimension");
    }
    in_.next();
    const std::uint64_t number = parse_integer_constant(in_, "the number of an element").bits;
    in_.expect(']', "behind the number of an element");
    return static_cast<std::int64_t>(number * v->vector * bytes_of(v->type));
}

void body_parser::parse_component(operand& o, const token& name) {
    const token t = in_.next();
    const register_declaration& reg = f_.registers[o.reg];
    if (is_video_selector(t.text)) {
        o.name = t.text;
        return;
    }
    constexpr std::string_view components = "xyzwrgba";
    const std::size_t which = t.text.size() == 1 ? components.find(t.text[0]) : std::string_view::npos;
    if (which == std::string_view::npos || which % 4 >= reg.vector || reg.vector == 1) {
        throw error(t.where,
                    "the register '" + std::string(name.text) + "' has no component '." + std::string(t.text) + "'");
    }
    o.component = components[which % 4];
}

operand body_parser::parse_address(unsigned depth) {
    operand o;
    o.kind = operand_kind::address;
    o.where = in_.next().where;
    if (in_.at_kind(token_kind::identifier) && !in_.peek().is_identifier("WARP_SZ")) {
        operand base = parse_named_operand();
        switch (base.kind) {
        case operand_kind::reg:
            o.has_register = true;
            o.reg = base.reg;
            o.component = base.component;
            o.offset = parse_offset(in_);
            break;
        case operand_kind::symbol:
            o.name = std::move(base.name);
            o.offset = base.offset;
            break;
        default: throw error(base.where, "an address begins with a register, a variable or a number");
        }
    } else {
        o.offset = static_cast<std::int64_t>(parse_integer_constant(in_, "an address").bits);
    }
    while (in_.accept(',')) {
        o.elements.push_back(parse_single_operand(depth + 1));
    }
    in_.expect(']', "at the end of an address");
    return o;
}

void body_parser::parse_list(operand& o, char close, unsigned depth) {
    if (in_.accept(close)) {
        return;
    }
    o.elements.reserve(4);
    do {
        o.elements.push_back(parse_operand(depth + 1));
    } while (in_.accept(','));
    in_.expect(close, "or ',' in a list of operands");
}

} // namespace softgpu::ptx
