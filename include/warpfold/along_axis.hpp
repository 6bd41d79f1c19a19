// SPDX-License-Identifier: MIT
// Reductions and scans along axes of arrays of up to 8 dimensions in any layout. This header serves the host;
// along_axis.cuh adds the GPU, with the same calls.
//
//  reduce_along(on, in, axes, out, op, initial)                  one result for each index of the axes that are kept
//  transform_reduce_along(on, in, axes, out, map, op, initial)   the same of map(x), or map(x, index)
//  arg_min_along, arg_max_along, min_max_along(on, in, axes, out)
//  inclusive_scan_along, exclusive_scan_along(on, in, axis, out, op, initial)
//
// Input. `in` is a strided_view (strided_view.hpp) of the target's memory. `axes` are those that are reduced: {0, 2},
// {-1} for the last, axes::all(). With no axis, {}, every element is a result of its own.
//
// Output. A strided_view with the extents of the axes that are kept, in their order, or a row-major array of them: a pointer
// or a C array. Its strides are any with which no two results are at one place. It must not overlap the input. On a GPU the
// call returns at once.
//
// Index. Maps and arg_min_along get the position among the elements of one result: row-major over the reduced axes, the
// last of them the fastest.
//
// Order. An operation that commutes folds the elements of a result in an order that depends on the extents, strides,
// alignments, axes and types and, on a GPU, on the device and the policy. Others are folded strictly in the order of the
// index. Results have the same bits in every run and, on the host, for any number of threads. Integers, minima, maxima
// and places have the same bits on every target and in every layout.
//
// No elements. A result of no elements is the identity, or the initial value. arg_min_along, arg_max_along and
// min_max_along throw invalid_argument where there are such results.
//
// Cost. O(elements + results). On a GPU a reduction is one launch. A scan is one, or three, which read the input twice,
// if rows with gaps, or columns that are not neighbours, do not fill the device. A scan of few long contiguous rows is
// one launch for each row.
//
// Errors. Throws invalid_argument if there is no such axis, an axis is named twice, the output's extents are not those
// that are kept, or a pointer is null or not aligned to its type. Addresses that strides give are not checked.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/arg.hpp"
#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/detail/axes/axis_scan.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/extremes.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/indexed.hpp"
#include "warpfold/detail/scan_call.hpp"
#include "warpfold/host/along_axis/along_axis.hpp"
#include "warpfold/host/along_axis/scan.hpp"
#include "warpfold/operation.hpp"
#include "warpfold/strided_view.hpp"

namespace warpfold {

namespace detail {

// The element type of an output, or void.
template <class Out>
struct axis_output {
    using type = void;
};
template <class R>
struct axis_output<R*> {
    using type = R;
};
template <class R>
struct axis_output<strided_view<R>> {
    using type = R;
};

// An output of results of type R.
template <class Out, class R>
concept axis_output_for = !std::is_void_v<typename axis_output<Out>::type> &&
                          std::is_assignable_v<typename axis_output<Out>::type&, const R&>;

// The type in which a scan folds, as in scan.hpp.
template <class Op, class T, class Out>
using scan_axis_t = typename scan_value<Op, std::remove_const_t<T>, typename axis_output<Out>::type>::type;

// Checks the arguments and calls the engine. `Needed`: a result of no elements is an error.
template <class A, bool Needed, class On, class T, class Out, class Map, class Op, class Result>
void into_axes(const char* call, const On& on, const strided_view<T>& in, const axes& which, const Out& out,
               const Map& map, const Op& op, const Result& result) {
    const unsigned mask = which.mask(in.rank, call);
    const auto to = output_of_axes(in, mask, out);
    const axis_plan plan =
        plan_of_axes(in, mask, to, is_commutative_v<Op>, takes_index_v<Map, std::remove_const_t<T>>, call);
    if (plan.kept.size == 0) {
        return;
    }
    if constexpr (Needed) {
        require_elements(plan.reduced.size, call);
    }
    detail::check_array(in.first, plan.reduced.size, call);
    detail::check_array(to.first, plan.kept.size, call);
    axis_engine<On>::template into<A>(on, static_cast<const T*>(in.first), plan, to.first, map, op, result, call);
}

template <class On, class T, class Out, class Map, class Op>
void fold_axes(const char* call, const On& on, const strided_view<T>& in, const axes& which, const Out& out,
               const Map& map, const Op& op) {
    (void)require_result<mapped_t<const T*, Map>>{};
    using A = accumulator_t<Op, mapped_t<const T*, Map>>;
    (void)require_operation<Op, A>{};
    (void)require_identity<Op, A>{};
    into_axes<A, false>(call, on, in, which, out, map, detail::resolve<A>(op), identity_result{});
}
template <class On, class T, class Out, class Map, class Op, class A>
void fold_axes(const char* call, const On& on, const strided_view<T>& in, const axes& which, const Out& out,
               const Map& map, const Op& op, const A& initial) {
    (void)require_result<mapped_t<const T*, Map>>{};
    (void)require_operation<Op, A>{};
    using By = resolved_operation_t<Op, A>;
    const By by = detail::resolve<A>(op);
    const with_initial<By, A> result{by, initial};
    if constexpr (has_identity<By, A>) {
        into_axes<A, false>(call, on, in, which, out, map, by, result);
    } else if constexpr (takes_index_v<Map, std::remove_const_t<T>>) {
        into_axes<optional_value<A>, false>(call, on, in, which, out, optional_map<stored_callable_t<Map>, A>{map},
                                            optional_operation<By>{by}, result);
    } else {
        into_axes<optional_value<A>, false>(call, on, in, which, out, present_map<stored_callable_t<Map>, A>{map},
                                            optional_operation<By>{by}, result);
    }
}

template <bool Inclusive, class On, class T, class Out, class Op, class... Initial>
void scan_axis(const char* call, const On& on, const strided_view<T>& in, int axis, const Out& out, const Op& op,
               const Initial&... initial) {
    using R = typename axis_output<Out>::type;
    using A = scan_axis_t<Op, T, Out>;
    (void)require_operation<Op, A>{};
    using By = resolved_operation_t<Op, A>;
    static_assert(Inclusive || sizeof...(Initial) != 0 || has_identity<By, A>,
                  "this operation has no identity: give an exclusive scan an initial value behind the operation");
    const unsigned mask = axes{axis}.mask(in.rank, call);
    const strided_view<R> to = output_of_axes(in, 0, out);
    const axis_plan plan = plan_of_scan(in, mask, to, call);
    if (plan.kept.size == 0 || plan.reduced.size == 0) {
        return;
    }
    detail::check_array(in.first, plan.kept.size, call);
    detail::check_array(to.first, plan.kept.size, call);
    axis_scan_engine<On>::template run<Inclusive, A>(on, static_cast<const T*>(in.first), plan, to.first,
                                                     detail::resolve<A>(op), initial_of<A>(initial...), call);
}

template <bool Smallest, class On, class T, class Out>
void arg_axes(const char* call, const On& on, const strided_view<T>& in, const axes& which, const Out& out) {
    using X = std::remove_const_t<T>;
    using fold = arg_fold<Smallest, X>;
    into_axes<typename fold::folded, true>(call, on, in, which, out, typename fold::folded_map{},
                                           typename fold::folded_op{}, located_by_key<X>{});
}

} // namespace detail

// --- transform_reduce_along: op over map(x), or map(x, index), of the elements of each result ------------------------

// `op` has an identity, which is the result of no elements.
template <class On, class T, class Out, class Map, class Op = sum>
requires(
    detail::maps<Map, const T*>&& detail::axis_output_for<
        Out, accumulator_t<Op, detail::mapped_t<const T*, Map>>>) void transform_reduce_along(const On& on,
                                                                                              const strided_view<T>& in,
                                                                                              const axes& which,
                                                                                              Out out, const Map& map,
                                                                                              const Op& op = {}) {
    detail::fold_axes("transform_reduce_along", on, in, which, out, map, op);
}

// Results are op(initial, the value); any operation. `initial` where there are no elements.
template <class On, class T, class Out, class Map, class Op>
requires(detail::maps<Map, const T*>&& detail::axis_output_for<
         Out,
         accumulator_t<Op, detail::mapped_t<const T*, Map>>>) void transform_reduce_along(const On& on,
                                                                                          const strided_view<T>& in,
                                                                                          const axes& which, Out out,
                                                                                          const Map& map, const Op& op,
                                                                                          const accumulator_t<
                                                                                              Op, detail::mapped_t<
                                                                                                      const T*, Map>>&
                                                                                              initial) {
    detail::fold_axes("transform_reduce_along", on, in, which, out, map, op, initial);
}

// --- reduce_along: op over the elements of each result ---------------------------------------------------------------

template <class On, class T, class Out, class Op = sum>
requires(operation<Op, T>&& detail::axis_output_for<Out, accumulator_t<Op, T>>) void reduce_along(
    const On& on, const strided_view<T>& in, const axes& which, Out out, const Op& op = {}) {
    detail::fold_axes("reduce_along", on, in, which, out, detail::identity_map{}, op);
}
template <class On, class T, class Out, class Op>
requires(operation<Op, T>&& detail::axis_output_for<Out, accumulator_t<Op, T>>) void reduce_along(
    const On& on, const strided_view<T>& in, const axes& which, Out out, const Op& op,
    const accumulator_t<Op, T>& initial) {
    detail::fold_axes("reduce_along", on, in, which, out, detail::identity_map{}, op, initial);
}

// --- arg_min_along, arg_max_along: the smallest or largest element and its index -------------------------------------
// The first of equal elements. For floating-point numbers -0 is smaller than +0, and the first NaN wins over every
// number; the value is a NaN then, not always the same one. Other types are compared by <.

template <class On, class T, detail::axis_output_for<located<std::remove_const_t<T>>> Out>
void arg_min_along(const On& on, const strided_view<T>& in, const axes& which, Out out) {
    detail::arg_axes<true>("arg_min_along", on, in, which, out);
}
template <class On, class T, detail::axis_output_for<located<std::remove_const_t<T>>> Out>
void arg_max_along(const On& on, const strided_view<T>& in, const axes& which, Out out) {
    detail::arg_axes<false>("arg_max_along", on, in, which, out);
}

// --- min_max_along: the smallest and the largest element, in one pass ------------------------------------------------
// By the rules of minimum and maximum: if any element is NaN, both results are NaN.

template <class On, class T, detail::axis_output_for<extremes<std::remove_const_t<T>>> Out>
void min_max_along(const On& on, const strided_view<T>& in, const axes& which, Out out) {
    using X = std::remove_const_t<T>;
    detail::into_axes<detail::folded_extremes<X>, true>("min_max_along", on, in, which, out, detail::extremes_map<X>{},
                                                        detail::extremes_operation{}, detail::extremes_result<X>{});
}

// --- inclusive_scan_along, exclusive_scan_along: prefix sums of every row of an axis ---------------------------------
// `axis` may be negative, as in axes. The output has the input's extents; it may be the input, with the same strides and
// elements of the same size, or have nothing in common with it. Sums and products are folded in the type of the output's
// elements (scan.hpp). Without elements nothing is written.

template <class On, class T, class Out, class Op = sum>
requires detail::axis_output_for<Out, detail::scan_axis_t<Op, T, Out>>
void inclusive_scan_along(const On& on, const strided_view<T>& in, int axis, Out out, const Op& op = {}) {
    detail::scan_axis<true>("inclusive_scan_along", on, in, axis, out, op);
}
template <class On, class T, class Out, class Op>
requires detail::axis_output_for<Out, detail::scan_axis_t<Op, T, Out>>
void inclusive_scan_along(const On& on, const strided_view<T>& in, int axis, Out out, const Op& op,
                          const detail::scan_axis_t<Op, T, Out>& initial) {
    detail::scan_axis<true>("inclusive_scan_along", on, in, axis, out, op, initial);
}

// `op` has an identity, or there is an initial value: the first element of every row of the output.
template <class On, class T, class Out, class Op = sum>
requires detail::axis_output_for<Out, detail::scan_axis_t<Op, T, Out>>
void exclusive_scan_along(const On& on, const strided_view<T>& in, int axis, Out out, const Op& op = {}) {
    detail::scan_axis<false>("exclusive_scan_along", on, in, axis, out, op);
}
template <class On, class T, class Out, class Op>
requires detail::axis_output_for<Out, detail::scan_axis_t<Op, T, Out>>
void exclusive_scan_along(const On& on, const strided_view<T>& in, int axis, Out out, const Op& op,
                          const detail::scan_axis_t<Op, T, Out>& initial) {
    detail::scan_axis<false>("exclusive_scan_along", on, in, axis, out, op, initial);
}

} // namespace warpfold
