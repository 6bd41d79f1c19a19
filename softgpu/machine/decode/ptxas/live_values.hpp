// SPDX-License-Identifier: MIT
// Registers that are alive while instructions are put in another order. Called by the schedule.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "softgpu/program/register_pressure.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

class live_values {
public:
    // nullptr: there is room for everything.
    explicit live_values(const program::register_pressure* pressure) : pressure_(pressure) {}

    // In the order of the code: instruction `n` of the piece, as many times as it is unrolled.
    void add(const ptx::instruction& i);
    // As add(), of what has no registers.
    void add_none() { uses_.emplace_back(); }
    // All have been added: they stand for f.instructions[first, last).
    void begin(std::uint32_t first, std::uint32_t last);

    // Words more that are alive behind the instruction that was added as the nth.
    [[nodiscard]] std::int64_t more(std::uint32_t n) const;
    // ptxas has the registers for it.
    [[nodiscard]] bool fits(std::uint32_t n) const;
    void issue(std::uint32_t n);

private:
    // What a register holds from one write to the last read.
    struct value {
        std::uint32_t words = 0;
        std::uint32_t readers = 0; // that have not been issued
        bool stays = false;        // behind the piece
    };
    struct use {
        std::vector<std::uint32_t> reads, writes; // values
    };
    std::uint32_t new_value(std::uint32_t reg);

    const program::register_pressure* pressure_;
    std::vector<value> values_;
    std::vector<use> uses_;                                 // by instruction
    std::unordered_map<std::uint32_t, std::uint32_t> held_; // by register, the value that it has
    std::int64_t alive_ = 0;                                // words
};

} // namespace softgpu::machine
