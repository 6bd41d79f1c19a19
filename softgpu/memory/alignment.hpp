// SPDX-License-Identifier: MIT
// Rounding sizes and addresses up to an alignment.
#pragma once

#include <cstdint>

namespace softgpu {

inline constexpr std::uint64_t cache_line = 64; // bytes, of the host

// An alignment of 0 counts as 1.
template <class T>
[[nodiscard]] constexpr T round_up(T value, std::uint64_t to) noexcept {
    return to == 0 ? value : static_cast<T>((value + to - 1) / to * to);
}

} // namespace softgpu
