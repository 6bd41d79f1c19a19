// SPDX-License-Identifier: MIT
// Parses the body of one function.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "softgpu/ptx/ast.hpp"
#include "softgpu/ptx/lex/token_stream.hpp"
#include "softgpu/ptx/parse/names.hpp"

namespace softgpu::ptx {

class body_parser {
public:
    // `text` is what follows the '{' of the body; it begins at `start`. `names` are those of `owner`.
    body_parser(const module& owner, const module_names& names, function& f, std::string_view text, location start);

    // Fills in the body's parts of the function. Throws ptx::error.
    void parse();

private:
    struct scoped_statement {
        std::uint32_t index = 0;
        std::uint32_t scope = 0;
        bool is_table = false; // index counts in function::statements, not in function::instructions
    };

    void declare_parameters();
    void parse_statement();
    void parse_directive();
    void parse_registers();
    void parse_register_name(const register_declaration& common, std::string& text);
    void parse_body_variables(linkage link);
    void parse_location();
    void parse_pragma();
    void parse_label(const token& name);
    void parse_prototype(statement& s);
    void parse_table(statement& s);
    void parse_guarded();
    void parse_instruction(const token& name, std::optional<guard> predicate);
    void parse_suffixes(instruction& i);

    [[nodiscard]] bool at_operand() const noexcept;
    operand parse_operand(unsigned depth);
    operand parse_single_operand(unsigned depth);
    operand parse_named_operand();
    std::int64_t parse_element(const token& name);
    operand parse_address(unsigned depth);
    void parse_list(operand& o, char close, unsigned depth);
    void parse_component(operand& o, const token& name);
    operand constant_operand();
    [[nodiscard]] std::optional<std::uint32_t> find_register(std::string_view name) const noexcept;
    [[noreturn]] static void fail_undeclared_register(const token& name);

    void resolve_names();
    void resolve(operand& o, std::uint32_t scope);
    [[nodiscard]] entity resolve(std::string_view name, std::uint32_t scope, location where) const;
    void add_statement(statement_kind kind, std::uint32_t index, location where);
    std::string unique_label(std::string_view name);

    const module& owner_;
    const module_names& names_;
    function& f_;
    token_stream in_;
    scopes scopes_;
    std::size_t registers_left_ = 0; // that may still be declared
    bool has_symbol_ = false;        // the instruction being read names something that is no register
    bool is_call_ = false;           // and this is a call, where parentheses group parameters
    std::vector<scoped_statement> unresolved_;
    std::unordered_set<std::string> labels_;
    std::deque<std::string> variable_names_; // kept where they do not move, for scopes_
};

} // namespace softgpu::ptx
