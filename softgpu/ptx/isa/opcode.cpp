// SPDX-License-Identifier: MIT
// Names and properties of opcodes, from opcodes.def.
#include "softgpu/ptx/isa/opcode.hpp"

#include <cstdint>
#include <iterator>

#include "softgpu/ptx/isa/name_table.hpp"

namespace softgpu::ptx {

namespace {

constexpr std::string_view names[]{
#define SOFTGPU_OPCODE(id, text, destinations, family) std::string_view(text),
#include "softgpu/ptx/isa/opcodes.def"
#undef SOFTGPU_OPCODE
};

constexpr family families[]{
#define SOFTGPU_OPCODE(id, text, destinations, executed_by) family::executed_by,
#include "softgpu/ptx/isa/opcodes.def"
#undef SOFTGPU_OPCODE
};

constexpr std::uint8_t destinations_written[]{
#define SOFTGPU_OPCODE(id, text, destinations, family) destinations,
#include "softgpu/ptx/isa/opcodes.def"
#undef SOFTGPU_OPCODE
};

constexpr name_table<std::size(names), 512> table(names);
static_assert(!table.has_duplicate());

} // namespace

std::string_view name_of(opcode op) noexcept { return names[static_cast<std::size_t>(op)]; }

family family_of(opcode op) noexcept { return families[static_cast<std::size_t>(op)]; }

unsigned destinations_of(opcode op) noexcept { return destinations_written[static_cast<std::size_t>(op)]; }

std::optional<opcode> find_opcode(std::string_view text) noexcept {
    const std::uint16_t place = table.find(text);
    return place == table.absent ? std::nullopt : std::optional(static_cast<opcode>(place));
}

} // namespace softgpu::ptx
