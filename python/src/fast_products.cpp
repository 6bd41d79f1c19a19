// SPDX-License-Identifier: MIT
#include <cstdint>

#include "python/src/fast_folds.hpp"

namespace warpfold::python {

namespace {

struct wrapping_product {
    template <class T>
    using accumulator = T;
    static constexpr bool commutative = true;

    template <class A>
    static constexpr A identity() {
        return A{1};
    }
    template <class A>
    constexpr A operator()(A a, A b) const { // not in int, which overflows
        return static_cast<A>(std::uint64_t{a} * b);
    }
};

} // namespace

bool product_fast(const array& in, const array& out) { return fold_fast(in, out, product{}, wrapping_product{}); }

} // namespace warpfold::python
