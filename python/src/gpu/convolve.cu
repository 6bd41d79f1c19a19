// SPDX-License-Identifier: MIT
// Correlations. float16 is filtered in float32.
#include "warpfold/convolve.cuh"

#include <cstdint>
#include <optional>
#include <vector>

#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"

namespace warpfold::python::on_gpu {

namespace {

// work(A{}) with the type of the sums.
template <class Work>
void with_sum_type(element type, const Work& work) {
    switch (type) {
    case element::float16:
    case element::float32: return work(float{});
    case element::float64: return work(double{});
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

// A mask of the host, in the type of the sums.
template <class A>
class host_mask {
public:
    host_mask(const gpu& /*unused*/, const array& of) : values_(of.size()) {
        for (std::uint64_t k = 0; k < of.size(); ++k) {
            values_[k] = load_as<A>(of.type, of.data + of.at.offset(k));
        }
    }
    [[nodiscard]] const A* for_engine() const { return values_.data(); }

private:
    std::vector<A> values_;
};

// One in device memory.
template <class A>
class device_mask {
public:
    device_mask(const gpu& on, const array& of) {
        const auto& axes = of.at.axes();
        if (of.type == element_of<A>() && axes.size() == 1) {
            mask_ = {reinterpret_cast<const A*>(of.data), axes[0].stride / static_cast<std::int64_t>(sizeof(A))};
        } else {
            copy_.emplace(on, of);
            mask_ = {copy_->data()};
        }
    }
    [[nodiscard]] detail::mask_in_memory<A, A> for_engine() const { return mask_; }

private:
    std::optional<contiguous_input<A>> copy_;
    detail::mask_in_memory<A, A> mask_{};
};

// work(mask...) with masks in the same memory.
template <class A, class Work, class... Masks>
void with_masks(const gpu& on, const Work& work, const filter_mask& first, const Masks&... others) {
    if (first.is_on_device) {
        work(device_mask<A>(on, first.of), device_mask<A>(on, others.of)...);
    } else {
        work(host_mask<A>(on, first.of), host_mask<A>(on, others.of)...);
    }
}

// work(A{}, task) if there are results, in arrays without gaps of the type of the sums. `mask`: its height and width; `lead`: if it
// is not that of the options.
template <class Work>
void with_task(const gpu& on, const array& in, extent2 mask, const convolve_options& how, std::optional<extent2> lead,
               const array& out, const Work& work) {
    with_sum_type(in.type, [&](auto sum) {
        using A = decltype(sum);
        const contiguous_input<A> from(on, in);
        const contiguous_output<A> to(on, out);
        auto task = detail::task_of(images_of(from.data(), in), images_of(to.data(), out),
                                    static_cast<std::uint64_t>(mask.second), static_cast<std::uint64_t>(mask.first),
                                    how, "correlate");
        if (lead) {
            task.lead_y = lead->first;
            task.lead_x = lead->second;
        }
        if (detail::has_results(task)) {
            work(sum, task);
            to.finish();
        }
    });
}

convolve_options options_of(int which, int outside) {
    return {static_cast<border>(outside), static_cast<outputs>(which)};
}

} // namespace

void correlate_images(const gpu& on, const array& in, const filter_mask& mask, int which, int outside, extent2 lead,
                      const array& out) {
    const auto& shape = mask.of.shape;
    const std::int64_t height = shape.size() == 1 ? 1 : shape.end()[-2], width = shape.back();
    with_task(on, in, {height, width}, options_of(which, outside), lead, out, [&](auto sum, const auto& task) {
        using A = decltype(sum);
        const auto work = [&](const auto& by) {
            detail::convolve_engine<gpu>::direct<A>(on, task, by.for_engine(), width, height, "correlate");
        };
        with_masks<A>(on, work, mask);
    });
}

void correlate(const gpu& on, const array& in, const filter_mask& mask, int which, const array& out) {
    correlate_images(on, in, mask, which, 0, {0, detail::lead_of(mask.of.size(), static_cast<outputs>(which))}, out);
}

void correlate_separable(const gpu& on, const array& in, const filter_mask& across, const filter_mask& down, int which,
                         int outside, const array& out) {
    const auto width = static_cast<std::int64_t>(across.of.size()), height = static_cast<std::int64_t>(down.of.size());
    with_task(on, in, {height, width}, options_of(which, outside), {}, out, [&](auto sum, const auto& task) {
        using A = decltype(sum);
        const auto work = [&](const auto& by_rows, const auto& by_columns) {
            detail::convolve_engine<gpu>::separable<A>(on, task, by_rows.for_engine(), width, by_columns.for_engine(),
                                                       height, "correlate_separable");
        };
        with_masks<A>(on, work, across, down);
    });
}

} // namespace warpfold::python::on_gpu
