// SPDX-License-Identifier: MIT
// From a type that is known when the program runs to one that the compiler knows.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "calls/calls.hpp"
#include "warpfold/detail/portable.hpp"

namespace warpfold::calls {

// Integers of any width, read as int64 (A signed) or uint64.
template <class A>
struct integers {
    WARPFOLD_HD A operator[](std::uint64_t k) const {
        using one = std::conditional_t<std::is_signed_v<A>, std::int8_t, std::uint8_t>;
        using two = std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>;
        using four = std::conditional_t<std::is_signed_v<A>, std::int32_t, std::uint32_t>;
        switch (size) {
        case 1: return static_cast<const one*>(data)[k];
        case 2: return static_cast<const two*>(data)[k];
        case 4: return static_cast<const four*>(data)[k];
        default: return static_cast<const A*>(data)[k];
        }
    }

    const void* data;
    unsigned size; // bytes of an element
};

// work(x), x an array of the elements at `data`, wherever they lie: of int64, uint64, float or double.
template <class Work>
auto with_elements(array_type type, const void* data, const Work& work) {
    const auto size = static_cast<unsigned>(report::size_of(type));
    switch (family_of(type)) {
    case family::integer: return work(integers<std::int64_t>{data, size});
    case family::natural: return work(integers<std::uint64_t>{data, size});
    case family::single: return work(static_cast<const float*>(data));
    case family::twofold: return work(static_cast<const double*>(data));
    }
    throw std::logic_error("an element type without a family");
}

template <class A>
A value_of(const number& x) {
    if constexpr (std::is_same_v<A, std::int64_t>) {
        return x.integer;
    } else if constexpr (std::is_same_v<A, std::uint64_t>) {
        return x.natural;
    } else if constexpr (std::is_same_v<A, float>) {
        return x.single;
    } else {
        return x.twofold;
    }
}

} // namespace warpfold::calls
