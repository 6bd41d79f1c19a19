// SPDX-License-Identifier: MIT
// What scans along an axis are made of, for every target.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/scan_options.hpp"
#include "warpfold/error.hpp"
#include "warpfold/operation.hpp"
#include "warpfold/strided_view.hpp"

namespace warpfold::detail {

// The value of an element, before those that follow it: T as A.
template <class A>
struct converting_map {
    template <class T>
    WARPFOLD_HD constexpr A operator()(const T& x) const {
        return static_cast<A>(x);
    }
};

struct present_result {
    template <class A>
    WARPFOLD_HD constexpr A operator()(const optional_value<A>& one) const {
        return one.value;
    }
};

// Calls go(op, map, first, result) with an operation that has an identity: `op` itself or, if it has none, the same on
// optional values. `first` precedes every row.
template <class A, class Op, class Initial, class Go>
void with_scan_identity(const Op& op, const Initial& initial, const Go& go) {
    constexpr bool given = !std::is_same_v<Initial, no_initial>;
    if constexpr (has_identity<Op, A>) {
        if constexpr (given) {
            go(op, converting_map<A>{}, static_cast<A>(initial), identity_result{});
        } else {
            go(op, converting_map<A>{}, static_cast<A>(Op::template identity<A>()), identity_result{});
        }
    } else {
        using some = optional_value<A>;
        const optional_operation<Op> on_some{op};
        if constexpr (given) {
            go(on_some, present_map<identity_map, A>{}, some{initial, true}, present_result{});
        } else {
            go(on_some, present_map<identity_map, A>{}, some{}, present_result{});
        }
    }
}

// The plan of a scan along one axis: the other axes are kept; the role of the scanned one is its place in the output.
// Throws invalid_argument if the extents differ.
template <class T, class R>
axis_plan plan_of_scan(const strided_view<T>& in, unsigned mask, const strided_view<R>& out, const char* call) {
    strided_view<R> others;
    others.first = out.first;
    std::int64_t along = 0;
    bool same = out.rank == in.rank;
    for (unsigned d = 0; same && d < in.rank; ++d) {
        same = in.extents[d] == out.extents[d];
        if ((mask >> d & 1u) != 0) {
            along = out.strides[d];
        } else {
            others.extents[others.rank] = out.extents[d];
            others.strides[others.rank++] = out.strides[d];
        }
    }
    if (!same) {
        throw invalid_argument(std::string("warpfold: ") + call + ": the output's extents are not those of the input");
    }
    axis_plan plan = plan_of_axes(in, mask, others, false, false, call);
    plan.reduced.at[0].role = along;
    return plan;
}

} // namespace warpfold::detail
