// SPDX-License-Identifier: MIT
// Constant expressions, as they stand in operands, initialisers and array dimensions.
#pragma once

#include <cstdint>

#include "softgpu/ptx/lex/token_stream.hpp"

namespace softgpu::ptx {

enum class constant_kind : std::uint8_t { integer, float32, float64 };

struct constant {
    constant_kind kind = constant_kind::integer;
    bool is_unsigned = false;
    std::uint64_t bits = 0;
    location where;
};

// Whether an expression can begin here: a number, a sign, '~', '!', '(' or WARP_SZ.
[[nodiscard]] bool at_constant(const token_stream& in) noexcept;

// Reads an expression with C's operators on 64-bit integers, signed unless an operand is unsigned; the only operators
// on floating-point literals are the signs. Throws ptx::error. Source: PTX ISA 9.0, 4.5.
[[nodiscard]] constant parse_constant(token_stream& in);

// Reads what may follow a name in an address: any number of "+ term" and "- term". 0 where there is none.
[[nodiscard]] std::int64_t parse_offset(token_stream& in);

// The same, where an integer is needed; `what` names it in the error.
[[nodiscard]] constant parse_integer_constant(token_stream& in, std::string_view what);

} // namespace softgpu::ptx
