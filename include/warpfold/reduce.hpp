// SPDX-License-Identifier: MIT
// Reductions. This header serves the host; reduce.cuh adds the GPU, with the same calls.
//
//  reduce(on, in, n, op, initial)                  op over all elements; `op` is sum{} by default
//  transform_reduce(on, in, n, map, op, initial)   op over map(x), or map(x, index)
//  count_if(on, in, n, predicate)                  how often predicate(x), or predicate(x, index), is true
//  arg_min, arg_max, min_max(on, in, n)            extreme elements and their indices
//
// Input. `on` is the target: host{} or gpu{stream}. `in` is a pointer, or any object with in[k], in the target's
// memory; n counts elements. A range with data() and size(), or an array of known length, replaces `in, n`.
//
// In place of n, count_at(number, most) (detail/element_count.hpp) is read in the target's memory, in the target's order.
// If there are no elements then, arg_min and arg_max give the index no_element and min_max gives the identities.
//
// Output. Without an output the call waits and returns the value. With a pointer or iterator `out` after the input, in
// the target's memory, *out is set; on a GPU the call returns at once, and *out is set in stream order.
//
// Order. An operation that commutes (operation.hpp) may combine elements in any order; others are folded strictly in
// order. The order depends on n and the device only: the result has the same bits in every run and, on the host, for
// any number of threads. Floating-point sums may differ between targets; exact_sum does not.
//
// Cost. O(n) operations. On a GPU one launch, and a workspace of reduce_workspace() bytes (reduce.cuh).
//
// Errors. Throws invalid_argument if a pointer to elements or to the output is null or not aligned to its type, and
// what the target throws. Device pointers are not validated: a kernel that reads a host pointer ends with
// cudaErrorIllegalAddress, which a later call may report.
//
// A map that is a lambda with __device__ alone declares its return type: [] __device__ (float x) -> double {...}.
// Predicates and operations need not.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>

#include "warpfold/detail/arg.hpp"
#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/extremes.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/host/reduce/reduce.hpp"
#include "warpfold/operation.hpp"

namespace warpfold {

namespace detail {

// Each function: op over map(x) of all elements, preceded by the initial value where one is given.
template <class On, class In, detail::element_count N, class Map, class Op>
auto fold_value(const char* call, const On& on, const In& in, const N& n, const Map& map, const Op& op) {
    (void)require_result<mapped_t<In, Map>>{};
    using A = accumulator_t<Op, mapped_t<In, Map>>;
    (void)require_operation<Op, A>{};
    (void)require_identity<Op, A>{};
    return reduce_engine<On>::template value<A>(on, in, n, map, detail::resolve<A>(op), identity_result{}, call);
}
template <class On, class In, detail::element_count N, class Out, class Map, class Op>
void fold_into(const char* call, const On& on, const In& in, const N& n, const Out& out, const Map& map, const Op& op) {
    (void)require_result<mapped_t<In, Map>>{};
    using A = accumulator_t<Op, mapped_t<In, Map>>;
    (void)require_operation<Op, A>{};
    (void)require_identity<Op, A>{};
    reduce_engine<On>::template into<A>(on, in, n, map, detail::resolve<A>(op), identity_result{},
                                        detail::decayed_output(out), call);
}
template <class On, class In, detail::element_count N, class Map, class Op, class A>
auto fold_value(const char* call, const On& on, const In& in, const N& n, const Map& map, const Op& op,
                const A& initial) {
    (void)require_result<mapped_t<In, Map>>{};
    (void)require_operation<Op, A>{};
    using By = resolved_operation_t<Op, A>;
    const By by = detail::resolve<A>(op);
    const with_initial<By, A> result{by, initial};
    if constexpr (has_identity<By, A>) {
        return reduce_engine<On>::template value<A>(on, in, n, map, by, result, call);
    } else {
        return reduce_engine<On>::template value<optional_value<A>>(
            on, in, n, optional_map<stored_callable_t<Map>, A>{map}, optional_operation<By>{by}, result, call);
    }
}
template <class On, class In, detail::element_count N, class Out, class Map, class Op, class A>
void fold_into(const char* call, const On& on, const In& in, const N& n, const Out& out, const Map& map, const Op& op,
               const A& initial) {
    (void)require_result<mapped_t<In, Map>>{};
    (void)require_operation<Op, A>{};
    using By = resolved_operation_t<Op, A>;
    const By by = detail::resolve<A>(op);
    const with_initial<By, A> result{by, initial};
    if constexpr (has_identity<By, A>) {
        reduce_engine<On>::template into<A>(on, in, n, map, by, result, detail::decayed_output(out), call);
    } else {
        reduce_engine<On>::template into<optional_value<A>>(on, in, n, optional_map<stored_callable_t<Map>, A>{map},
                                                            optional_operation<By>{by}, result,
                                                            detail::decayed_output(out), call);
    }
}

} // namespace detail

// --- transform_reduce: op over map(x) for all elements x, or over map(x, index) -------------------------------------

// Returns the value. `op` has an identity, which is the value of no elements.
template <class On, class In, detail::element_count N, class Map, class Op = sum>
requires(!detail::array_like<In> && detail::maps<Map, In>)
    [[nodiscard]] auto transform_reduce(const On& on, const In& in, const N& n, const Map& map, const Op& op = {}) {
    return detail::fold_value("transform_reduce", on, in, n, map, op);
}

// Returns op(initial, the value); any operation. `initial` where there are no elements.
template <class On, class In, detail::element_count N, class Map, class Op>
requires(!detail::array_like<In> && detail::maps<Map, In>)
    [[nodiscard]] auto transform_reduce(const On& on, const In& in, const N& n, const Map& map, const Op& op,
                                        const accumulator_t<Op, detail::mapped_t<In, Map>>& initial) {
    return detail::fold_value("transform_reduce", on, in, n, map, op, initial);
}

// The same with an output.
template <class On, class In, detail::element_count N, class Out, class Map, class Op = sum>
requires(!detail::array_like<In> && detail::place<Out> && detail::maps<Map, In>) &&
    detail::place_for<Out, accumulator_t<Op, detail::mapped_t<In, Map>>> void transform_reduce(
        const On& on, const In& in, const N& n, const Out& out, const Map& map, const Op& op = {}) {
    detail::fold_into("transform_reduce", on, in, n, out, map, op);
}
template <class On, class In, detail::element_count N, class Out, class Map, class Op>
requires(!detail::array_like<In> && detail::place<Out> && detail::maps<Map, In>) &&
    detail::place_for<Out, accumulator_t<Op, detail::mapped_t<In, Map>>> void transform_reduce(
        const On& on, const In& in, const N& n, const Out& out, const Map& map, const Op& op,
        const accumulator_t<Op, detail::mapped_t<In, Map>>& initial) {
    detail::fold_into("transform_reduce", on, in, n, out, map, op, initial);
}

// --- reduce: op over all elements ------------------------------------------------------------------------------------

// Returns the value. `op` has an identity, which is the value of no elements.
template <class On, class In, detail::element_count N, class Op = sum>
requires(!detail::array_like<In> && operation<Op, detail::element_t<In>>)
    [[nodiscard]] detail::fold_t<In, Op> reduce(const On& on, const In& in, const N& n, const Op& op = {}) {
    return detail::fold_value("reduce", on, in, n, detail::identity_map{}, op);
}

// Returns op(initial, the value); any operation. `initial` where there are no elements.
template <class On, class In, detail::element_count N, class Op>
requires(!detail::array_like<In> && operation<Op, detail::element_t<In>>)
    [[nodiscard]] detail::fold_t<In, Op> reduce(const On& on, const In& in, const N& n, const Op& op,
                                                const detail::fold_t<In, Op>& initial) {
    return detail::fold_value("reduce", on, in, n, detail::identity_map{}, op, initial);
}

// The same with an output.
template <class On, class In, detail::element_count N, class Out, class Op = sum>
requires(!detail::array_like<In> &&
         detail::place_for<Out, detail::fold_t<In, Op>>) void reduce(const On& on, const In& in, const N& n,
                                                                     const Out& out, const Op& op = {}) {
    detail::fold_into("reduce", on, in, n, out, detail::identity_map{}, op);
}
template <class On, class In, detail::element_count N, class Out, class Op>
requires(!detail::array_like<In> && detail::place_for<Out, detail::fold_t<In, Op>>) void reduce(
    const On& on, const In& in, const N& n, const Out& out, const Op& op, const detail::fold_t<In, Op>& initial) {
    detail::fold_into("reduce", on, in, n, out, detail::identity_map{}, op, initial);
}

// --- count_if: the number of elements for which predicate(x), or predicate(x, index), is true ------------------------

template <class On, class In, detail::element_count N, class Predicate>
requires(!detail::array_like<In> && detail::maps<Predicate, In>) [[nodiscard]] std::uint64_t
    count_if(const On& on, const In& in, const N& n, const Predicate& predicate) {
    const detail::count_map<detail::stored_callable_t<Predicate>> one_or_none{predicate};
    return detail::fold_value("count_if", on, in, n, one_or_none, sum{});
}
template <class On, class In, detail::element_count N, class Out, class Predicate>
requires(!detail::array_like<In> && detail::place_for<Out, std::uint64_t>) void count_if(const On& on, const In& in,
                                                                                         const N& n, const Out& out,
                                                                                         const Predicate& predicate) {
    const detail::count_map<detail::stored_callable_t<Predicate>> one_or_none{predicate};
    detail::fold_into("count_if", on, in, n, out, one_or_none, sum{});
}

// --- arg_min, arg_max: the smallest or largest element and its index -------------------------------------------------
// The first of equal elements. For floating-point numbers -0 is smaller than +0, and the first NaN wins over every
// number. Other types are compared by <. Throws invalid_argument if there are no elements.

namespace detail {

// What a candidate gives: of a number of elements that only the target has, there may be none.
template <class N, class In>
auto located_as(const In& in) {
    if constexpr (is_count_at_v<N>) {
        return located_or_none<In>{{in}};
    } else {
        return located_result<In>{in};
    }
}

template <bool Smallest, class On, class In, detail::element_count N>
auto arg_value(const On& on, const In& in, const N& n, const char* call) {
    using fold = arg_fold<Smallest, element_t<In>>;
    require_elements<On>(n, call);
    return reduce_engine<On>::template value<typename fold::folded>(
        on, in, n, typename fold::folded_map{}, typename fold::folded_op{}, detail::located_as<N>(in), call);
}
template <bool Smallest, class On, class In, detail::element_count N, class Out>
void arg_into(const On& on, const In& in, const N& n, const Out& out, const char* call) {
    using fold = arg_fold<Smallest, element_t<In>>;
    require_elements<On>(n, call);
    reduce_engine<On>::template into<typename fold::folded>(on, in, n, typename fold::folded_map{},
                                                            typename fold::folded_op{}, detail::located_as<N>(in),
                                                            detail::decayed_output(out), call);
}

} // namespace detail

template <class On, class In, detail::element_count N>
requires(!detail::array_like<In>)
    [[nodiscard]] located<detail::element_t<In>> arg_min(const On& on, const In& in, const N& n) {
    return detail::arg_value<true>(on, in, n, "arg_min");
}
template <class On, class In, detail::element_count N, detail::place_for<located<detail::element_t<In>>> Out>
requires(!detail::array_like<In>) void arg_min(const On& on, const In& in, const N& n, const Out& out) {
    detail::arg_into<true>(on, in, n, out, "arg_min");
}
template <class On, class In, detail::element_count N>
requires(!detail::array_like<In>)
    [[nodiscard]] located<detail::element_t<In>> arg_max(const On& on, const In& in, const N& n) {
    return detail::arg_value<false>(on, in, n, "arg_max");
}
template <class On, class In, detail::element_count N, detail::place_for<located<detail::element_t<In>>> Out>
requires(!detail::array_like<In>) void arg_max(const On& on, const In& in, const N& n, const Out& out) {
    detail::arg_into<false>(on, in, n, out, "arg_max");
}

// --- min_max: the smallest and the largest element, in one pass ------------------------------------------------------
// By the rules of minimum and maximum: if any element is NaN, both results are NaN. Throws invalid_argument if there
// are no elements.

template <class On, class In, detail::element_count N>
requires(!detail::array_like<In>)
    [[nodiscard]] extremes<detail::element_t<In>> min_max(const On& on, const In& in, const N& n) {
    using T = detail::element_t<In>;
    detail::require_elements<On>(n, "min_max");
    return detail::reduce_engine<On>::template value<detail::folded_extremes<T>>(
        on, in, n, detail::extremes_map<T>{}, detail::extremes_operation{}, detail::extremes_result<T>{}, "min_max");
}
template <class On, class In, detail::element_count N, detail::place_for<extremes<detail::element_t<In>>> Out>
requires(!detail::array_like<In>) void min_max(const On& on, const In& in, const N& n, const Out& out) {
    using T = detail::element_t<In>;
    detail::require_elements<On>(n, "min_max");
    detail::reduce_engine<On>::template into<detail::folded_extremes<T>>(
        on, in, n, detail::extremes_map<T>{}, detail::extremes_operation{}, detail::extremes_result<T>{},
        detail::decayed_output(out), "min_max");
}

// --- the same calls for one range ------------------------------------------------------------------------------------

template <class On, detail::array_like Range, class... Rest>
auto transform_reduce(const On& on, const Range& range, const Rest&... rest) {
    return detail::with_elements(
        range, [&](auto&&... of) { return warpfold::transform_reduce(on, of...); }, rest...);
}
template <class On, detail::array_like Range, class... Rest>
auto reduce(const On& on, const Range& range, const Rest&... rest) {
    return detail::with_elements(
        range, [&](auto&&... of) { return warpfold::reduce(on, of...); }, rest...);
}
template <class On, detail::array_like Range, class... Rest>
auto count_if(const On& on, const Range& range, const Rest&... rest) {
    return detail::with_elements(
        range, [&](auto&&... of) { return warpfold::count_if(on, of...); }, rest...);
}
template <class On, detail::array_like Range, class... Rest>
auto arg_min(const On& on, const Range& range, const Rest&... rest) {
    return detail::with_elements(
        range, [&](auto&&... of) { return warpfold::arg_min(on, of...); }, rest...);
}
template <class On, detail::array_like Range, class... Rest>
auto arg_max(const On& on, const Range& range, const Rest&... rest) {
    return detail::with_elements(
        range, [&](auto&&... of) { return warpfold::arg_max(on, of...); }, rest...);
}
template <class On, detail::array_like Range, class... Rest>
auto min_max(const On& on, const Range& range, const Rest&... rest) {
    return detail::with_elements(
        range, [&](auto&&... of) { return warpfold::min_max(on, of...); }, rest...);
}

} // namespace warpfold
