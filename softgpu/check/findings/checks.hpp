// SPDX-License-Identifier: MIT
// The checks and their names.
#pragma once

#include <string>
#include <string_view>

namespace softgpu::check {

using check_set = unsigned;

inline constexpr check_set memory = 1; // invalid accesses: out of bounds, misaligned, freed
inline constexpr check_set race = 2;   // accesses of two threads without an order between them
inline constexpr check_set init = 4;   // reads of uninitialized memory
inline constexpr check_set sync = 8;   // barriers and warp-wide instructions that some threads do not reach
inline constexpr check_set leak = 16;  // allocations left at the end
inline constexpr check_set all = memory | race | init | sync | leak;

// "memory,race", "all". Throws std::invalid_argument; its text names the unknown word.
[[nodiscard]] check_set parse_checks(std::string_view text);
[[nodiscard]] std::string_view name_of(check_set one) noexcept;

} // namespace softgpu::check
