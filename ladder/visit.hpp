// SPDX-License-Identifier: MIT
// From a value of element_type to the type that it names.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ladder/ladder.hpp"

namespace warpfold::ladder {

[[nodiscard]] constexpr std::size_t bytes_of(element_type type) {
    return type == element_type::int32 || type == element_type::float32 ? 4 : 8;
}

// Calls f.template operator()<T>() with the C++ type of `type`.
template <class F>
decltype(auto) visit_type(element_type type, F&& f) {
    switch (type) {
    case element_type::int64: return f.template operator()<std::int64_t>();
    case element_type::float32: return f.template operator()<float>();
    case element_type::float64: return f.template operator()<double>();
    default: return f.template operator()<std::int32_t>();
    }
}

} // namespace warpfold::ladder
