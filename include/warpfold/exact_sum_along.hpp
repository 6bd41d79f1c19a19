// SPDX-License-Identifier: MIT
// Exact sums along axes of arrays of up to 8 dimensions: each result is the true sum of its elements, rounded once. Its
// bits are the same on every GPU and on the host, in every layout. This header serves the host; exact_sum_along.cuh adds
// the GPU.
//
//  exact_sum_along(on, in, axes, out)
//
// Arguments and errors are those of along_axis.hpp, special values those of exact_sum.hpp: a sum of no elements is +0.
// Elements are float, double, half, bfloat16 or complex, results of the same type. Cost: O(elements + results); on a GPU one launch, or one
// per result of many elements, and a workspace of exact_sum_workspace() bytes.
#pragma once

#include <type_traits>

#include "warpfold/along_axis.hpp"
#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/host/along_axis/exact_sum.hpp"
#include "warpfold/strided_view.hpp"

namespace warpfold {

namespace detail {

// The parts of complex numbers, along one more axis, the last.
template <class C>
auto view_of_parts(const strided_view<C>& of, const char* call) {
    using T = std::conditional_t<std::is_const_v<C>, const complex_part_t<C>, complex_part_t<C>>;
    if (of.rank == strided_view<C>::max_rank) {
        throw invalid_argument(std::string("warpfold: ") + call +
                               ": an array of complex numbers has 8 dimensions, more than 7");
    }
    strided_view<T> parts;
    parts.first = reinterpret_cast<T*>(of.first);
    parts.rank = of.rank + 1;
    parts.extents = of.extents;
    for (unsigned d = 0; d < of.rank; ++d) {
        parts.strides[d] = 2 * of.strides[d];
    }
    parts.extents[of.rank] = 2;
    parts.strides[of.rank] = 1;
    return parts;
}

template <class On, class T, class R>
void sum_axes_exactly(const On& on, const strided_view<T>& in, unsigned mask, const strided_view<R>& to,
                      const char* call) {
    const axis_plan plan = plan_of_axes(in, mask, to, true, false, call);
    if (plan.kept.size == 0) {
        return;
    }
    detail::check_array(in.first, plan.reduced.size, call);
    detail::check_array(to.first, plan.kept.size, call);
    axis_exact_engine<On>::into(on, static_cast<const T*>(in.first), plan, to.first, call);
}

} // namespace detail

template <class On, class T, class Out>
requires(detail::real_summable<const T*>&&
             std::is_same_v<typename detail::axis_output<Out>::type,
                            std::remove_const_t<T>>) void exact_sum_along(const On& on, const strided_view<T>& in,
                                                                          const axes& which, Out out) {
    constexpr const char* call = "exact_sum_along";
    const unsigned mask = which.mask(in.rank, call);
    const auto to = detail::output_of_axes(in, mask, out);
    detail::sum_axes_exactly(on, in, mask, to, call);
}
// The sums of the parts of complex numbers, of an array of up to 7 dimensions.
template <class On, class C, class Out>
requires(
    detail::complex_number<C>&& std::is_same_v<typename detail::axis_output<Out>::type,
                                               std::remove_const_t<C>>) void exact_sum_along(const On& on,
                                                                                             const strided_view<C>& in,
                                                                                             const axes& which,
                                                                                             Out out) {
    constexpr const char* call = "exact_sum_along";
    const unsigned mask = which.mask(in.rank, call);
    const auto to = detail::output_of_axes(in, mask, out);
    detail::check_array(to.first, 0, call);
    detail::check_array(in.first, 0, call);
    detail::sum_axes_exactly(on, detail::view_of_parts(in, call), mask, detail::view_of_parts(to, call), call);
}

} // namespace warpfold
