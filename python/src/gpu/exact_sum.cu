// SPDX-License-Identifier: MIT
#include "warpfold/exact_sum.cuh"

#include <optional>

#include "python/src/exact_moment.hpp"
#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"
#include "python/src/gpu/stream_workspace.hpp"
#include "python/src/last_axes.hpp"
#include "warpfold/exact_moments.cuh"
#include "warpfold/exact_sum_along.cuh"

namespace warpfold::python::on_gpu {

void exact_sum(const gpu& on, const array& in, const array& out) {
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        if (out.size() == 1) {
            const contiguous_input<T> values(on, in);
            const workspace_of_stream memory(on, exact_sum_workspace());
            warpfold::exact_sum(memory.target(), values.data(), in.size(), out.required<T>(in.type));
            return;
        }
        const auto from = in.view<const T>(in.type);
        const auto to = out.view<T>(in.type);
        if (from && to) {
            const workspace_of_stream memory(on, exact_sum_workspace());
            exact_sum_along(memory.target(), *from, last_axes(in, out), *to);
            return;
        }
        const contiguous_input<T> values(on, in);
        const contiguous_output<T> sums(on, out);
        const workspace_of_stream memory(on, exact_sum_workspace());
        const strided_view<const T> lines(values.data(), {out.size(), in.size() / out.size()});
        exact_sum_along(memory.target(), lines, {1}, sums.data());
        sums.finish();
    };
    if (out.size() == 0) {
        return;
    }
    in.type == element::float32 ? run(float{}) : run(double{});
}

void exact_dot(const gpu& on, const array& a, const array& b, const array& out) {
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        const contiguous_input<T> left(on, a), right(on, b);
        const contiguous_output<T> sums(on, out);
        const workspace_of_stream memory(on, exact_sum_workspace());
        const auto n = static_cast<std::uint64_t>(a.shape.back());
        for (std::uint64_t k = 0; k < out.size(); ++k) {
            warpfold::exact_dot(memory.target(), left.data() + k * n, right.data() + k * n, n, sums.data() + k);
        }
        sums.finish();
    };
    a.type == element::float32 ? run(float{}) : run(double{});
}

void exact_moment(const gpu& on, moment which, const array& in, const array* imag, std::uint64_t less,
                  const array& out) {
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        const contiguous_input<T> numbers(on, in);
        std::optional<contiguous_input<T>> second;
        if (imag != nullptr) {
            second.emplace(on, *imag);
        }
        const contiguous_output<T> moments(on, out);
        const workspace_of_stream memory(on, exact_moments_workspace());
        const std::uint64_t n = in.size() / out.size();
        for (std::uint64_t k = 0; k < out.size(); ++k) {
            if (second) {
                const two_parts<const T*> line{numbers.data() + k * n, second->data() + k * n};
                moment_of<T>(which, memory.target(), line, n, less, moments.data() + k);
            } else {
                moment_of<T>(which, memory.target(), numbers.data() + k * n, n, less, moments.data() + k);
            }
        }
        moments.finish();
    };
    if (out.size() == 0) {
        return;
    }
    in.type == element::float32 ? run(float{}) : run(double{});
}

} // namespace warpfold::python::on_gpu
