// SPDX-License-Identifier: MIT
// From a value of operation to the functor that it names.
#pragma once

#include "ladder/engine/definition/parameters.hpp"
#include "ladder/reduce/definition/operations.hpp"

namespace warpfold::ladder::reduce {

// Calls f.template operator()<Op>() with the functor over T.
template <class T, class F>
decltype(auto) with_operation(operation op, F&& f) {
    switch (op) {
    case operation::minimum: return f.template operator()<minimum<T>>();
    case operation::maximum: return f.template operator()<maximum<T>>();
    case operation::product: return f.template operator()<product<T>>();
    case operation::largest_magnitude: return f.template operator()<largest_magnitude<T>>();
    default: return f.template operator()<sum<T>>();
    }
}

} // namespace warpfold::ladder::reduce
