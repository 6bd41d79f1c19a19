// SPDX-License-Identifier: MIT
// What an instruction does with values that were read from uninitialized memory; see inspect/uninitialized.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/machine/code/instruction.hpp"

namespace softgpu::machine {

enum class value_flow : std::uint8_t {
    use,         // it needs them
    copy,        // mov, and conditions: the result is as little known as what it comes from
    choice,      // selp
    conjunction, // and.pred: known where one side is known and false
    disjunction, // or.pred: known where one side is known and true
    other,       // it reads none, and writes a register that might hold one
};

struct register_flow {
    value_flow how = value_flow::other;
    std::vector<std::uint32_t> from, to; // registers; of a choice and its kind, by operand
    place condition = nowhere;           // of a choice; of a conjunction or disjunction the first side ...
    place second = nowhere;              // ... and the other
};

} // namespace softgpu::machine
