// SPDX-License-Identifier: MIT
// Short bodies of an if, whose branch ptxas replaces by a predicate of each instruction.
#pragma once

#include <cstdint>
#include <optional>

#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// Instructions branch + 1 to body_last - 1 have the branch's predicate. They and what comes before and behind them, up to
// `last`, are straight code: all of the block behind, where no other one leads there; else nothing of it.
struct predicated_body {
    std::uint32_t branch = 0;
    std::uint32_t body_last = 0;
    std::uint32_t last = 0;
};

// Of the branch that ends `block`, if it leads over one block, of at most 8 machine instructions that can have a predicate of
// their own; nullopt: it stays a branch.
[[nodiscard]] std::optional<predicated_body>
predicated_body_behind(const ptx::function& f, const program::control_flow& flow, std::uint32_t block);

} // namespace softgpu::machine
