// SPDX-License-Identifier: MIT
// Correlations. float16 is filtered in float32.
#include "warpfold/convolve.cuh"

#include <vector>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"

namespace warpfold::python::on_gpu {

namespace {

// work(A{}, M{}) with the type of the sums and that of the masks.
template <class Work>
void with_sum_type(element type, const Work& work) {
    switch (type) {
    case element::float16: return work(float{}, half{});
    case element::float32: return work(float{}, float{});
    case element::float64: return work(double{}, double{});
    default: throw invalid_argument("warpfold: correlate: elements are floating-point numbers");
    }
}

// The rows and columns of the last two axes.
template <class T>
image<T> images_of(T* data, const array& of) {
    const bool is_line = of.shape.size() == 1;
    const auto rows = is_line ? 1 : static_cast<std::uint64_t>(of.shape.end()[-2]),
               columns = static_cast<std::uint64_t>(of.shape.back());
    return {data, columns, rows, 0, rows * columns == 0 ? 0 : of.size() / (rows * columns)};
}

template <class A, class M>
void correlate_as(const gpu& on, const array& in, const array& mask, const convolve_options& how, extent2 lead,
                  const array& out) {
    const image<const M> by = images_of(mask.required<const M>(in.type), mask);
    const std::vector<A> values = detail::mask_values<A>(by, false, "correlate");
    const contiguous_input<A> from(on, in);
    const contiguous_output<A> to(on, out);
    auto task =
        detail::task_of(images_of(from.data(), in), images_of(to.data(), out), by.width, by.height, how, "correlate");
    task.lead_y = lead.first;
    task.lead_x = lead.second;
    if (detail::has_results(task)) {
        detail::convolve_engine<gpu>::direct<A>(on, task, values.data(), static_cast<std::int64_t>(by.width),
                                                static_cast<std::int64_t>(by.height), "correlate");
        to.finish();
    }
}

} // namespace

void correlate_images(const gpu& on, const array& in, const array& mask, int which, int outside, extent2 lead,
                      const array& out) {
    const convolve_options how{static_cast<border>(outside), static_cast<outputs>(which)};
    with_sum_type(in.type, [&](auto sum, auto value) {
        correlate_as<decltype(sum), decltype(value)>(on, in, mask, how, lead, out);
    });
}

void correlate(const gpu& on, const array& in, const array& mask, int which, const array& out) {
    correlate_images(on, in, mask, which, 0, {0, detail::lead_of(mask.size(), static_cast<outputs>(which))}, out);
}

void correlate_separable(const gpu& on, const array& in, const array& across, const array& down, int which, int outside,
                         const array& out) {
    const convolve_options how{static_cast<border>(outside), static_cast<outputs>(which)};
    with_sum_type(in.type, [&](auto sum, auto value) {
        using A = decltype(sum);
        using M = decltype(value);
        const contiguous_input<A> from(on, in);
        const contiguous_output<A> to(on, out);
        warpfold::correlate_separable(on, images_of(from.data(), in), across.required<const M>(in.type), across.size(),
                                      down.required<const M>(in.type), down.size(), images_of(to.data(), out), how);
        to.finish();
    });
}

} // namespace warpfold::python::on_gpu
