// SPDX-License-Identifier: MIT
// Loops that do nothing but look at memory: spin locks, flags, barriers made by hand. What waits like that has to let others
// run soon, and where nobody else runs either it waits for ever.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

enum class loop_kind : std::uint8_t {
    none,    // no branch back
    other,   // it may write memory, or wait for other threads, or is too large to be one that waits
    idle,    // nothing happens in it
    polling, // and reads memory on the way, always at the same places, by loads or atomics that may leave it as it is
};

struct loop {
    loop_kind kind = loop_kind::none;
    std::vector<std::uint32_t> reads; // the instructions that read, by index into function::instructions
};

// The innermost loop that the branch from block `from` to block `to` closes: `to` stands before or at `from`.
[[nodiscard]] loop loop_of(const ptx::function& f, const program::control_flow& flow, std::uint32_t from,
                           std::uint32_t to);

} // namespace softgpu::machine
