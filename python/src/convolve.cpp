// SPDX-License-Identifier: MIT
#include "warpfold/convolve.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "python/src/calls.hpp"
#include "python/src/elements.hpp"
#include "python/src/segments.hpp"

namespace warpfold::python {

namespace {

template <class T>
void correlate_as(element type, const array& in, const array& mask, int which, const array& out) {
    warpfold::correlate(host{}, in.required<const T>(type), in.size(), mask.required<const T>(type), mask.size(),
                        out.required<T>(type), {border::zero, static_cast<outputs>(which)});
}

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
void channels_as(const array& in, const array& masks, const array& out) {
    T* const to = out.required<T>(in.type);
    if (in.size() == 0) {
        std::fill_n(to, out.size(), T(0));
        return;
    }
    const std::int64_t height = in.shape[2], width = in.shape[3], down = out.shape[2], across = out.shape[3];
    const detail::convolve_task<T, T> task{.in = in.required<const T>(in.type),
                                           .out = to,
                                           .width = width,
                                           .height = height,
                                           .pitch = width,
                                           .distance = width * height,
                                           .out_width = across,
                                           .out_height = down,
                                           .out_pitch = across,
                                           .out_distance = across * down,
                                           .count = in.shape[0],
                                           .lead_x = 0,
                                           .lead_y = 0,
                                           .outside = border::zero};
    detail::convolve_engine<host>::channels<T>(host{}, task, masks.required<const T>(in.type), masks.shape[3],
                                               masks.shape[2], masks.shape[1], masks.shape[0]);
}

template <class T>
void separable_as(element type, const array& in, const array& across, const array& down, const convolve_options& how,
                  const array& out) {
    warpfold::correlate_separable(host{}, images_of<const T>(type, in), across.required<const T>(type), across.size(),
                                  down.required<const T>(type), down.size(), images_of<T>(type, out), how);
}

// Elements of an array as A; integers modulo the size of A.
template <class A>
void read_as(const array& of, std::uint64_t first, std::uint64_t count, A* to) {
    if constexpr (sizeof(A) < sizeof(std::uint64_t)) { // integers of this size
        read_elements<A>(of, first, count, to);
    } else {
        elements<A>(of).read(first, count, to);
    }
}

// Correlations by products in A of images that may have any type and gaps. An array of one axis is an image of one row.
template <class A>
class image_products {
public:
    // `mask` has the elements of a mask, row by row.
    image_products(const array& in, const std::vector<A>& mask, extent2 size, extent2 mask_size, extent2 lead)
        : in_(in), mask_(mask), size_(size), mask_size_(mask_size), lead_(lead) {}

    // Results of row y from x on.
    static constexpr std::int64_t most = 1024;
    void add(std::int64_t y, std::int64_t x, std::int64_t count, A* sums) const {
        for (std::int64_t r = 0; r < mask_size_.first; ++r) {
            const std::int64_t row = y + r - lead_.first;
            for (std::int64_t c = 0; row >= 0 && row < size_.first && c < mask_size_.second; c += most) {
                add_row(row, x + c - lead_.second, &mask_[static_cast<std::size_t>(r * mask_size_.second + c)],
                        std::min(most, mask_size_.second - c), count, sums);
            }
        }
    }

private:
    using product = std::common_type_t<A, unsigned>; // int would overflow

    // sums[i] += in[row][at + i + j] * mask[j]; elements outside are left out.
    void add_row(std::int64_t row, std::int64_t at, const A* mask, std::int64_t width, std::int64_t count,
                 A* sums) const {
        A room[2 * most];
        const std::int64_t begin = std::max<std::int64_t>(at, 0), end = std::min(at + count + width - 1, size_.second);
        if (begin >= end) {
            return;
        }
        read_as(in_, static_cast<std::uint64_t>(row * size_.second + begin), static_cast<std::uint64_t>(end - begin),
                room);
        for (std::int64_t j = 0; j < width; ++j) {
            const std::int64_t first = std::max<std::int64_t>(begin - at - j, 0), last = std::min(end - at - j, count);
            const product by = mask[j];
            for (std::int64_t i = first; i < last; ++i) {
                sums[i] = static_cast<A>(sums[i] + room[at + j - begin + i] * by);
            }
        }
    }

    const array& in_;
    const std::vector<A>& mask_;
    extent2 size_, mask_size_, lead_;
};

// Of arrays of one or two axes.
template <class A>
void sum_products(const array& in, const array& mask, extent2 lead, const array& out) {
    const auto size_of_image = [](const array& of) {
        return extent2{of.shape.size() == 1 ? 1 : of.shape[0], of.shape.back()};
    };
    const auto [rows, columns] = size_of_image(out);
    std::vector<A> values(mask.size());
    read_as(mask, 0, mask.size(), values.data());
    const image_products<A> products(in, values, size_of_image(in), size_of_image(mask), lead);
    constexpr std::int64_t most = image_products<A>::most;
    const std::int64_t across = (columns + most - 1) / most;
    const results<A> to(out);
    for_groups(static_cast<std::uint64_t>(rows * across),
               static_cast<std::uint64_t>(std::min(most, columns)) * mask.size(), [&](std::uint64_t unit) {
                   const std::int64_t y = static_cast<std::int64_t>(unit) / across,
                                      x = static_cast<std::int64_t>(unit) % across * most;
                   const std::int64_t count = std::min(most, columns - x);
                   A sums[most] = {};
                   detail::with_widest_vectors([&] {
                       products.add(y, x, count, sums);
                       return 0;
                   });
                   for (std::int64_t i = 0; i < count; ++i) {
                       to[static_cast<std::uint64_t>(y * columns + x + i)] = sums[i];
                   }
               });
}

// Sums of integers in the type of all arrays wrap as those in 64 bits.
void sum_products_in(element fold, const array& in, const array& mask, extent2 lead, const array& out) {
    const bool is_one_type = in.type == mask.type && in.type == out.type;
    if (fold != element::uint64) {
        sum_products<double>(in, mask, lead, out);
    } else if (is_one_type && size_of(in.type) == 4) {
        sum_products<std::uint32_t>(in, mask, lead, out);
    } else if (is_one_type && size_of(in.type) == 2) {
        sum_products<std::uint16_t>(in, mask, lead, out);
    } else {
        sum_products<std::uint64_t>(in, mask, lead, out);
    }
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

} // namespace

void correlate(const array& in, const array& mask, int which, const array& out) {
    with_float_type(in.type, [&](auto zero) { correlate_as<decltype(zero)>(in.type, in, mask, which, out); });
}

void correlate_products(element fold, const array& in, const array& mask, std::int64_t lead, const array& out) {
    sum_products_in(fold, in, mask, {0, lead}, out);
}

void correlate_images(const array& in, const array& mask, int which, int outside, extent2 lead, const array& out) {
    const convolve_options how{static_cast<border>(outside), static_cast<outputs>(which)};
    with_float_type(in.type,
                    [&](auto zero) { correlate_images_as<decltype(zero)>(in.type, in, mask, how, lead, out); });
}

void correlate_image_products(element fold, const array& in, const array& mask, extent2 lead, const array& out) {
    sum_products_in(fold, in, mask, lead, out);
}

void correlate_channels(const array& in, const array& masks, const array& out) {
    if (out.size() != 0) {
        in.type == element::float32 ? channels_as<float>(in, masks, out) : channels_as<double>(in, masks, out);
    }
}

void correlate_separable(const array& in, const array& across, const array& down, int which, int outside,
                         const array& out) {
    const convolve_options how{static_cast<border>(outside), static_cast<outputs>(which)};
    with_float_type(in.type, [&](auto zero) { separable_as<decltype(zero)>(in.type, in, across, down, how, out); });
}

} // namespace warpfold::python
