// SPDX-License-Identifier: MIT
#include "python/src/fast_folds.hpp"

namespace warpfold::python {

namespace {

struct wrapping_sum {
    template <class T>
    using accumulator = T;
    static constexpr bool commutative = true;

    template <class A>
    static constexpr A identity() {
        return A{0};
    }
    template <class A>
    constexpr A operator()(A a, A b) const {
        return static_cast<A>(a + b);
    }
};

} // namespace

bool sum_fast(const array& in, const array& out) { return fold_fast(in, out, sum{}, wrapping_sum{}); }

} // namespace warpfold::python
