// SPDX-License-Identifier: MIT
// Reductions and scans by key: of runs of equal neighbouring keys. This header serves the host; by_key.cuh adds the GPU,
// with the same calls.
//
//  reduce_by_key(on, keys, n, values, keys_out, values_out, count, op, equal)
//      For each run: its first key, and op over its values.
//  run_length_encode(on, in, n, out, lengths, count, equal)
//      For each run of equal neighbours: its first element, and their number.
//  inclusive_scan_by_key(on, keys, n, values, out, op, equal, ...)
//  exclusive_scan_by_key(on, keys, n, values, out, op, equal, ...)
//      Scans (scan.hpp) that begin anew with each run.
//
// Arguments. `on` is the target: host{} or gpu{stream}. Inputs are pointers, or objects with [k], and outputs are such
// with out[k] = value, all in the target's memory. n counts keys, and values; it may be a count_at, which reads it from
// the target's memory. *count becomes the number of runs: `count` is a pointer or an
// iterator there. Ranges with data() and size() replace `keys, n` and the other arrays; output ranges have room for n
// elements. Behind pointers there is room for the results. Outputs do not overlap inputs, except that scans may write
// over their values, if elements have one size, and do not overlap each other.
//
// Output. reduce_by_key and run_length_encode without `count` wait and return the number. On a GPU all other calls return
// at once.
//
// Operation. sum{} unless given. reduce_by_key folds in the same type as reduce(): integers are summed in 64 bits; scans
// fold in the type of the output, like other scans. Behind the equality scans take an initial value and `reversed`.
//
// Equality. equals{}, which is ==, unless given; equal(a, b) is called for neighbouring keys a, b, possibly more than once.
// Every NaN is a run.
//
// Order. The values of a run are folded in order, left with right: the operation is associative and need not commute, nor
// have an identity. Results have the same bits in every run and, on the host, for any number of threads. Floating-point
// results may differ between targets in the last bits.
//
// Cost. O(n); each element is read once, keys of long arrays twice on a GPU, and each result written once. On a GPU one
// launch; workspace: by_key.cuh.
//
// Errors. Throws invalid_argument if a pointer is null or misaligned, an output begins inside an input or a range is too
// short, and what the target throws.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>

#include "warpfold/detail/argument_arrays.hpp"
#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/compact.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/host/compact/compact.hpp"
#include "warpfold/operation.hpp"
#include "warpfold/scan.hpp"

namespace warpfold {

namespace detail {

// The type in which values of type V are folded for results of type U. The lower bits of an integer sum or product need no
// higher ones: where results have 32 bits or fewer, so many do.
template <class Op, class V, class U>
struct keyed_accumulator {
    using wide = accumulator_t<Op, V>;
    using by = resolved_operation_t<Op, wide>;
    static constexpr bool narrows =
        (std::is_same_v<by, sum> || std::is_same_v<by, product>)&&std::is_integral_v<wide> && sizeof(wide) > 4 &&
        std::is_integral_v<U> && !std::is_same_v<U, bool> &&
        sizeof(std::conditional_t<std::is_void_v<U>, wide, U>) <= 4;
    using type = std::conditional_t<narrows, std::uint32_t, wide>;
};

// Makes the task, checks its arguments, and runs it; `place` is empty, or where the number of runs goes.
template <class On, class Keys, class N, class Values, class KeysOut, class ValuesOut, class Op, class Equal,
          class... Place>
auto keyed_call(const char* call, const On& on, const Keys& keys, const N& n, const Values& values, KeysOut& keys_out,
                ValuesOut& values_out, const Op& op, const Equal& equal, const Place&... place) {
    const auto count = detail::checked_count(n, call);
    const auto from = detail::read_only(keys);
    const auto of_keys = detail::read_only(detail::data_of_at_least(n, values, "values", call));
    using From = std::remove_cv_t<decltype(from)>;
    using OfKeys = std::remove_cv_t<decltype(of_keys)>;
    const auto to_keys = detail::place_of(keys_out, count.most, call);
    const auto to_values = detail::place_of(values_out, count.most, call);
    using A = typename keyed_accumulator<Op, element_t<OfKeys>, written_t<decltype(to_values)>>::type;
    (void)require_operation<Op, A>{};
    detail::check_array(from, count.most, call);
    detail::check_array(of_keys, count.most, call);
    detail::check_array(to_keys, count.most, call);
    detail::check_array(to_values, count.most, call);
    detail::check_begins_apart<false>(from, to_keys, detail::least_of(count), call);
    detail::check_begins_apart<false>(from, to_values, detail::least_of(count), call);
    detail::check_begins_apart<false>(of_keys, to_keys, detail::least_of(count), call);
    detail::check_begins_apart<false>(of_keys, to_values, detail::least_of(count), call);
    (detail::check_place(count, detail::decayed_output(place), call), ...);
    using By = resolved_operation_t<Op, A>;
    const keyed_fold<A, From, OfKeys, std::remove_cv_t<decltype(to_keys)>, std::remove_cv_t<decltype(to_values)>, By,
                     stored_callable_t<Equal>>
        task{from, of_keys, to_keys, to_values, detail::resolve<A>(op), equal};
    if constexpr (sizeof...(Place) == 0) {
        return compact_engine<On>::value(on, task, count, call);
    } else {
        compact_engine<On>::into(on, task, count, detail::decayed_output(place)..., call);
    }
}

template <bool Inclusive, class On, class Keys, class N, class Values, class Out, class Op, class Equal, class... How>
void scan_by_key_call(const char* call, const On& on, const Keys& keys, const N& n, const Values& values, Out& out,
                      const Op& op, const Equal& equal, const How&... how) {
    static_assert((... && !segments_in<How>::there), "the segments of a scan by key are its runs of equal keys");
    static_assert(!is_split_v<On>, "the calls of select.hpp and by_key.hpp do not take a target over ranks");
    const auto from = detail::read_only(keys);
    detail::check_array(from, least_of(detail::checked_count(n, call)), call);
    using flags = run_heads<std::remove_cv_t<decltype(from)>, stored_callable_t<Equal>>;
    detail::scan_call<Inclusive>(call, on, detail::data_of_at_least(n, values, "values", call), n, out, identity_map{},
                                 op, heads<flags>(flags{from, equal}), how...);
}

} // namespace detail

// --- reduce_by_key -----------------------------------------------------------------------------------------------------

template <class On, class Keys, detail::element_count N, class Values, class KeysOut, class ValuesOut, class Op = sum,
          class Equal = equals>
requires(!detail::array_like<Keys> && !detail::number_place<Op>) [[nodiscard]] std::uint64_t
    reduce_by_key(const On& on, const Keys& keys, const N& n, const Values& values, KeysOut&& keys_out,
                  ValuesOut&& values_out, const Op& op = {}, const Equal& equal = {}) {
    return detail::keyed_call("reduce_by_key", on, keys, n, values, keys_out, values_out, op, equal);
}
template <class On, class Keys, detail::element_count N, class Values, class KeysOut, class ValuesOut,
          detail::number_place Count, class Op = sum, class Equal = equals>
requires(!detail::array_like<Keys>) void reduce_by_key(const On& on, const Keys& keys, const N& n, const Values& values,
                                                       KeysOut&& keys_out, ValuesOut&& values_out, const Count& count,
                                                       const Op& op = {}, const Equal& equal = {}) {
    detail::keyed_call("reduce_by_key", on, keys, n, values, keys_out, values_out, op, equal, count);
}

// --- run_length_encode -------------------------------------------------------------------------------------------------

template <class On, class In, detail::element_count N, class Out, class Lengths, class Equal = equals>
requires(!detail::array_like<In> && !detail::number_place<Equal>) [[nodiscard]] std::uint64_t
    run_length_encode(const On& on, const In& in, const N& n, Out&& out, Lengths&& lengths, const Equal& equal = {}) {
    return detail::keyed_call("run_length_encode", on, in, n, detail::all_ones{}, out, lengths, sum{}, equal);
}
template <class On, class In, detail::element_count N, class Out, class Lengths, detail::number_place Count,
          class Equal = equals>
requires(!detail::array_like<In>) void run_length_encode(const On& on, const In& in, const N& n, Out&& out,
                                                         Lengths&& lengths, const Count& count,
                                                         const Equal& equal = {}) {
    detail::keyed_call("run_length_encode", on, in, n, detail::all_ones{}, out, lengths, sum{}, equal, count);
}

// --- scans by key ------------------------------------------------------------------------------------------------------

template <class On, class Keys, detail::element_count N, class Values, class Out, class Op = sum, class Equal = equals,
          class... How>
requires(!detail::array_like<Keys>) void inclusive_scan_by_key(const On& on, const Keys& keys, const N& n,
                                                               const Values& values, Out&& out, const Op& op = {},
                                                               const Equal& equal = {}, const How&... how) {
    detail::scan_by_key_call<true>("inclusive_scan_by_key", on, keys, n, values, out, op, equal, how...);
}
template <class On, class Keys, detail::element_count N, class Values, class Out, class Op = sum, class Equal = equals,
          class... How>
requires(!detail::array_like<Keys>) void exclusive_scan_by_key(const On& on, const Keys& keys, const N& n,
                                                               const Values& values, Out&& out, const Op& op = {},
                                                               const Equal& equal = {}, const How&... how) {
    detail::scan_by_key_call<false>("exclusive_scan_by_key", on, keys, n, values, out, op, equal, how...);
}

// --- the same calls for a range of keys --------------------------------------------------------------------------------

template <class On, detail::array_like Keys, class Values, class... Rest>
auto reduce_by_key(const On& on, const Keys& keys, const Values& values, Rest&&... rest) {
    if constexpr (detail::counted_array_v<Keys, Values>) {
        return warpfold::reduce_by_key(on, detail::decayed(keys), values, rest...);
    } else {
        return warpfold::reduce_by_key(on, std::data(keys), std::uint64_t{std::size(keys)}, values, rest...);
    }
}
template <class On, detail::array_like In, class Out, class... Rest>
auto run_length_encode(const On& on, const In& in, Out&& out, Rest&&... rest) {
    return detail::with_elements(
        in, [&](auto&&... of) { return warpfold::run_length_encode(on, of...); }, out, rest...);
}
template <class On, detail::array_like Keys, class Values, class... Rest>
void inclusive_scan_by_key(const On& on, const Keys& keys, const Values& values, Rest&&... rest) {
    if constexpr (detail::counted_array_v<Keys, Values>) {
        warpfold::inclusive_scan_by_key(on, detail::decayed(keys), values, rest...);
    } else {
        warpfold::inclusive_scan_by_key(on, std::data(keys), std::uint64_t{std::size(keys)}, values, rest...);
    }
}
template <class On, detail::array_like Keys, class Values, class... Rest>
void exclusive_scan_by_key(const On& on, const Keys& keys, const Values& values, Rest&&... rest) {
    if constexpr (detail::counted_array_v<Keys, Values>) {
        warpfold::exclusive_scan_by_key(on, detail::decayed(keys), values, rest...);
    } else {
        warpfold::exclusive_scan_by_key(on, std::data(keys), std::uint64_t{std::size(keys)}, values, rest...);
    }
}

} // namespace warpfold
