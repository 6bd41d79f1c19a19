// SPDX-License-Identifier: MIT
// Numbers for the instructions of a kernel that is profiled, and their places in the source.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/observe/profile.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// Numbers the instructions of a kernel and of the functions that it calls: each function's in one run.
class profile_points {
public:
    // The number of the function's first instruction.
    std::uint32_t first_of(const ptx::function& f, const ptx::module* home);
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    // What stands at each number.
    [[nodiscard]] std::vector<observe::profile_point> described() const;

private:
    struct numbered {
        const ptx::function* function;
        const ptx::module* home;
        std::uint32_t first;
    };
    std::vector<numbered> functions_;
    std::uint32_t count_ = 0;
};

} // namespace softgpu::machine
