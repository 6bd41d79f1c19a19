// SPDX-License-Identifier: MIT
// Constants of std::numeric_limits, as values that device code can use.
#pragma once

#include <limits>

namespace warpfold::detail {

template <class T>
struct limits_of {
    using limits = std::numeric_limits<T>;
    static_assert(limits::is_specialized, "this needs a std::numeric_limits of your type, or an operation of your own");

    static constexpr T largest = limits::has_infinity ? limits::infinity() : limits::max();
    static constexpr T smallest = limits::has_infinity ? -limits::infinity() : limits::lowest();
};

} // namespace warpfold::detail
