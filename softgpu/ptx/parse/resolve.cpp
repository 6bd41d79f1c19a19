// SPDX-License-Identifier: MIT
// Resolves the names of a body after all of it is read.
#include "softgpu/ptx/parse/body_parser.hpp"

namespace softgpu::ptx {

// Names may be used before they are declared (labels are), so they are resolved at the end.
void body_parser::resolve_names() {
    for (const scoped_statement& u : unresolved_) {
        if (!u.is_table) {
            instruction& i = f_.instructions[u.index];
            for (operand& o : i.operands) {
                resolve(o, u.scope);
            }
            if (i.op == opcode::bra && !i.operands.empty() && i.operands[0].refers_to != symbol_kind::label) {
                throw error(i.operands[0].where, "'" + i.operands[0].name + "' is no label");
            }
            continue;
        }
        statement& s = f_.statements[u.index];
        const bool is_branch = s.kind == statement_kind::branch_targets;
        for (std::string& name : s.names) {
            const entity e = resolve(name, u.scope, s.where);
            if (is_branch ? e.kind != symbol_kind::label
                          : e.kind != symbol_kind::function && e.kind != symbol_kind::alias) {
                throw error(s.where, "'" + name + (is_branch ? "' is no label" : "' is no function"));
            }
            s.targets.push_back(e.index);
            if (is_branch) {
                name = f_.statements[e.index].text;
            }
        }
    }
}

entity body_parser::resolve(std::string_view name, std::uint32_t scope, location where) const {
    if (const auto found = scopes_.find(name, scope)) {
        return *found;
    }
    if (const entity* found = names_.find(name)) {
        return *found;
    }
    throw error(where, "undeclared name '" + std::string(name) + "'");
}

void body_parser::resolve(operand& o, std::uint32_t scope) {
    const bool names_something =
        o.kind == operand_kind::symbol || (o.kind == operand_kind::address && !o.has_register && !o.name.empty());
    if (names_something) {
        const entity e = resolve(o.name, scope, o.where);
        o.refers_to = e.kind;
        o.target = e.index;
        if (e.kind == symbol_kind::label || e.kind == symbol_kind::table) {
            o.name = f_.statements[e.index].text;
        }
    }
    for (operand& element : o.elements) {
        resolve(element, scope);
    }
}

} // namespace softgpu::ptx
