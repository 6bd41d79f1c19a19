// SPDX-License-Identifier: MIT
// The operations of calls.hpp, and their results of no elements.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "python/src/array.hpp"
#include "python/src/calls.hpp"
#include "warpfold/operation.hpp"

namespace warpfold::python {

// The largest or smallest value of the elements' type, as A.
template <class A>
A extreme_of(element type, bool largest) {
    const auto of = [largest](auto x) {
        using T = decltype(x);
        if constexpr (std::is_floating_point_v<T>) {
            return static_cast<A>(largest ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity());
        } else {
            return static_cast<A>(largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min());
        }
    };
    switch (type) {
    case element::boolean: return static_cast<A>(largest);
    case element::int8: return of(std::int8_t{});
    case element::int16: return of(std::int16_t{});
    case element::int32: return of(std::int32_t{});
    case element::int64: return of(std::int64_t{});
    case element::uint8: return of(std::uint8_t{});
    case element::uint16: return of(std::uint16_t{});
    case element::uint32: return of(std::uint32_t{});
    case element::uint64: return of(std::uint64_t{});
    default:
        if constexpr (std::is_floating_point_v<A>) {
            return of(A{});
        } else {
            throw std::invalid_argument("warpfold: floating-point numbers are not folded as integers");
        }
    }
}

// The library's operation, but of zeros of both signs either one may be the result, so that it has three instructions instead of five:
// `first` and `second` differ for a NaN, of which one is the result, and for zeros.
struct maximum_of_any_zero : maximum {
    template <class A>
    constexpr A operator()(const A& a, const A& b) const {
        if constexpr (std::is_floating_point_v<A>) {
            using bits = detail::bits_of<A>;
            const A first = b < a ? a : b, second = a < b ? b : a;
            return std::bit_cast<A>(std::bit_cast<bits>(first) | std::bit_cast<bits>(second));
        } else {
            return maximum::operator()(a, b);
        }
    }
};

// The result of no elements of the type.
template <class A>
A neutral(operation op, element type) {
    switch (op) {
    case operation::sum: return A{0};
    case operation::product: return A{1};
    case operation::minimum: return extreme_of<A>(type, true);
    default: return extreme_of<A>(type, false);
    }
}

// work(op) with the library's operation.
template <class Work>
void with_operation(operation op, const Work& work) {
    switch (op) {
    case operation::sum: return work(sum{});
    case operation::product: return work(product{});
    case operation::minimum: return work(minimum{});
    case operation::maximum: return work(maximum{});
    }
}

} // namespace warpfold::python
