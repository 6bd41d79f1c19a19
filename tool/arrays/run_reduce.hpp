// SPDX-License-Identifier: MIT
// Reductions by an operation that is chosen when the program runs. `Memory` is where a target's arrays are: see host.cpp and
// gpu_memory.cuh.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "tool/arrays/calls.hpp"
#include "tool/arrays/value_text.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/operation.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::calls {

// The smaller one; NaN is ignored.
struct smallest_number {
    static constexpr bool commutative = true;
    template <class A>
    WARPFOLD_HD static constexpr A identity() {
        return minimum::identity<A>();
    }
    template <class T>
    WARPFOLD_HD constexpr T operator()(const T& a, const T& b) const {
        return (b < a) | (a != a) ? b : a;
    }
};
// The larger one; NaN is ignored.
struct largest_number {
    static constexpr bool commutative = true;
    template <class A>
    WARPFOLD_HD static constexpr A identity() {
        return maximum::identity<A>();
    }
    template <class T>
    WARPFOLD_HD constexpr T operator()(const T& a, const T& b) const {
        return (b > a) | (a != a) ? b : a;
    }
};

// The element of largest magnitude with its sign, the positive one of two that tie; NaN is ignored. The magnitude of the most
// negative integer is exact, since it is taken unsigned.
struct largest_magnitude {
    static constexpr bool commutative = true;
    template <class A>
    WARPFOLD_HD static constexpr A identity() {
        return A{0};
    }
    template <class T>
    WARPFOLD_HD static constexpr auto magnitude(T a) {
        if constexpr (std::is_integral_v<T>) {
            using bits = std::make_unsigned_t<T>;
            return a < 0 ? static_cast<bits>(bits{0} - static_cast<bits>(a)) : static_cast<bits>(a);
        } else {
            return a < T{0} ? -a : a;
        }
    }
    template <class T>
    WARPFOLD_HD constexpr T operator()(const T& a, const T& b) const {
        const auto size_a = magnitude(a);
        const auto size_b = magnitude(b);
        return (size_b > size_a) | ((size_b == size_a) & (b > a)) | (a != a) ? b : a;
    }
};

// Sums and products of integers are taken in 64 bits, and wrap modulo 2^32 for int32.
template <class T, class Memory>
T reduce_elements(Memory& memory, const reduce_request& q) {
    const auto* const in = static_cast<const T*>(memory.in(q.in, q.n * sizeof(T)));
    const auto by = [&](const auto& op) { return static_cast<T>(reduce(memory.on(), in, q.n, op)); };
    switch (q.op) {
    case operation::product: return by(product{});
    case operation::minimum: return by(smallest_number{});
    case operation::maximum: return by(largest_number{});
    case operation::largest_magnitude: return by(largest_magnitude{});
    default: return by(warpfold::sum{});
    }
}

template <class Memory>
std::string run_reduce(Memory& memory, const reduce_request& q) {
    switch (q.type) {
    case array_type::int32: return value_text(reduce_elements<std::int32_t>(memory, q));
    case array_type::int64: return value_text(reduce_elements<std::int64_t>(memory, q));
    case array_type::float32: return value_text(reduce_elements<float>(memory, q));
    case array_type::float64: return value_text(reduce_elements<double>(memory, q));
    default: throw std::logic_error("an element type that reduce does not take");
    }
}

} // namespace warpfold::calls
