// SPDX-License-Identifier: MIT
// Where an instruction is in the source.
#pragma once

#include <cstdint>

#include "softgpu/check/findings/finding.hpp"
#include "softgpu/machine/launch.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// An instruction of a body.
struct instruction_place {
    const ptx::function* function = nullptr; // nullptr: not known
    std::uint32_t index = 0;
};
// By the .loc before it (-lineinfo); `home`: a module of the program that runs.
[[nodiscard]] check::source_place source_place_of(const module::implementation& home, const instruction_place& at);

} // namespace softgpu::machine
