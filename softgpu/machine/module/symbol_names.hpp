// SPDX-License-Identifier: MIT
// The symbols that an operand names.
#pragma once

#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// Calls visit(name, whether it is the base of an address) for the operand and its elements.
template <class Visit>
void visit_names(const ptx::operand& o, Visit&& visit) {
    if (!o.name.empty() && (o.kind == ptx::operand_kind::symbol || o.kind == ptx::operand_kind::address)) {
        visit(o.name, o.kind == ptx::operand_kind::address);
    }
    for (const ptx::operand& e : o.elements) {
        visit_names(e, visit);
    }
}

} // namespace softgpu::machine
