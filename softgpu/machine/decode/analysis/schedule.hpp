// SPDX-License-Identifier: MIT
// How long a warp alone takes for straight code on hardware: instructions in the order that ptxas would give them, issued in
// order, one a cycle.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "softgpu/machine/decode/analysis/block_costs.hpp"
#include "softgpu/observe/instruction_mix.hpp"
#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// Registers whose results may be on their way when a piece of code ends: those of loads, atomics, shuffles and the like.
// Register to a number from 0 on.
using carried_registers = std::unordered_map<std::uint32_t, std::uint32_t>;
[[nodiscard]] carried_registers carried_registers_of(const ptx::function& f);

// Cycles from the beginning of the piece, for each latency table, at which a carried register is first read, or is there.
struct carried_time {
    std::uint32_t number = 0;
    std::vector<double> at;
};

struct schedule {
    std::vector<double> cycles; // for each table: until the next piece begins. Results may be on their way
    std::vector<carried_time> needs;
    std::vector<carried_time> leaves;
    std::vector<double>
        starts; // of each instruction, table by table: cycles from the next piece's begin, so less than 0
    std::vector<std::uint32_t> late; // numbers of carried registers that deferred instructions wait for
};

// Whether the block ends with a branch over the next one, which loads global memory and computes. ptxas gives such instructions
// predicates in the place of the branch, and loads before it uses what it has loaded.
[[nodiscard]] bool leads_over_loads(const ptx::function& f, const program::control_flow& flow, std::uint32_t block);

// Of f.instructions[first, last). `rounds`: the piece is the body of a loop that ptxas unrolls so many times; the result is of
// one round. `defers`: instructions that wait for loads, and that no load or branch of the piece waits for, do not hold it up; a
// later piece waits for schedule::late. Empty `tables`: nothing.
[[nodiscard]] schedule schedule_of(const ptx::function& f, std::uint32_t first, std::uint32_t last,
                                   std::span<const observe::latency_table> tables, const carried_registers& carried,
                                   unsigned rounds = 1, bool defers = false, const surroundings& around = {});

} // namespace softgpu::machine
