// SPDX-License-Identifier: MIT
// The families of element types.
#include "tool/arrays/calls.hpp"

namespace warpfold::calls {

family family_of(array_type type) noexcept {
    switch (type) {
    case array_type::int8:
    case array_type::int16:
    case array_type::int32:
    case array_type::int64: return family::integer;
    case array_type::float32: return family::single;
    case array_type::float64: return family::twofold;
    default: return family::natural;
    }
}

array_type type_of(family of) noexcept {
    switch (of) {
    case family::integer: return array_type::int64;
    case family::natural: return array_type::uint64;
    case family::single: return array_type::float32;
    case family::twofold: break;
    }
    return array_type::float64;
}

} // namespace warpfold::calls
