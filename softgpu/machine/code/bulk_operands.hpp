// SPDX-License-Identifier: MIT
// Where the operands of bulk copies, tensor copies, st.async, red.async and st.bulk are: indices into instruction::places. An address
// is a register and an offset. What an instruction does not have is `nowhere`.
#pragma once

#include <cstdint>

#include "softgpu/machine/code/instruction.hpp"

namespace softgpu::machine {

enum bulk_operand : unsigned {
    bulk_to,
    bulk_to_offset,
    bulk_from, // of st.async and red.async: the first value
    bulk_from_offset,
    bulk_size, // 4 bytes; of st.bulk width[2]
    bulk_barrier,
    bulk_barrier_offset,
    bulk_mask,        // of the blocks of a multicast, by rank
    bulk_values,      // of st.async: how many, a number
    bulk_coordinates, // a number: how many follow from bulk_lists on, then those of bulk_offsets
    bulk_offsets,     // of im2col, a number
    bulk_lists
};

// Of d.more: these have 8 bytes.
inline constexpr std::uint32_t bulk_to_is_wide = 1;
inline constexpr std::uint32_t bulk_from_is_wide = 2;
inline constexpr std::uint32_t bulk_barrier_is_wide = 4;
// Of d.more: the address of st.bulk is generic.
inline constexpr std::uint32_t bulk_to_is_generic = 8;
// Of d.more, from here on: what the handler's file says.
inline constexpr unsigned bulk_kind_shift = 8;

} // namespace softgpu::machine
