// SPDX-License-Identifier: MIT
#include "warpfold/exact_sum.cuh"

#include "python/src/gpu/calls.hpp"

namespace warpfold::python::on_gpu {

void exact_sum(const gpu& on, const array& in, const array& out) {
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        warpfold::exact_sum(on, in.required<const T>(in.type), in.size(), out.required<T>(in.type));
    };
    if (in.type == element::float32) {
        run(float{});
    } else {
        run(double{});
    }
}

void exact_dot(const gpu& on, const array& a, const array& b, const array& out) {
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        warpfold::exact_dot(on, a.required<const T>(a.type), b.required<const T>(a.type), a.size(),
                            out.required<T>(a.type));
    };
    if (a.type == element::float32) {
        run(float{});
    } else {
        run(double{});
    }
}

} // namespace warpfold::python::on_gpu
