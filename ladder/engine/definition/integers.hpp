// SPDX-License-Identifier: MIT
// Integer arithmetic of sizes and trees.
#pragma once

#include <bit>
#include <cstdint>

namespace warpfold::ladder::engine {

// ceil(a / b).
[[nodiscard]] constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

// ceil(log2(n)), the iterations of a doubling stride; 0 for n < 2.
[[nodiscard]] constexpr unsigned log2_up(std::uint64_t n) {
    return n < 2 ? 0u : static_cast<unsigned>(std::bit_width(n - 1));
}

} // namespace warpfold::ladder::engine
