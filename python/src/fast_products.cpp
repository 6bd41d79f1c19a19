// SPDX-License-Identifier: MIT
#include <cstdint>
#include <type_traits>

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

bool product_fast(const array& in, const array& out) {
    if (wrap_in_place(in, out, product{}, wrapping_product{})) {
        return true;
    }
    return with_plain_type(in.type, [&](auto zero) {
        using T = decltype(zero);
        if (out.type == element::float64) {
            return fold_as<T, double>(in, out, product{});
        }
        if constexpr (std::is_same_v<T, float>) {
            return out.type == in.type && fold_as<T, T>(in, out, product{});
        } else if constexpr (std::is_integral_v<T> && sizeof(T) < 8) { // 64 bits of either sign
            return size_of(out.type) == 8 && fold_as<T, std::uint64_t>(in, out, product{});
        } else {
            return false;
        }
    });
}

} // namespace warpfold::python
