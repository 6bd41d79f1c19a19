// SPDX-License-Identifier: MIT
// Variables and parameters as text, for the printer and for the parser of prototypes.
#pragma once

#include <string>
#include <vector>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::ptx {

// ".global .align 4 .b8 name[4] = {1, 2, 3, 4}", without linkage and semicolon.
[[nodiscard]] std::string printed_variable(const variable& v);

// "(.param .b32 a, .param .b64 b)"
[[nodiscard]] std::string printed_parameters(const std::vector<variable>& parameters);

} // namespace softgpu::ptx
