// SPDX-License-Identifier: MIT
#include "softgpu/ptx/ast.hpp"

namespace softgpu::ptx {

unsigned destinations_of(const instruction& i) noexcept {
    switch (i.op) {
    case opcode::bar:
    case opcode::barrier: return i.has(suffix::red) ? 1 : 0;
    case opcode::mbarrier:
        return i.has(suffix::arrive) || i.has(suffix::arrive_drop) || i.has(suffix::test_wait) ||
                       i.has(suffix::try_wait) || i.has(suffix::pending_count)
                   ? 1
                   : 0;
    case opcode::wmma: return i.has(suffix::store) ? 0 : 1;
    case opcode::wgmma: return i.has(suffix::mma_async) ? 1 : 0;
    case opcode::tcgen05: return i.has(suffix::ld) ? 1 : 0;
    case opcode::multimem: return i.has(suffix::ld_reduce) ? 1 : 0;
    case opcode::clusterlaunchcontrol: return i.has(suffix::query_cancel) ? 1 : 0;
    default: return destinations_of(i.op);
    }
}

function* module::find_function(std::string_view name) noexcept {
    function* declaration = nullptr;
    for (function& f : functions) {
        if (f.name == name) {
            if (f.has_body) {
                return &f;
            }
            declaration = declaration == nullptr ? &f : declaration;
        }
    }
    return declaration;
}

const variable* module::find_variable(std::string_view name) const noexcept {
    const variable* declaration = nullptr;
    for (const variable& v : variables) {
        if (v.name == name) {
            if (v.link != linkage::external) {
                return &v;
            }
            declaration = declaration == nullptr ? &v : declaration;
        }
    }
    return declaration;
}

} // namespace softgpu::ptx
