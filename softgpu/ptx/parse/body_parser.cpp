// SPDX-License-Identifier: MIT
// Statements of a body: directives, labels and instructions.
#include "softgpu/ptx/parse/body_parser.hpp"

#include <algorithm>
#include <cstdint>

#include "softgpu/ptx/parse/declaration.hpp"
#include "softgpu/ptx/print/print_parts.hpp"

namespace softgpu::ptx {

namespace {

constexpr std::size_t most_registers = std::size_t{1} << 22; // in all functions of a module together

} // namespace

body_parser::body_parser(const module& owner, const module_names& names, function& f, std::string_view text,
                         location start)
    : owner_(owner), names_(names), f_(f), in_(text, start, "'}'"), registers_left_(most_registers) {
    for (const function& other : owner.functions) {
        registers_left_ -= std::min(registers_left_, other.registers.size());
    }
}

void body_parser::parse() {
    declare_parameters();
    while (!in_.at_end()) {
        parse_statement();
    }
    if (scopes_.is_nested()) {
        throw error(scopes_.opened_at(), "this '{' is never closed");
    }
    resolve_names();
    f_.body_parsed = true;
}

void body_parser::declare_parameters() {
    const auto declare = [this](const std::vector<variable>& list, symbol_kind kind) {
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const variable& v = list[i];
            if (v.space == suffix::reg) {
                scopes_.declare(v.name, {symbol_kind::none, static_cast<std::uint32_t>(f_.registers.size()), v.where});
                f_.registers.push_back({v.name, v.type, v.vector});
            } else if (v.name != "_") {
                scopes_.declare(v.name, {kind, i, v.where});
            }
        }
    };
    declare(f_.returns, symbol_kind::returned);
    declare(f_.parameters, symbol_kind::parameter);
}

void body_parser::add_statement(statement_kind kind, std::uint32_t index, location where) {
    statement& s = f_.statements.emplace_back();
    s.kind = kind;
    s.index = index;
    s.where = where;
}

void body_parser::parse_statement() {
    const token& t = in_.peek();
    if (t.kind == token_kind::identifier) {
        const token name = in_.next();
        if (in_.accept(':')) {
            parse_label(name);
        } else {
            parse_instruction(name, std::nullopt);
        }
    } else if (t.is('@')) {
        parse_guarded();
    } else if (t.kind == token_kind::dotted) {
        parse_directive();
    } else if (t.is('{')) {
        add_statement(statement_kind::scope_open, 0, t.where);
        scopes_.open(t.where);
        in_.next();
    } else if (t.is('}')) {
        if (!scopes_.is_nested()) {
            throw error(t.where, "'}' without '{'");
        }
        add_statement(statement_kind::scope_close, 0, t.where);
        scopes_.close();
        in_.next();
    } else {
        in_.fail_expected("an instruction, a directive or a label");
    }
}

void body_parser::parse_directive() {
    const token t = in_.peek();
    if (t.text == "reg") {
        parse_registers();
    } else if (t.text == "loc") {
        parse_location();
    } else if (t.text == "pragma") {
        parse_pragma();
    } else if (declared_space(t)) {
        parse_body_variables(linkage::none);
    } else if (const auto link = declared_linkage(t)) {
        in_.next();
        if (!declared_space(in_.peek())) {
            in_.fail_expected("a variable behind '." + std::string(t.text) + "'");
        }
        parse_body_variables(*link);
    } else {
        throw error(t.where, "unknown directive '." + std::string(t.text) + "' in a function");
    }
}

void body_parser::parse_registers() {
    const location where = in_.next().where;
    register_declaration common;
    bool has_type = false;
    while (in_.at_kind(token_kind::dotted)) {
        const token t = in_.peek();
        const std::optional<suffix> s = find_suffix(t.text);
        if (s && kind_of(*s) == suffix_kind::vector) {
            common.vector = *s == suffix::v2 ? 2 : *s == suffix::v4 ? 4 : 8;
        } else if (s && kind_of(*s) == suffix_kind::type && !has_type) {
            common.type = *s;
            has_type = true;
        } else {
            throw error(t.where, "unknown type '." + std::string(t.text) + "' of a register");
        }
        in_.next();
    }
    if (!has_type) {
        in_.fail_expected("a type behind '.reg'");
    }
    std::string text;
    if (common.vector > 1) {
        text = ".v" + std::to_string(common.vector) + " ";
    }
    text += "." + std::string(name_of(common.type));
    char separator = ' ';
    do {
        text += separator == ' ' ? " " : ", ";
        separator = ',';
        parse_register_name(common, text);
    } while (in_.accept(','));
    in_.expect(';', "behind a declaration of registers");
    add_statement(statement_kind::registers, 0, where);
    f_.statements.back().text = std::move(text);
}

void body_parser::parse_register_name(const register_declaration& common, std::string& text) {
    const token name = in_.expect_kind(token_kind::identifier, "the name of a register");
    const entity first{symbol_kind::none, static_cast<std::uint32_t>(f_.registers.size()), name.where};
    text += name.text;
    std::uint64_t count = 1;
    const bool is_family = in_.accept('<');
    if (is_family) {
        count = in_.expect_integer("a number of registers", most_registers);
        in_.expect('>', "behind a number of registers");
        text += "<" + std::to_string(count) + ">";
    }
    if (count * common.vector > registers_left_) {
        throw error(name.where, "too many registers: a module may have " + std::to_string(most_registers));
    }
    registers_left_ -= count * common.vector;
    if (!is_family) {
        scopes_.declare(name.text, first);
        f_.registers.push_back(common);
        f_.registers.back().name = name.text;
        return;
    }
    scopes_.declare_family(name.text, static_cast<std::uint32_t>(count), first);
    f_.registers.resize(f_.registers.size() + count, common);
    for (std::uint64_t i = 0; i < count; ++i) {
        std::string& full = f_.registers[first.index + i].name;
        full = name.text;
        full += std::to_string(i);
    }
}

void body_parser::parse_body_variables(linkage link) {
    for (variable& v : parse_variables(in_, link)) {
        const auto index = static_cast<std::uint32_t>(f_.variables.size());
        scopes_.declare(variable_names_.emplace_back(v.name), {symbol_kind::local, index, v.where});
        add_statement(statement_kind::variable, index, v.where);
        f_.variables.push_back(std::move(v));
    }
}

// .loc file line column [, function_name label [+ offset], inlined_at file line column]
void body_parser::parse_location() {
    constexpr std::uint64_t most = 0xFFFFFFFF;
    statement s;
    s.kind = statement_kind::location;
    s.where = in_.next().where;
    s.file = static_cast<std::uint32_t>(in_.expect_integer("the number of a file", most));
    s.line = static_cast<std::uint32_t>(in_.expect_integer("a line", most));
    s.column = static_cast<std::uint32_t>(in_.expect_integer("a column", most));
    while (in_.accept(',')) {
        s.text += s.text.empty() ? "" : ", ";
        const token t = in_.expect_kind(token_kind::identifier, "'function_name' or 'inlined_at'");
        if (t.text == "function_name") {
            s.text += "function_name ";
            s.text += in_.expect_kind(token_kind::identifier, "a label behind 'function_name'").text;
            if (in_.accept('+')) {
                s.text += "+" + std::to_string(in_.expect_integer("an offset", most));
            }
        } else if (t.text == "inlined_at") {
            s.text += "inlined_at";
            for (const char* what : {"the number of a file", "a line", "a column"}) {
                s.text += " " + std::to_string(in_.expect_integer(what, most));
            }
        } else {
            throw error(t.where, "expected 'function_name' or 'inlined_at', found '" + std::string(t.text) + "'");
        }
    }
    f_.statements.push_back(std::move(s));
}

void body_parser::parse_pragma() {
    const location where = in_.next().where;
    const token t = in_.expect_kind(token_kind::string, "a string behind '.pragma'");
    in_.expect(';', "behind '.pragma'");
    add_statement(statement_kind::pragma, 0, where);
    f_.statements.back().text = t.text;
}

// A label may have the name of one in another scope. Whoever looks labels up by name alone is served by making them
// different.
std::string body_parser::unique_label(std::string_view name) {
    std::string unique(name);
    for (unsigned n = 2; !labels_.insert(unique).second; ++n) {
        unique = std::string(name) + "$" + std::to_string(n);
    }
    return unique;
}

void body_parser::parse_label(const token& name) {
    if (name.text[0] == '%' || name.text == "_") {
        throw error(name.where, "'" + std::string(name.text) + "' cannot name a label");
    }
    const auto index = static_cast<std::uint32_t>(f_.statements.size());
    const token& t = in_.peek();
    const bool is_table = t.is_dotted("callprototype") || t.is_dotted("branchtargets") || t.is_dotted("calltargets");
    scopes_.declare(name.text, {is_table ? symbol_kind::table : symbol_kind::label, index, name.where});
    statement s;
    s.kind = statement_kind::label;
    s.where = name.where;
    s.text = unique_label(name.text);
    if (t.is_dotted("callprototype")) {
        parse_prototype(s);
    } else if (is_table) {
        parse_table(s);
        unresolved_.push_back({index, scopes_.current(), true});
    }
    f_.statements.push_back(std::move(s));
}

// .callprototype (returned) _ (parameters) .noreturn ;
void body_parser::parse_prototype(statement& s) {
    in_.next();
    s.kind = statement_kind::prototype;
    std::string text = ".callprototype ";
    if (in_.at('(')) {
        text += printed_parameters(parse_parameters(in_)) + " ";
    }
    text += in_.expect_kind(token_kind::identifier, "'_' in a prototype").text;
    if (in_.at('(')) {
        text += " " + printed_parameters(parse_parameters(in_));
    }
    while (in_.at_kind(token_kind::dotted)) {
        const token t = in_.next();
        text += " ." + std::string(t.text);
        if (t.text == "abi_preserve" || t.text == "abi_preserve_control") {
            text += " " + std::to_string(in_.expect_integer("a number of registers", 255));
        } else if (t.text != "noreturn") {
            throw error(t.where, "unknown directive '." + std::string(t.text) + "' in a prototype");
        }
    }
    in_.expect(';', "behind a prototype");
    s.names.push_back(std::move(text));
}

void body_parser::parse_table(statement& s) {
    const bool is_branch = in_.next().text == "branchtargets";
    s.kind = is_branch ? statement_kind::branch_targets : statement_kind::call_targets;
    do {
        s.names.emplace_back(in_.expect_kind(token_kind::identifier, is_branch ? "a label" : "a function").text);
    } while (in_.accept(','));
    in_.expect(';', "or ',' behind a target");
}

void body_parser::parse_guarded() {
    in_.next();
    guard g;
    g.negated = in_.accept('!');
    const token name = in_.expect_kind(token_kind::identifier, "a predicate behind '@'");
    const auto reg = find_register(name.text);
    if (!reg) {
        fail_undeclared_register(name);
    }
    if (f_.registers[*reg].type != suffix::pred) {
        throw error(name.where, "'" + std::string(name.text) + "' is no predicate");
    }
    g.reg = *reg;
    const token opcode_name = in_.expect_kind(token_kind::identifier, "an instruction behind a predicate");
    parse_instruction(opcode_name, g);
}

void body_parser::parse_instruction(const token& name, std::optional<guard> predicate) {
    const std::optional<opcode> op = find_opcode(name.text);
    if (!op) {
        throw error(name.where, "unknown instruction '" + std::string(name.text) + "'");
    }
    instruction i;
    i.op = *op;
    i.predicate = predicate;
    i.where = name.where;
    parse_suffixes(i);
    has_symbol_ = false;
    is_call_ = i.op == opcode::call;
    if (!in_.at(';')) {
        if (!at_operand()) {
            in_.fail_expected("';' or an operand behind '" + std::string(name.text) + "'");
        }
        i.operands.reserve(4);
        do {
            i.operands.push_back(parse_operand(0));
        } while (in_.accept(','));
    }
    in_.expect(';', "or ',' behind an operand of '" + std::string(name.text) + "'");
    const auto index = static_cast<std::uint32_t>(f_.instructions.size());
    if (has_symbol_) {
        unresolved_.push_back({index, scopes_.current(), false});
    }
    add_statement(statement_kind::instruction, index, name.where);
    f_.instructions.push_back(std::move(i));
}

void body_parser::parse_suffixes(instruction& i) {
    i.suffixes.reserve(4);
    while (in_.at_kind(token_kind::dotted)) {
        const token& t = in_.peek();
        const std::optional<suffix> s = find_suffix(t.text);
        if (!s) {
            if (!t.glued) {
                return;
            }
            throw error(t.where, "unknown modifier '." + std::string(t.text) + "' of the instruction '" +
                                     std::string(name_of(i.op)) + "'");
        }
        i.suffixes.push_back(*s);
        in_.next();
    }
}

} // namespace softgpu::ptx
