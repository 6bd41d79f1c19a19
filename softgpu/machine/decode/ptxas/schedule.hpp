// SPDX-License-Identifier: MIT
// How long a warp alone takes for straight code on hardware: instructions in the order that ptxas would give them, issued in
// order, one a cycle.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "softgpu/machine/decode/ptxas/block_costs.hpp"
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

// Of code with ifs whose bodies have predicates, as if none of them were entered; and what is more if all are.
struct schedule {
    std::vector<double> cycles; // for each table: until the next piece begins. Results may be on their way
    std::vector<double> cycles_of_bodies;
    std::vector<carried_time> needs;
    std::vector<carried_time> leaves;
    std::vector<carried_time> left_by_bodies; // from the end on
    // Of each instruction, table by table: cycles from the next piece's begin, so less than 0.
    std::vector<double> starts;
};

// Of f.instructions[first, last). `rounds`: the piece is the body of a loop that ptxas unrolls so many times; the result is of
// one round. Empty `tables`: nothing.
[[nodiscard]] schedule schedule_of(const ptx::function& f, std::uint32_t first, std::uint32_t last,
                                   std::span<const observe::latency_table> tables, const carried_registers& carried,
                                   unsigned rounds = 1, const surroundings& around = {});

} // namespace softgpu::machine
