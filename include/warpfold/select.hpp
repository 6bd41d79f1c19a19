// SPDX-License-Identifier: MIT
// Compactions: elements that are selected move together. This header serves the host; select.cuh adds the GPU, with the
// same calls.
//
//  select(on, in, n, out, count, predicate)                   the elements for which predicate(x), or predicate(x, index)
//  select(on, in, n, out, count, where(flags))                those for which flags[index] is true
//  select(on, in, n, out, count, where(stencil, predicate))   those for which predicate(stencil[index]) is true
//  partition(on, in, n, out, rejected, count, ...)            the same; the other elements go to `rejected`
//  unique(on, in, n, out, count, equal)                       the first element of each run of equal neighbours
//
// Arguments. `on` is the target: host{} or gpu{stream}. `in` is a pointer, or any object with in[k], and `out` and
// `rejected` are such with out[k] = value, all in the target's memory. n counts elements; it may be a count_at, which
// reads it from the target's memory. *count becomes the number of selected elements: `count` is a pointer or an iterator
// there. Ranges with data() and size() replace `in, n`, `out` and `rejected`; the latter have room for n elements each.
// Behind pointers there is room for the results. Elements have a default constructor.
//
// Output. Without `count` the call waits and returns the number. With it, on a GPU, the call returns at once.
//
// Order. Results keep the order of their elements, `rejected` too. `out` may be `in` if their elements have one size:
// elements behind the results are unspecified then. Otherwise outputs do not overlap inputs or each other.
//
// Equality. equals{}, which is ==, unless given; equal(a, b) is called for neighbours a, b in this order. NaN is not equal
// to itself. Predicates and equalities are called at least once per element, and say the same of it each time.
//
// Cost. O(n); each element is read once, on a GPU some of a long array twice, and each result written once. On a GPU one launch;
// workspace: select.cuh.
//
// Errors. Throws invalid_argument if a pointer is null or misaligned, an output begins inside the input or a range is too
// short, and what the target throws.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>

#include "warpfold/detail/argument_arrays.hpp"
#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/compact.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/host/compact/compact.hpp"

namespace warpfold {

// Selects by other arrays than the input; pointers, objects with [k], or ranges.
template <class Stencil, class Predicate>
constexpr auto where(const Stencil& stencil, const Predicate& predicate) {
    using test = detail::stencil_test<decltype(detail::read_only(detail::data_of(stencil))),
                                      detail::stored_callable_t<Predicate>>;
    test made{detail::read_only(detail::data_of(stencil)), predicate};
    if constexpr (detail::sized_range<Stencil>) {
        return detail::test_by_range<test>{made, std::size(stencil)};
    } else {
        return made;
    }
}
template <class Flags>
constexpr auto where(const Flags& flags) {
    return warpfold::where(flags, detail::is_true{});
}

namespace detail {

template <class Stencil, class Predicate>
void check_test(const stencil_test<Stencil, Predicate>& test, std::uint64_t n, const char* call) {
    static_assert(maps<Predicate, Stencil>, "the predicate cannot be called with an element of the stencil");
    detail::check_array(test.stencil, n, call);
}
template <class Test>
void check_test(const Test&, std::uint64_t, const char*) {}

// Makes the task, checks its arguments, and runs it; `place` is empty, or where the number of results goes.
template <class On, class In, class N, class Out, class Rejected, class Given, class... Place>
auto select_call(const char* call, const On& on, const In& in, const N& n, Out& out, Rejected& rejected,
                 const Given& given, const Place&... place) {
    const auto count = detail::checked_count(n, call);
    const auto test = detail::test_of(given, count, call);
    using Test = std::remove_cv_t<decltype(test)>;
    const auto from = detail::read_only(in);
    const auto to = detail::place_of(out, count.most, call);
    detail::check_array(from, count.most, call);
    detail::check_array(to, count.most, call);
    detail::check_begins_apart<true>(from, to, detail::least_of(count), call);
    detail::check_test(test, count.most, call);
    (detail::check_place(count, detail::decayed_output(place), call), ...);
    const auto run = [&](const auto& others) {
        const selection<std::remove_cv_t<decltype(from)>, std::remove_cv_t<decltype(to)>,
                        std::remove_cvref_t<decltype(others)>, Test>
            task{from, to, others, test};
        if constexpr (sizeof...(Place) == 0) {
            return compact_engine<On>::value(on, task, count, call);
        } else {
            compact_engine<On>::into(on, task, count, detail::decayed_output(place)..., call);
        }
    };
    if constexpr (std::is_same_v<Rejected, const no_output>) {
        return run(rejected);
    } else {
        const auto others = detail::place_of(rejected, count.most, call);
        detail::check_array(others, count.most, call);
        detail::check_begins_apart<false>(from, others, detail::least_of(count), call);
        return run(others);
    }
}

} // namespace detail

// --- select ------------------------------------------------------------------------------------------------------------

template <class On, class In, detail::element_count N, class Out, class Test>
requires(!detail::array_like<In>) [[nodiscard]] std::uint64_t
    select(const On& on, const In& in, const N& n, Out&& out, const Test& test) {
    const detail::no_output none;
    return detail::select_call("select", on, in, n, out, none, test);
}
template <class On, class In, detail::element_count N, class Out, detail::number_place Count, class Test>
requires(!detail::array_like<In>) void select(const On& on, const In& in, const N& n, Out&& out, const Count& count,
                                              const Test& test) {
    const detail::no_output none;
    detail::select_call("select", on, in, n, out, none, test, count);
}

// --- partition ---------------------------------------------------------------------------------------------------------

template <class On, class In, detail::element_count N, class Out, class Rejected, class Test>
requires(!detail::array_like<In>) [[nodiscard]] std::uint64_t
    partition(const On& on, const In& in, const N& n, Out&& out, Rejected&& rejected, const Test& test) {
    return detail::select_call("partition", on, in, n, out, rejected, test);
}
template <class On, class In, detail::element_count N, class Out, class Rejected, detail::number_place Count,
          class Test>
requires(!detail::array_like<In>) void partition(const On& on, const In& in, const N& n, Out&& out, Rejected&& rejected,
                                                 const Count& count, const Test& test) {
    detail::select_call("partition", on, in, n, out, rejected, test, count);
}

// --- unique ------------------------------------------------------------------------------------------------------------

template <class On, class In, detail::element_count N, class Out, class Equal = equals>
requires(!detail::array_like<In> && !detail::number_place<Equal>) [[nodiscard]] std::uint64_t
    unique(const On& on, const In& in, const N& n, Out&& out, const Equal& equal = {}) {
    const detail::no_output none;
    return detail::select_call("unique", on, in, n, out, none,
                               detail::run_head_test<detail::stored_callable_t<Equal>>{equal});
}
template <class On, class In, detail::element_count N, class Out, detail::number_place Count, class Equal = equals>
requires(!detail::array_like<In>) void unique(const On& on, const In& in, const N& n, Out&& out, const Count& count,
                                              const Equal& equal = {}) {
    const detail::no_output none;
    detail::select_call("unique", on, in, n, out, none, detail::run_head_test<detail::stored_callable_t<Equal>>{equal},
                        count);
}

// --- the same calls for one range --------------------------------------------------------------------------------------

template <class On, detail::array_like In, class Out, class... Rest>
auto select(const On& on, const In& in, Out&& out, Rest&&... rest) {
    return detail::with_elements(
        in, [&](auto&&... of) { return warpfold::select(on, of...); }, out, rest...);
}
template <class On, detail::array_like In, class Out, class... Rest>
auto partition(const On& on, const In& in, Out&& out, Rest&&... rest) {
    return detail::with_elements(
        in, [&](auto&&... of) { return warpfold::partition(on, of...); }, out, rest...);
}
template <class On, detail::array_like In, class Out, class... Rest>
auto unique(const On& on, const In& in, Out&& out, Rest&&... rest) {
    return detail::with_elements(
        in, [&](auto&&... of) { return warpfold::unique(on, of...); }, out, rest...);
}

} // namespace warpfold
