// SPDX-License-Identifier: MIT
// How many 32-bit words of registers are alive at each point of a function.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/program/liveness.hpp"
#include "softgpu/program/program.hpp"

namespace softgpu::program {

class register_pressure {
public:
    // Predicates take no word, nor do values that are the same for a warp: ptxas has other registers for them.
    register_pressure(const ptx::function& f, const control_flow& flow);

    [[nodiscard]] std::uint32_t words_of(std::uint32_t reg) const { return words_[reg]; }
    // In front of instruction n.
    [[nodiscard]] std::uint32_t words_before(std::uint32_t n) const { return alive_[2 * n]; }
    [[nodiscard]] bool is_alive_before(std::uint32_t n, std::uint32_t reg) const;
    [[nodiscard]] std::uint32_t most() const { return most_; }

private:
    live_ranges ranges_;
    std::vector<std::uint32_t> words_; // by register
    std::vector<std::uint32_t> alive_; // by point, as live_range has them
    std::uint32_t most_ = 0;
};

} // namespace softgpu::program
