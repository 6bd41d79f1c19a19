// SPDX-License-Identifier: MIT
// Histograms in several dimensions as histograms of points: a point has one sample for each dimension, and its bin is
// the row-major index of its samples' bins.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/bins.hpp"
#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/bins/even_bins.hpp"
#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/portable.hpp"

namespace warpfold::detail {

// One sample for each dimension.
template <class S, class... More>
struct sample_point {
    S first;
    sample_point<More...> rest;
};
template <class S>
struct sample_point<S> {
    S first;
};

// Arrays of samples, one for each dimension, as one array of points.
template <class In, class... More>
struct joined_samples {
    using point = sample_point<element_t<In>, element_t<More>...>;

    WARPFOLD_CALLS_ANY
    WARPFOLD_HD constexpr point operator[](std::uint64_t k) const { return {first[k], rest[k]}; }

    In first;
    joined_samples<More...> rest;
};
template <class In>
struct joined_samples<In> {
    using point = sample_point<element_t<In>>;

    WARPFOLD_CALLS_ANY
    WARPFOLD_HD constexpr point operator[](std::uint64_t k) const { return {first[k]}; }

    In first;
};

template <class In, class... More>
constexpr joined_samples<In, More...> join_samples(const In& in, const More&... more) {
    if constexpr (sizeof...(More) == 0) {
        return {in};
    } else {
        return {in, detail::join_samples(more...)};
    }
}

// The bin of a point. `bins`: of the last dimensions together.
template <class Binner, class... More>
struct joint_bins {
    WARPFOLD_CALLS_ANY
    template <class Point>
    WARPFOLD_HD constexpr std::uint32_t operator()(const Point& x) const {
        const std::uint32_t in_first = first(x.first);
        const std::uint32_t in_rest = rest(x.rest);
        return in_first == outside || in_rest == outside ? outside : in_first * rest.bins + in_rest;
    }
    template <class F>
    constexpr void each_binner(const F& f) const {
        f(first);
        rest.each_binner(f);
    }
    WARPFOLD_HD void load() requires reads_range<Binner> ||(... || reads_range<More>) {
        if constexpr (reads_range<Binner>) {
            first.load();
        }
        if constexpr (reads_range<joint_bins<More...>>) {
            rest.load();
        }
    }

    Binner first;
    joint_bins<More...> rest;
    std::uint32_t bins;
};
template <class Binner>
struct joint_bins<Binner> {
    WARPFOLD_CALLS_ANY
    template <class Point>
    WARPFOLD_HD constexpr std::uint32_t operator()(const Point& x) const {
        return first(x.first);
    }
    template <class F>
    constexpr void each_binner(const F& f) const {
        f(first);
    }
    WARPFOLD_HD void load() requires reads_range<Binner> { first.load(); }

    Binner first;
    std::uint32_t bins;
};
// Throws invalid_argument if there are more than 2^30 bins.
template <class Point, class Bins, class... More>
auto prepare_joint(const Bins& bins, const More&... more) {
    const auto first = prepare(bins, decltype(Point::first){});
    using Binner = std::remove_cv_t<decltype(first)>;
    if constexpr (sizeof...(More) == 0) {
        return joint_bins<Binner>{first, bins.count()};
    } else {
        const auto rest = detail::prepare_joint<decltype(Point::rest)>(more...);
        return [&]<class... Rest>(const joint_bins<Rest...>& others) {
            const std::uint32_t all = checked_bins(std::uint64_t{bins.count()} * others.bins);
            return joint_bins<Binner, Rest...>{first, others, all};
        }(rest);
    }
}

} // namespace warpfold::detail
