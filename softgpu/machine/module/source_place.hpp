// SPDX-License-Identifier: MIT
// Names for people: of kernels, threads, places in the source, addresses.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "softgpu/check/finding.hpp"
#include "softgpu/machine/demangle.hpp"
#include "softgpu/machine/launch.hpp"
#include "softgpu/machine/state/launch_state.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

using check::hexadecimal;

// The thread's index in its block, from its number.
[[nodiscard]] std::array<std::uint32_t, 3> thread_index(const launch_state& l, std::uint32_t thread);
[[nodiscard]] std::array<std::uint32_t, 3> block_index(const launch_state& l, std::uint64_t block);
// "(1,2,3)"
[[nodiscard]] std::string triple(const std::array<std::uint32_t, 3>& index);
// An instruction of a body, by its index.
struct instruction_place {
    const ptx::function* function = nullptr; // nullptr: not known
    std::uint32_t index = 0;
};
// Where it stands in the source, by the .loc before it (-lineinfo).
[[nodiscard]] check::source_place source_place_of(const launch_state& l, const instruction_place& at);
[[nodiscard]] check::source_place source_place_of(const module::implementation& home, const instruction_place& at);

} // namespace softgpu::machine
