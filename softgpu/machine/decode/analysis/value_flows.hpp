// SPDX-License-Identifier: MIT
// Which instructions of a body may meet values that were read from uninitialized shared memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "softgpu/machine/code/value_flow.hpp"
#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

class value_flows {
public:
    explicit value_flows(const ptx::function& f);
    // What instruction `n` does with such values; false: it never meets one.
    [[nodiscard]] bool find(std::uint32_t n, const program::register_places& places, register_flow& out) const;

private:
    [[nodiscard]] bool has_any(std::span<const std::uint32_t> registers) const;

    const ptx::function& f_;
    std::vector<bool> may_hold_; // by register
};

} // namespace softgpu::machine
