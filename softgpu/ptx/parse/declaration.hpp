// SPDX-License-Identifier: MIT
// Variables, parameters and their initialisers.
#pragma once

#include <optional>
#include <vector>

#include "softgpu/ptx/ast.hpp"
#include "softgpu/ptx/lex/token_stream.hpp"

namespace softgpu::ptx {

// The space that a declaration begins with (.global, .const, .shared, .local, .param, .tex), if the token is one.
[[nodiscard]] std::optional<suffix> declared_space(const token& t) noexcept;

// The linkage that a directive names (.extern, .visible, .weak, .common), if the token is one.
[[nodiscard]] std::optional<linkage> declared_linkage(const token& t) noexcept;

// Reads `.space ... name, name = value;` up to and with the semicolon. The current token is the space.
[[nodiscard]] std::vector<variable> parse_variables(token_stream& in, linkage link);

// Reads `(.param .b32 a, .param .b64 b)`. The current token is the '('.
[[nodiscard]] std::vector<variable> parse_parameters(token_stream& in);

// Reads `.attribute(...)`, the current token, and returns what stands in the parentheses, printed.
[[nodiscard]] std::string parse_attribute(token_stream& in);

} // namespace softgpu::ptx
