// SPDX-License-Identifier: MIT
// The families of element types.
#include "tool/arrays/calls.hpp"

namespace warpfold::calls {

family family_of(array_type type) noexcept {
    switch (type) {
    case array_type::int8:
    case array_type::int16:
    case array_type::int32:
    case array_type::int64: return family::int64;
    case array_type::float32: return family::float32;
    case array_type::float64: return family::float64;
    default: return family::uint64;
    }
}

array_type type_of(family of) noexcept {
    switch (of) {
    case family::int64: return array_type::int64;
    case family::uint64: return array_type::uint64;
    case family::float32: return array_type::float32;
    case family::float64: break;
    }
    return array_type::float64;
}

} // namespace warpfold::calls
