// SPDX-License-Identifier: MIT
// The segments of a segmented reduction: offsets, or one length.
#pragma once

#include <concepts>
#include <cstdint>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/portable.hpp"

namespace warpfold {

// Segments of one length, in elements: segment s begins at element s * length.
struct equal_segments {
    std::uint64_t length;

    WARPFOLD_HD constexpr std::uint64_t operator[](std::uint64_t s) const { return s * length; }
};

namespace detail {

template <class Offsets>
concept segment_bounds = !array_like<Offsets> && std::integral<element_t<Offsets>> && sizeof(element_t<Offsets>) >= 4;

} // namespace detail
} // namespace warpfold
