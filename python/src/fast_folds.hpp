// SPDX-License-Identifier: MIT
// Reductions of elements that are read without conversions of single ones. Each returns false, and computes nothing, for other arrays
// and types of results. bool has the bytes 0 and 1.
#pragma once

#include <cstdint>
#include <type_traits>

#include "python/src/array.hpp"
#include "python/src/elements.hpp"
#include "python/src/last_axes.hpp"
#include "warpfold/along_axis.hpp"

namespace warpfold::python {

bool sum_fast(const array& in, const array& out);
bool product_fast(const array& in, const array& out);
bool extreme_fast(bool smallest, const array& in, const array& out);

template <class To>
struct converted_to {
    template <class T>
    To operator()(T x) const {
        return static_cast<To>(x);
    }
};

// Folds elements, read as T and converted to R, along axes, if both arrays are views of these types.
template <class T, class R, class Op>
bool fold_as(const array& in, const array& out, const Op& op) {
    const auto from = in.view<const T>(in.type);
    const auto to = out.view<R>(out.type);
    if (from && to) {
        if constexpr (std::is_same_v<T, R>) {
            reduce_along(host{}, *from, last_axes(in, out), *to, op);
        } else {
            transform_reduce_along(host{}, *from, last_axes(in, out), *to, converted_to<R>{}, op);
        }
    }
    return from && to;
}

// Whether elements and results are integers of one size, to which sums and products are added modulo that size: the bits of both signs
// are the same.
inline bool wraps_in_place(element in, element out) {
    return in != element::boolean && out != element::boolean && in <= element::uint64 && out <= element::uint64 &&
           size_of(in) == size_of(out);
}

// Sums or products of integers in the types of the elements: in 64 bits by `op`, else by `narrow`, whose results wrap.
template <class Op, class Narrow>
bool wrap_in_place(const array& in, const array& out, const Op& op, const Narrow& narrow) {
    return wraps_in_place(in.type, out.type) && with_bits(in.type, [&](auto zero) {
               using T = decltype(zero);
               if constexpr (sizeof(T) == 8) {
                   return fold_as<T, T>(in, out, op);
               } else {
                   return fold_as<T, T>(in, out, narrow);
               }
           });
}

// Sums or products: of narrow integers as wrap_in_place(), else in the type of the results.
template <class Op, class Narrow>
bool fold_fast(const array& in, const array& out, const Op& op, const Narrow& narrow) {
    return wrap_in_place(in, out, op, narrow) || with_plain_type(in.type, [&](auto zero) {
               using T = decltype(zero);
               if (out.type == element::float64) {
                   return fold_as<T, double>(in, out, op);
               }
               if constexpr (std::is_same_v<T, float>) {
                   return out.type == in.type && fold_as<T, T>(in, out, op);
               } else if constexpr (std::is_integral_v<T> && sizeof(T) < 8) { // 64 bits of either sign
                   return size_of(out.type) == 8 && fold_as<T, std::uint64_t>(in, out, op);
               } else {
                   return false;
               }
           });
}

} // namespace warpfold::python
