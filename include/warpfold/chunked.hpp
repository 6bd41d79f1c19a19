// SPDX-License-Identifier: MIT
// Reductions, exact sums, histograms and scans of data that do not fit the target's memory: large arrays, files, pipes,
// generated data. The data pass through in chunks; reading, copying and computing overlap. This header serves the host;
// chunked.cuh adds the GPU, with the same calls.
//
//      chunked_reduce(gpu{}, file_source<float>("big.bin"))            the sum of a file's elements
//      chunked_reduce(host{}, numbers, maximum{})                      `numbers` is a range in host memory
//      chunked_exact_sum(gpu{stream}, numbers)                         the same bits as exact_sum
//      chunked_histogram(gpu{}, source, even_bins<float>(0, 1, 100))   a vector of counts
//      chunked_inclusive_scan(gpu{}, source, sink)                     running totals, from a source to a sink
//
// Arguments. The target, a source and, for scans, a sink (chunk_source.hpp); then those of the call of the same name in
// reduce.hpp, exact_sum.hpp, histogram.hpp or scan.hpp; chunked_options last. Every call waits for its result. On a GPU
// kernels run in the target's stream, copies in streams of the call.
//
// Results. Integers, minima, maxima, indices, counts and exact sums equal those of the call on the whole array, bit for
// bit. Floating-point sums of chunked_reduce have the same bits in every run with one device and one chunk size; on the
// host they equal those of reduce() for chunk sizes that are multiples of 65,536 elements, as the default is.
// Operations that do not commute are folded in order.
//
// Over ranks (ranks.hpp) each rank gives the source of its part, and the sink of its part's results. Files may be one
// file: only the last rank's sink cuts it behind the results.
//
// Cost. On a GPU each chunk is one launch and one copy, two for scans; see tuning/chunked.hpp for the buffers.
//
// Errors. Throws what the source, the sink, the progress callback and the target throw, and invalid_argument if there
// are no elements to choose from or a sink is too small. When a call throws, its threads and copies have ended.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "warpfold/chunk_source.hpp"
#include "warpfold/detail/chunked/fold.hpp"
#include "warpfold/detail/chunked/overlap.hpp"
#include "warpfold/detail/chunked/plan.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/exact_accumulator.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/host/chunked/chunked.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"

namespace warpfold {

namespace detail {

template <class S>
using source_t = std::remove_cvref_t<decltype(as_source(std::declval<std::remove_reference_t<S>&>()))>;
template <class S>
using source_view_t = view_t<source_t<S>>;
template <class S>
using source_element_t = typename source_t<S>::element;

template <class A, class On, class Source, class Map, class Op>
A chunked_fold(const On& on, Source& source, const Map& map, const Op& op, const A* initial,
               const chunked_options& options, const char* call) {
    (void)require_result<A>{};
    (void)require_operation<Op, A>{};
    static_assert(!is_device_lambda_v<Op>, "the host joins chunks too: the operation has to be __host__ __device__");
    auto&& from = as_source(source);
    using By = resolved_operation_t<Op, A>;
    const By by = detail::resolve<A>(op);
    std::uint64_t n = 0;
    if constexpr (has_identity<By, A>) {
        const chunked_plain_fold<A, stored_callable_t<Map>, By> fold{map, by, by, initial};
        return chunked_engine<On>::fold(on, from, fold, options, n, call);
    } else {
        const chunked_optional_fold<A, stored_callable_t<Map>, By> fold{map, {by}, by, initial};
        return chunked_engine<On>::fold(on, from, fold, options, n, call);
    }
}

template <class On, class Source, class Fold>
typename Fold::value chunked_choice(const On& on, Source& source, const Fold& fold, const chunked_options& options,
                                    const char* call) {
    auto&& from = as_source(source);
    std::uint64_t n = 0;
    const auto chosen = chunked_engine<On>::fold(on, from, fold, options, n, call);
    detail::require_elements(n, call);
    return chosen;
}

} // namespace detail

// --- reductions ------------------------------------------------------------------------------------------------------

// op over map(x), or map(x, index), of all elements, preceded by the initial value where one is given.
template <class On, chunked_source Source, class Map, class Op = sum>
requires(detail::maps<Map, detail::source_view_t<Source>> && !std::is_same_v<Op, chunked_options>)
    [[nodiscard]] auto chunked_transform_reduce(const On& on, Source&& source, const Map& map, const Op& op = {},
                                                const chunked_options& options = {}) {
    using A = accumulator_t<Op, detail::mapped_t<detail::source_view_t<Source>, Map>>;
    (void)detail::require_identity<Op, A>{};
    return detail::chunked_fold<A>(on, source, map, op, nullptr, options, "chunked_transform_reduce");
}
template <class On, chunked_source Source, class Map, class Op>
requires detail::maps<Map, detail::source_view_t<Source>>
[[nodiscard]] auto
chunked_transform_reduce(const On& on, Source&& source, const Map& map, const Op& op,
                         const accumulator_t<Op, detail::mapped_t<detail::source_view_t<Source>, Map>>& initial,
                         const chunked_options& options = {}) {
    using A = accumulator_t<Op, detail::mapped_t<detail::source_view_t<Source>, Map>>;
    return detail::chunked_fold<A>(on, source, map, op, &initial, options, "chunked_transform_reduce");
}

template <class On, chunked_source Source, class Map>
requires detail::maps<Map, detail::source_view_t<Source>>
[[nodiscard]] auto chunked_transform_reduce(const On& on, Source&& source, const Map& map,
                                            const chunked_options& options) {
    return chunked_transform_reduce(on, source, map, sum{}, options);
}

// op over all elements.
template <class On, chunked_source Source, class Op = sum>
requires operation<Op, detail::source_element_t<Source>>
[[nodiscard]] auto chunked_reduce(const On& on, Source&& source, const Op& op = {},
                                  const chunked_options& options = {}) {
    return chunked_transform_reduce(on, source, detail::identity_map{}, op, options);
}
template <class On, chunked_source Source, class Op>
requires operation<Op, detail::source_element_t<Source>>
[[nodiscard]] auto chunked_reduce(const On& on, Source&& source, const Op& op,
                                  const accumulator_t<Op, detail::source_element_t<Source>>& initial,
                                  const chunked_options& options = {}) {
    return chunked_transform_reduce(on, source, detail::identity_map{}, op, initial, options);
}

template <class On, chunked_source Source>
[[nodiscard]] auto chunked_reduce(const On& on, Source&& source, const chunked_options& options) {
    return chunked_transform_reduce(on, source, detail::identity_map{}, sum{}, options);
}

// The number of elements for which predicate(x), or predicate(x, index), is true.
template <class On, chunked_source Source, class Predicate>
[[nodiscard]] std::uint64_t chunked_count_if(const On& on, Source&& source, const Predicate& predicate,
                                             const chunked_options& options = {}) {
    return chunked_transform_reduce(on, source, detail::count_map<detail::stored_callable_t<Predicate>>{predicate},
                                    sum{}, options);
}

// The smallest or largest element and its index.
template <class On, chunked_source Source>
[[nodiscard]] auto chunked_arg_min(const On& on, Source&& source, const chunked_options& options = {}) {
    using fold = detail::chunked_arg_fold<true, detail::source_element_t<Source>>;
    return detail::chunked_choice(on, source, fold{{}, {}, nullptr}, options, "chunked_arg_min");
}
template <class On, chunked_source Source>
[[nodiscard]] auto chunked_arg_max(const On& on, Source&& source, const chunked_options& options = {}) {
    using fold = detail::chunked_arg_fold<false, detail::source_element_t<Source>>;
    return detail::chunked_choice(on, source, fold{{}, {}, nullptr}, options, "chunked_arg_max");
}

// The smallest and the largest element.
template <class On, chunked_source Source>
[[nodiscard]] auto chunked_min_max(const On& on, Source&& source, const chunked_options& options = {}) {
    using fold = detail::chunked_extremes_fold<detail::source_element_t<Source>>;
    return detail::chunked_choice(on, source, fold{{}, {}, {}, nullptr}, options, "chunked_min_max");
}

// --- exact sums ------------------------------------------------------------------------------------------------------

// The true sum of float or double elements, rounded once: the value of exact_sum.
template <class On, chunked_source Source>
requires detail::summable<detail::source_view_t<Source>>
[[nodiscard]] auto chunked_exact_sum(const On& on, Source&& source, const chunked_options& options = {}) {
    auto&& from = detail::as_source(source);
    return detail::chunked_engine<On>::exact(on, from, options, "chunked_exact_sum").value();
}

// --- histograms ------------------------------------------------------------------------------------------------------

// The number of elements in each bin. The edges of edge_bins are in the target's memory.
template <class On, chunked_source Source, detail::bins_for<detail::source_element_t<Source>> Bins>
[[nodiscard]] std::vector<std::uint64_t> chunked_histogram(const On& on, Source&& source, const Bins& bins,
                                                           const chunked_options& options = {}) {
    auto&& from = detail::as_source(source);
    return detail::chunked_engine<On>::count(on, from, bins, options, "chunked_histogram");
}

// --- scans -----------------------------------------------------------------------------------------------------------

// From a source to a sink of as many elements. After the operation, in any order: an initial value, `reversed` (for
// random access sources and sinks), chunked_options. The sink's element type is the type that is folded in: for sums
// and products the sink's own, as in scan.hpp; for other operations the source's.
//
// One range in memory or one file may be source and sink if results have the size of elements and begin at the same
// place. A source and a sink that overlap otherwise are refused before anything is written: invalid_argument. Files are
// compared by device and inode, so links count as the file itself. Your own objects and functions are not checked.

namespace detail {

inline const chunked_options& options_of(const chunked_options& none) { return none; }
template <class X, class... Rest>
const chunked_options& options_of(const chunked_options& none, const X& x, const Rest&... rest) {
    if constexpr (std::is_same_v<X, chunked_options>) {
        return x;
    } else {
        return options_of(none, rest...);
    }
}
template <class A>
constexpr auto chunked_initial_of() {
    return no_initial{};
}
template <class A, class X, class... Rest>
constexpr auto chunked_initial_of(const X& x, const Rest&... rest) {
    static_assert(!segments_in<X>::there, "scans of streams have no segments");
    if constexpr (std::is_same_v<X, chunked_options> || std::is_same_v<X, reversed_order>) {
        return chunked_initial_of<A>(rest...);
    } else {
        static_assert(std::is_convertible_v<const X&, A>, "the initial value does not fit the type that is folded in");
        return static_cast<A>(x);
    }
}

template <bool Inclusive, class On, class Source, class Sink, class Map, class Op, class... How>
void chunked_scan(const char* call, const On& on, Source& source, Sink& sink, const Map& map, const Op& op,
                  const How&... how) {
    auto&& from = as_source(source);
    auto&& to = as_sink(sink);
    using From = std::remove_cvref_t<decltype(from)>;
    using To = std::remove_cvref_t<decltype(to)>;
    using A = scan_value_t<Op, view_t<From>, Map, typename To::element*>;
    (void)require_operation<Op, A>{};
    static_assert(std::is_same_v<A, typename To::element>,
                  "elements of the sink are not of the type that the operation folds in");
    constexpr bool reverse = (... || std::is_same_v<How, reversed_order>);
    static_assert(!reverse || (random_access_source<From> && random_access_sink<To>),
                  "a stream that comes or goes in order cannot be scanned from its end");
    const chunked_options none;
    const chunked_options& options = options_of(none, how...);
    const auto initial = chunked_initial_of<A>(how...);
    using By = resolved_operation_t<Op, A>;
    const By by = detail::resolve<A>(op);
    const auto scan_from = [&](const auto& first) {
        call_scope<On>::run(on, call, [&] {
            if constexpr (random_access_source<From>) {
                check_room(to, from.size(), call);
            }
            check_overlap(from, to, call);
            chunked_engine<On>::template scan<Inclusive, reverse, A>(on, from, to, map, by, first, options, call);
        });
    };
    if constexpr (!Inclusive && std::is_same_v<decltype(initial), const no_initial>) {
        static_assert(has_identity<By, A>,
                      "this operation has no identity: give an exclusive scan an initial value behind the operation");
        scan_from(A{By::template identity<A>()});
    } else {
        scan_from(initial);
    }
}

} // namespace detail

template <class On, chunked_source Source, chunked_sink Sink, class Op = sum, class... How>
void chunked_inclusive_scan(const On& on, Source&& source, Sink&& sink, const Op& op = {}, const How&... how) {
    if constexpr (std::is_same_v<Op, chunked_options>) {
        detail::chunked_scan<true>("chunked_inclusive_scan", on, source, sink, detail::identity_map{}, sum{}, op,
                                   how...);
    } else {
        detail::chunked_scan<true>("chunked_inclusive_scan", on, source, sink, detail::identity_map{}, op, how...);
    }
}
template <class On, chunked_source Source, chunked_sink Sink, class Op = sum, class... How>
void chunked_exclusive_scan(const On& on, Source&& source, Sink&& sink, const Op& op = {}, const How&... how) {
    if constexpr (std::is_same_v<Op, chunked_options>) {
        detail::chunked_scan<false>("chunked_exclusive_scan", on, source, sink, detail::identity_map{}, sum{}, op,
                                    how...);
    } else {
        detail::chunked_scan<false>("chunked_exclusive_scan", on, source, sink, detail::identity_map{}, op, how...);
    }
}

} // namespace warpfold
