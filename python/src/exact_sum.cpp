// SPDX-License-Identifier: MIT
#include "warpfold/exact_sum.hpp"

#include <cstdint>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "python/src/last_axes.hpp"
#include "warpfold/exact_sum_along.hpp"

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
void sums_as(element type, const array& in, const array& out) {
    const auto from = in.view<const T>(type);
    const auto to = out.view<T>(type);
    if (from && to) {
        exact_sum_along(host{}, *from, last_axes(in, out), *to);
        return;
    }
    const elements<T> all(in);
    const results<T> sums(out);
    std::vector<T> line(in.size() / out.size());
    for (std::uint64_t k = 0; k < out.size(); ++k) {
        for (std::uint64_t j = 0; j < line.size(); ++j) {
            line[j] = all[k * line.size() + j];
        }
        sums[k] = warpfold::exact_sum(host{}, line.data(), line.size());
    }
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
    if (out.size() == 0) {
        return;
    }
    const auto of = [&](auto zero) {
        using T = decltype(zero);
        out.size() == 1 ? sum_as<T>(in.type, in, out) : sums_as<T>(in.type, in, out);
    };
    in.type == element::float32 ? of(float{}) : of(double{});
}

void exact_dot(const array& a, const array& b, const array& out) {
    if (a.type == element::float32) {
        dot_as<float>(a.type, a, b, out);
    } else {
        dot_as<double>(element::float64, a, b, out);
    }
}

} // namespace warpfold::python
