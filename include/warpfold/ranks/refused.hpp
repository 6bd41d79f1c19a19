// SPDX-License-Identifier: MIT
// Calls that have no form over ranks, or none with reproducible(): an error of compilation that says so.
#pragma once

#include "warpfold/detail/engines.hpp"
#include "warpfold/ranks/target.hpp"

namespace warpfold::detail {

template <class On>
concept split_target = is_split_v<On>;

template <split_target On>
struct compact_engine<On> {
    static_assert(!is_split_v<On>, "the calls of select.hpp and by_key.hpp do not take a target over ranks");
};
template <split_target On>
struct axis_engine<On> {
    static_assert(!is_split_v<On>, "the calls of along_axis.hpp do not take a target over ranks");
};
template <split_target On>
struct axis_scan_engine<On> : axis_engine<On> {};
template <split_target On>
struct axis_exact_engine<On> : axis_engine<On> {};
template <split_target On>
struct segmented_exact_engine<On> {
    static_assert(!is_split_v<On>, "the calls of segmented_exact_sum.hpp do not take a target over ranks");
};
template <split_target On>
struct exact_histogram_engine<On> {
    static_assert(!is_split_v<On>, "exact_weighted_histogram does not take a target over ranks");
};

template <class On>
struct without_reproducible {
    static_assert(!is_split_v<On>,
                  "reproducible() is for reductions, scans and segmented reductions of arrays; exact sums, counts and "
                  "integer results have the same bits without it");
};
template <class On, class Comm>
struct chunked_engine<reproducible_ranks<On, Comm>> : without_reproducible<reproducible_ranks<On, Comm>> {};
template <class On, class Comm>
struct convolve_engine<reproducible_ranks<On, Comm>> : without_reproducible<reproducible_ranks<On, Comm>> {};
template <class On, class Comm>
struct exact_engine<reproducible_ranks<On, Comm>> : without_reproducible<reproducible_ranks<On, Comm>> {};
template <class On, class Comm>
struct exact_finish_engine<reproducible_ranks<On, Comm>> : without_reproducible<reproducible_ranks<On, Comm>> {};
template <class On, class Comm>
struct histogram_engine<reproducible_ranks<On, Comm>> : without_reproducible<reproducible_ranks<On, Comm>> {};

} // namespace warpfold::detail
