// SPDX-License-Identifier: MIT
#include "warpfold/convolve.hpp"

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold::python {

namespace {

template <class T>
void correlate_as(element type, const array& in, const array& mask, int which, const array& out) {
    warpfold::correlate(host{}, in.required<const T>(type), in.size(), mask.required<const T>(type), mask.size(),
                        out.required<T>(type), {border::zero, static_cast<outputs>(which)});
}

// Segment i holds the products of result i.
template <class A>
struct products {
    A operator[](std::uint64_t k) const {
        const std::uint64_t i = k / width, j = k - i * width;
        const std::int64_t at = static_cast<std::int64_t>(i + j) - lead;
        return at >= 0 && static_cast<std::uint64_t>(at) < size ? from[static_cast<std::uint64_t>(at)] * mask[j] : A{0};
    }

    elements<A> from, mask;
    std::uint64_t size, width;
    std::int64_t lead;
};

// Images by their last two axes.
template <class T>
image<T> images_of(element type, const array& of) {
    const auto rows = static_cast<std::uint64_t>(of.shape.end()[-2]),
               columns = static_cast<std::uint64_t>(of.shape.back());
    return {of.required<T>(type), columns, rows, 0, rows * columns == 0 ? 0 : of.size() / (rows * columns)};
}

template <class T>
void correlate_images_as(element type, const array& in, const array& mask, const convolve_options& how, extent2 lead,
                         const array& out) {
    using A = detail::convolve_sum_t<T, T>;
    const image<const T> by = images_of<const T>(type, mask);
    const std::vector<A> values = detail::mask_values<A>(by, false, "correlate");
    auto task =
        detail::task_of(images_of<const T>(type, in), images_of<T>(type, out), by.width, by.height, how, "correlate");
    task.lead_y = lead.first;
    task.lead_x = lead.second;
    if (detail::has_results(task)) {
        detail::convolve_engine<host>::direct<A>(host{}, task, values.data(), static_cast<std::int64_t>(by.width),
                                                 static_cast<std::int64_t>(by.height), "correlate");
    }
}

template <class T>
void separable_as(element type, const array& in, const array& across, const array& down, const convolve_options& how,
                  const array& out) {
    warpfold::correlate_separable(host{}, images_of<const T>(type, in), across.required<const T>(type), across.size(),
                                  down.required<const T>(type), down.size(), images_of<T>(type, out), how);
}

// Segment i holds the products of result i.
template <class A>
struct image_products {
    A operator[](std::uint64_t k) const {
        const std::uint64_t i = k / (width * height), j = k % (width * height);
        const std::int64_t y = static_cast<std::int64_t>(i / out_width + j / width) - lead.first;
        const std::int64_t x = static_cast<std::int64_t>(i % out_width + j % width) - lead.second;
        return y >= 0 && y < rows && x >= 0 && x < columns ? from[static_cast<std::uint64_t>(y * columns + x)] * mask[j]
                                                           : A{0};
    }

    elements<A> from, mask;
    std::int64_t rows, columns;
    std::uint64_t height, width, out_width;
    extent2 lead;
};

template <class A>
void sum_image_products(const array& in, const array& mask, extent2 lead, const array& out) {
    const auto extent = [](std::int64_t x) { return static_cast<std::uint64_t>(x); };
    segmented_reduce(host{},
                     image_products<A>{elements<A>(in), elements<A>(mask), in.shape[0], in.shape[1],
                                       extent(mask.shape[0]), extent(mask.shape[1]), extent(out.shape[1]), lead},
                     equal_segments{mask.size()}, out.size(), results<A>(out));
}

// work(T{}) with float16, float32 or float64.
template <class Work>
void with_float_type(element type, const Work& work) {
    switch (type) {
    case element::float16: return work(half{});
    case element::float32: return work(float{});
    default: return work(double{});
    }
}

template <class A>
void sum_products(const array& in, const array& mask, std::int64_t lead, const array& out) {
    segmented_reduce(host{}, products<A>{elements<A>(in), elements<A>(mask), in.size(), mask.size(), lead},
                     equal_segments{mask.size()}, out.size(), results<A>(out));
}

} // namespace

void correlate(const array& in, const array& mask, int which, const array& out) {
    with_float_type(in.type, [&](auto zero) { correlate_as<decltype(zero)>(in.type, in, mask, which, out); });
}

void correlate_products(element fold, const array& in, const array& mask, std::int64_t lead, const array& out) {
    if (fold == element::uint64) {
        sum_products<std::uint64_t>(in, mask, lead, out);
    } else {
        sum_products<double>(in, mask, lead, out);
    }
}

void correlate_images(const array& in, const array& mask, int which, int outside, extent2 lead, const array& out) {
    const convolve_options how{static_cast<border>(outside), static_cast<outputs>(which)};
    with_float_type(in.type,
                    [&](auto zero) { correlate_images_as<decltype(zero)>(in.type, in, mask, how, lead, out); });
}

void correlate_image_products(element fold, const array& in, const array& mask, extent2 lead, const array& out) {
    if (fold == element::uint64) {
        sum_image_products<std::uint64_t>(in, mask, lead, out);
    } else {
        sum_image_products<double>(in, mask, lead, out);
    }
}

void correlate_separable(const array& in, const array& across, const array& down, int which, int outside,
                         const array& out) {
    const convolve_options how{static_cast<border>(outside), static_cast<outputs>(which)};
    with_float_type(in.type, [&](auto zero) { separable_as<decltype(zero)>(in.type, in, across, down, how, out); });
}

} // namespace warpfold::python
