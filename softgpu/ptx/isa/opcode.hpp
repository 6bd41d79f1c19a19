// SPDX-License-Identifier: MIT
// The opcodes of PTX, from the table opcodes.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace softgpu::ptx {

// What executes an opcode: one file of softgpu/machine each. `unsupported`: only the name is known.
enum class family : std::uint8_t {
    arithmetic,
    logic,
    compare,
    convert,
    memory,
    atomic,
    async,
    control,
    warp,
    matrix,
    texture,
    video,
    unsupported
};

enum class opcode : std::uint16_t {
#define SOFTGPU_OPCODE(id, text, destinations, family) id,
#include "softgpu/ptx/isa/opcodes.def"
#undef SOFTGPU_OPCODE
};

[[nodiscard]] std::string_view name_of(opcode op) noexcept;
[[nodiscard]] family family_of(opcode op) noexcept;
// How many leading operands are written, 0 or 1 (a pair d|p or a vector {a,b} counts as one).
[[nodiscard]] unsigned destinations_of(opcode op) noexcept;
[[nodiscard]] std::optional<opcode> find_opcode(std::string_view text) noexcept;

} // namespace softgpu::ptx
