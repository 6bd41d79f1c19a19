// SPDX-License-Identifier: MIT
// Operations of <functional> folded by hand, for the tests of the host and of the GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "tests/library/cases.hpp"
#include "warpfold/operation.hpp"

namespace warpfold::tests {

template <class Op, class A>
inline constexpr bool in_any_order_v = detail::is_commutative_v<detail::resolved_operation_t<Op, A>>;
template <class Op, class A>
inline constexpr bool needs_no_initial_v = detail::has_identity<detail::resolved_operation_t<Op, A>, A>;

// Numbers whose folds by `Op` are the same in every order, also of floating-point numbers: of products mostly 1.
template <class T, class Op>
std::vector<T> numbers_for(std::uint64_t n) {
    std::vector<T> data = small_numbers<T>(n, static_cast<unsigned>(n));
    if constexpr (std::is_same_v<Op, std::multiplies<>>) {
        for (std::uint64_t k = 0; k < n; ++k) {
            data[k] = static_cast<T>(k % 4099 == 3 ? 2 : 1);
        }
    }
    return data;
}

// op(initial, the elements [begin, end)), each value in T as the library has it.
template <class T, class Op>
T folded(const std::vector<T>& data, std::uint64_t begin, std::uint64_t end, const Op& op, T initial) {
    for (std::uint64_t k = begin; k < end; ++k) {
        initial = static_cast<T>(op(initial, data[k]));
    }
    return initial;
}

// Calls each(op) with every operation that T has.
template <class T, class Each>
void each_standard_operation(const Each& each) {
    each(std::plus<>{});
    each(std::multiplies<>{});
    each(std::logical_and<>{});
    each(std::logical_or<>{});
    if constexpr (std::is_integral_v<T>) {
        each(std::bit_and<>{});
        each(std::bit_or<>{});
        each(std::bit_xor<>{});
    }
}

} // namespace warpfold::tests
