// SPDX-License-Identifier: MIT
#include "warpfold/exact_sum.hpp"

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"

namespace warpfold::python {

namespace {

template <class T>
void sum_as(element type, const array& in, const array& out) {
    const T* const from = in.contiguous<const T>(type);
    const results<T> to(out);
    to[0] = from != nullptr ? warpfold::exact_sum(host{}, from, in.size())
                            : warpfold::exact_sum(host{}, elements<T>(in), in.size());
}

template <class T>
void dot_as(element type, const array& a, const array& b, const array& out) {
    const T* const from_a = a.contiguous<const T>(type);
    const T* const from_b = b.contiguous<const T>(type);
    const results<T> to(out);
    to[0] = from_a != nullptr && from_b != nullptr
                ? warpfold::exact_dot(host{}, from_a, from_b, a.size())
                : warpfold::exact_dot(host{}, elements<T>(a), elements<T>(b), a.size());
}

} // namespace

void exact_sum(const array& in, const array& out) {
    if (in.type == element::float32) {
        sum_as<float>(in.type, in, out);
    } else {
        sum_as<double>(element::float64, in, out);
    }
}

void exact_dot(const array& a, const array& b, const array& out) {
    if (a.type == element::float32) {
        dot_as<float>(a.type, a, b, out);
    } else {
        dot_as<double>(element::float64, a, b, out);
    }
}

} // namespace warpfold::python
