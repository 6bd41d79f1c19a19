// SPDX-License-Identifier: MIT
#include "warpfold/convolve.cuh"

#include "python/src/gpu/calls.hpp"

namespace warpfold::python::on_gpu {

void correlate(const gpu& on, const array& in, const array& mask, int which, const array& out) {
    const convolve_options how{border::zero, static_cast<outputs>(which)};
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        warpfold::correlate(on, in.required<const T>(in.type), in.size(), mask.required<const T>(in.type), mask.size(),
                            out.required<T>(in.type), how);
    };
    if (in.type == element::float32) {
        run(float{});
    } else if (in.type == element::float64) {
        run(double{});
    } else {
        throw invalid_argument("warpfold: correlate: on a GPU elements are float32 or float64");
    }
}

} // namespace warpfold::python::on_gpu
