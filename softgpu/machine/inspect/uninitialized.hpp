// SPDX-License-Identifier: MIT
// Values that a warp has read from shared memory that nobody has written. Reading them is no mistake yet: CUB's merges
// read one element behind their end, its exchanges all places of a warp, and neither uses what it got. So the registers
// are remembered, by lane, through copies, choices and conditions that do not depend on them, and the finding is made
// where something else uses one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/state/launch_state.hpp"
#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// A register whose lanes hold what was read so.
struct unwritten_value {
    const std::byte* frame = nullptr;
    std::uint32_t reg = 0;
    lane_mask held_by = 0;
    const access_site* read_by = nullptr;
    std::uint64_t at = 0; // in shared memory, by the first of the lanes
};

// What an instruction does with such values.
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

// Of the instructions of a body those that may meet such values.
class value_flows {
public:
    explicit value_flows(const ptx::function& f);
    // How instruction `n` has to be followed; false: not at all.
    [[nodiscard]] bool find(std::uint32_t n, const program::register_places& places, register_flow& out) const;

private:
    [[nodiscard]] bool has_any(std::span<const std::uint32_t> registers) const;

    const ptx::function& f_;
    std::vector<bool> may_hold_; // by register
};

// Executed before such an instruction.
const instruction* follow_values(const instruction* i, std::byte* frame, warp* w);
// A lane is about to read element `element` of the access from unwritten shared memory at `at`.
void hold_unwritten(const access_site& site, warp* w, unsigned lane, unsigned element, std::uint64_t at);
// The finding: a lane uses, or reads, memory that nobody has written.
void report_unwritten(const access_site& site, warp* w, unsigned lane, access_space space, std::uint64_t at);

} // namespace softgpu::machine
