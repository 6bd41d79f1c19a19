// SPDX-License-Identifier: MIT
// What check_warpgroup looks at, in bits 16 and up of `more`; those below are the instruction's own.
#pragma once

#include <cstdint>

namespace softgpu::machine {

enum class warpgroup_check : std::uint32_t { product, commit, wait, touch, unfenced };
inline constexpr unsigned warpgroup_check_shift = 16;

} // namespace softgpu::machine
