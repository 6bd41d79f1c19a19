// SPDX-License-Identifier: MIT
// From a step's templates to its tables of plain functions, in the order of element_type and operation.
#pragma once

#include <cstdint>

#include "ladder/reduce/definition/operations.hpp"
#include "ladder/reduce/definition/reduction.hpp"

namespace warpfold::ladder::reduce {

template <class Step, class T, class Op>
void round_of(const launch_context& context, const void* in, std::uint64_t n, void* out) {
    Step::template round<T, Op>(context, static_cast<const T*>(in), n, static_cast<T*>(out));
}

template <class Step, class T>
constexpr std::array<round_function, operation_count> rounds_of_type() {
    return {round_of<Step, T, sum<T>>, round_of<Step, T, minimum<T>>, round_of<Step, T, maximum<T>>,
            round_of<Step, T, product<T>>, round_of<Step, T, largest_magnitude<T>>};
}

// The table of a struct with a static template round<T, Op>(context, in, n, out).
template <class Step>
constexpr round_table rounds_of() {
    return {rounds_of_type<Step, std::int32_t>(), rounds_of_type<Step, std::int64_t>(), rounds_of_type<Step, float>(),
            rounds_of_type<Step, double>()};
}

template <class Step, class T>
constexpr std::array<workspace_function, operation_count> workspace_of_type() {
    return {Step::template workspace<T, sum<T>>, Step::template workspace<T, minimum<T>>,
            Step::template workspace<T, maximum<T>>, Step::template workspace<T, product<T>>,
            Step::template workspace<T, largest_magnitude<T>>};
}

// The same of a static template workspace<T, Op>(device, n), in bytes.
template <class Step>
constexpr workspace_table workspace_of() {
    return {workspace_of_type<Step, std::int32_t>(), workspace_of_type<Step, std::int64_t>(),
            workspace_of_type<Step, float>(), workspace_of_type<Step, double>()};
}

} // namespace warpfold::ladder::reduce
