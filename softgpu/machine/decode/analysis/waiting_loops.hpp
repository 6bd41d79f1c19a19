// SPDX-License-Identifier: MIT
// Polling loops: spin locks, flags, hand-made barriers. Warps in such loops give way early, and a grid in which every warp
// polls is deadlocked (run/schedule/deadlock.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

enum class loop_kind : std::uint8_t {
    none,    // no branch back
    other,   // it may write memory, wait for other threads, or is too large
    idle,    // empty
    polling, // only reads memory, at the same addresses, by loads or by atomics that may leave it unchanged
};

struct loop {
    loop_kind kind = loop_kind::none;
    std::vector<std::uint32_t> reads; // the instructions that read, by index into function::instructions
};

// The innermost loop that the branch from block `from` to block `to` closes: `to` is not behind `from`.
[[nodiscard]] loop loop_of(const ptx::function& f, const program::control_flow& flow, std::uint32_t from,
                           std::uint32_t to);

// Whether time alone may end that loop: lanes leave it, or come to where they may, by what depends on a clock. A loop that
// only sleeps longer and longer does not. `of_clocks`: registers that depend on a clock.
[[nodiscard]] bool may_time_out(const ptx::function& f, const program::control_flow& flow,
                                const std::vector<bool>& of_clocks, std::uint32_t from, std::uint32_t to);

} // namespace softgpu::machine
