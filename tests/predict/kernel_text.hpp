// SPDX-License-Identifier: MIT
// A kernel for these tests from the text of its instructions, with registers, shared memory s, constant memory c and a parameter a.
#pragma once

#include <string>

#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

struct kernel_text {
    explicit kernel_text(const std::string& instructions)
        : module(ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n.const .align 4 .b8 c[256];\n"
                            ".visible .entry k(.param .u64 a)\n{\n.reg .pred %p<4>; .reg .f32 %f<100>; "
                            ".reg .b16 %rs<16>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .shared .align 4 .b8 s[4096];\n" +
                            instructions + "\nret;\n}\n")),
          f(module.functions.front()),
          flow(program::make_control_flow(f)) {}

    ptx::module module;
    const ptx::function& f;
    program::control_flow flow;
};

} // namespace softgpu::machine
