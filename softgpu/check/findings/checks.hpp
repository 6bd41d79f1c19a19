// SPDX-License-Identifier: MIT
// Which checks there are, by name.
#pragma once

#include <string>
#include <string_view>

namespace softgpu::check {

using check_set = unsigned;

inline constexpr check_set memory = 1; // accesses that must not be: out of bounds, misaligned, freed
inline constexpr check_set race = 2;   // accesses of two threads without an order between them
inline constexpr check_set init = 4;   // reads of memory that nobody has written
inline constexpr check_set sync = 8;   // barriers and warp-wide instructions that not all come to
inline constexpr check_set leak = 16;  // allocations left at the end
inline constexpr check_set all = memory | race | init | sync | leak;

// "memory,race", "all". Throws std::invalid_argument, whose text names the word that is no check.
[[nodiscard]] check_set parse_checks(std::string_view text);
[[nodiscard]] std::string_view name_of(check_set one) noexcept;

} // namespace softgpu::check
