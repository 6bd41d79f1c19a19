// SPDX-License-Identifier: MIT
// Loads whose values only some lanes use: nvcc moves a load before its condition, and a selp drops what the other lanes got.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "softgpu/program/program.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

class discarded_values {
public:
    discarded_values(const ptx::function& f, const program::control_flow& flow);
    // The guard of the lanes that use what load `n` reads; nullopt: all of them may. The value goes through arithmetic to selp
    // within the load's block only, and the predicate is set before the load.
    [[nodiscard]] std::optional<ptx::guard> users_of(std::uint32_t n) const;

private:
    const ptx::function& f_;
    const program::control_flow& flow_;
    std::vector<std::uint32_t> first_read_; // by register, indices of instructions
    std::vector<std::uint32_t> last_read_;
};

} // namespace softgpu::machine
