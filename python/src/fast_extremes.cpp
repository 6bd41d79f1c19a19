// SPDX-License-Identifier: MIT
#include "python/src/fast_folds.hpp"
#include "python/src/operations.hpp"

namespace warpfold::python {

namespace {

template <class Op>
bool fold(const array& in, const array& out, const Op& op) {
    return in.type == out.type && with_plain_type(in.type, [&](auto zero) {
               using T = decltype(zero);
               return fold_as<T, T>(in, out, op);
           });
}

} // namespace

bool extreme_fast(bool smallest, const array& in, const array& out) {
    return smallest ? fold(in, out, minimum{}) : fold(in, out, maximum_of_any_zero{});
}

} // namespace warpfold::python
