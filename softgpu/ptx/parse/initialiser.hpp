// SPDX-License-Identifier: MIT
// Initialisers of variables.
#pragma once

#include "softgpu/ptx/ast.hpp"
#include "softgpu/ptx/lex/token_stream.hpp"

namespace softgpu::ptx {

// Reads the initialiser of `v` into v.initial, or v.opaque_initial for a texture, sampler or surface. An array of
// unknown length gets its length. Throws ptx::error.
void parse_initialiser(token_stream& in, variable& v);

} // namespace softgpu::ptx
