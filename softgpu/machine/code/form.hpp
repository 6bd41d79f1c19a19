// SPDX-License-Identifier: MIT
// An instruction's opcode and suffixes as plain data. The choosers in handlers/ choose a handler by it.
#pragma once

#include <array>
#include <cstdint>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

struct form {
    ptx::opcode op{};
    ptx::suffix type[4] = {ptx::suffix::none, ptx::suffix::none, ptx::suffix::none, ptx::suffix::none};
    ptx::suffix layout[2] = {ptx::suffix::none, ptx::suffix::none}; // of matrices: row or col, as written
    ptx::suffix space = ptx::suffix::none;
    unsigned vector = 1;
    unsigned operands = 0;
    unsigned register_bytes = 0; // of a lane of the value's register, of ld and st; the decoder sets it
    bool pair = false;           // two destinations, d|p
    unsigned parts = 0;          // elements of a vector operand of mov
    bool unpacks = false;        // ... which is the destination
    std::array<std::uint64_t, (ptx::suffix_count + 63) / 64> suffixes{};

    [[nodiscard]] bool has(ptx::suffix s) const noexcept {
        const auto n = static_cast<unsigned>(s);
        return (suffixes[n / 64] >> (n % 64) & 1) != 0;
    }
    void set(ptx::suffix s) noexcept {
        const auto n = static_cast<unsigned>(s);
        suffixes[n / 64] |= 1ull << (n % 64);
    }
};

// f16, bf16 and pairs of them.
[[nodiscard]] constexpr bool is_half(ptx::suffix t) noexcept {
    return t == ptx::suffix::f16 || t == ptx::suffix::bf16 || t == ptx::suffix::f16x2 || t == ptx::suffix::bf16x2;
}

[[nodiscard]] form form_of(const ptx::instruction& i);

// mov between registers of 2, 4, 8 or 16 bytes a lane.
[[nodiscard]] form move_of(unsigned bytes);

// Bytes of a lane of operand `index` where it is an immediate or a symbol; 0 for a predicate.
[[nodiscard]] unsigned operand_bytes(const form& f, unsigned index);

// Bytes of a lane of an element of mov's vector; registers of 8 bits have the room of 16.
[[nodiscard]] unsigned part_bytes(const form& f);

// Bytes of a lane of the register that this form writes, 0 for a predicate.
[[nodiscard]] unsigned destination_bytes(const form& f);

// The number of operands of this form.
struct operand_range {
    unsigned least = 0;
    unsigned most = 0xFFFFFFFF;
};
[[nodiscard]] operand_range operands_wanted(const form& f);

} // namespace softgpu::machine
