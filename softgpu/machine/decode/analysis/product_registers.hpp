// SPDX-License-Identifier: MIT
// Registers that wgmma.mma_async may still use, and those that are written without wgmma.fence behind. On some path: whether a
// product is under way where an instruction touches its registers is looked at when that instruction runs.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/program/program.hpp"

namespace softgpu::machine {

class product_registers {
public:
    product_registers(const ptx::function& f, const program::control_flow& flow);

    // What instruction n touches that products may still use; nullptr: nothing.
    [[nodiscard]] const product_touch* touched_by(std::uint32_t n) const;
    // Instruction n is a product that uses this register, which was written since the last wgmma.fence; no_register: none.
    [[nodiscard]] std::uint32_t unfenced_in(std::uint32_t n) const;

    static constexpr std::uint32_t no_register = 0xFFFFFFFF;

private:
    struct state {
        std::vector<std::uint32_t>
            result_of;             // by register: 1 + the register that a product writes, of which it is a copy
        std::vector<bool> factor;  // a product may read it
        std::vector<bool> written; // since the last fence
        bool none_fenced = false;  // no fence so far
        bool reached = false;
    };
    void step(state& s, std::uint32_t n, bool notes);
    static bool merge(state& into, const state& from);

    const ptx::function& f_;
    std::unordered_map<std::uint32_t, product_touch> touches_;
    std::unordered_map<std::uint32_t, std::uint32_t> unfenced_;
};

} // namespace softgpu::machine
