// SPDX-License-Identifier: MIT
// What a straight piece of code costs on hardware: machine instructions by class, and the longest chain of dependent
// instructions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "softgpu/observe/instruction_mix.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

struct machine_cost {
    observe::instruction_class what = observe::instruction_class::integer;
    unsigned slots = 1; // machine instructions; 0: ptxas makes none of it
    bool waits = true;  // the block is not over before its result is there: all but stores
    // Of a product of matrices: 32 multiply-adds of 16-bit floats, or as many of another type as take as long.
    unsigned products = 0;
};

// Of one PTX instruction. The counts are those that ptxas makes of it for sm_70 and later; see docs/model.md.
[[nodiscard]] machine_cost cost_of(const ptx::instruction& i);

// Machine instructions of f.instructions[first, last).
[[nodiscard]] observe::instruction_mix mix_of(const ptx::function& f, std::uint32_t first, std::uint32_t last);

// Cycles of one warp alone from the first instruction of [first, last) until all results are there, for each table. A warp
// issues in order, one instruction a cycle, and stops at one whose operands are not there. Registers that are written
// before `first` are there.
[[nodiscard]] std::vector<double> path_of(const ptx::function& f, std::uint32_t first, std::uint32_t last,
                                          std::span<const observe::latency_table> tables);

} // namespace softgpu::machine
