// SPDX-License-Identifier: MIT
// How scans on the host divide their elements.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace warpfold::detail {

inline constexpr std::uint64_t scan_run = 64; // elements folded one after another

// Of larger elements only a few are held at a time, since stacks are small.
template <class A>
inline constexpr bool scan_holds_few = sizeof(A) > 256;

template <class A>
inline constexpr std::uint64_t scan_runs = scan_holds_few<A> ? 1 : (sizeof(A) == 1 ? 16 : 8); // runs side by side
template <class A>
inline constexpr std::uint64_t scan_chunk = std::clamp<std::uint64_t>(std::bit_floor(65536 / sizeof(A)),
                                                                      scan_holds_few<A> ? scan_run : 4096, 32768);
// Parts of a chunk, of floating-point sums: in long runs of additions errors grow.
template <class A>
inline constexpr std::uint64_t sums_part = scan_chunk<A> / 4;

} // namespace warpfold::detail
