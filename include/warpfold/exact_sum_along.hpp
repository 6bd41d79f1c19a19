// SPDX-License-Identifier: MIT
// Exact sums along axes of arrays of up to 8 dimensions: each result is the true sum of its elements, rounded once. Its
// bits are the same on every GPU and on the host, in every layout. This header serves the host; exact_sum_along.cuh adds
// the GPU.
//
//  exact_sum_along(on, in, axes, out)
//
// Arguments and errors are those of along_axis.hpp, special values those of exact_sum.hpp: a sum of no elements is +0.
// Elements are float or double, results of the same type. Cost: O(elements + results); on a GPU one launch, or one per
// result of many elements, and a workspace of exact_sum_workspace() bytes.
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

template <class On, class T, class Out>
requires(
    detail::summable<const T*>&& std::is_same_v<typename detail::axis_output<Out>::type,
                                                std::remove_const_t<T>>) void exact_sum_along(const On& on,
                                                                                              const strided_view<T>& in,
                                                                                              const axes& which,
                                                                                              const Out& out) {
    constexpr const char* call = "exact_sum_along";
    const unsigned mask = which.mask(in.rank, call);
    const auto to = detail::output_of_axes(in, mask, out);
    const detail::axis_plan plan = detail::plan_of_axes(in, mask, to, true, false, call);
    if (plan.kept.size == 0) {
        return;
    }
    detail::check_array(in.first, plan.reduced.size, call);
    detail::check_array(to.first, plan.kept.size, call);
    detail::axis_exact_engine<On>::into(on, static_cast<const T*>(in.first), plan, to.first, call);
}

} // namespace warpfold
