// SPDX-License-Identifier: MIT
// The bins of a histogram: bins of equal width, of a range in the target's memory, between edges, by a function. A sample outside all bins is
// dropped, and so is NaN.
#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>

#include "warpfold/detail/bins/even_bins.hpp"
#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/extremes.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/error.hpp"

namespace warpfold {

// The most bins of one histogram, all channels together.
inline constexpr std::uint64_t most_bins = std::uint64_t{1} << 30;

namespace detail {

inline std::uint32_t checked_bins(std::uint64_t bins, const char* call = "histogram") {
    if (bins == 0 || bins > most_bins) {
        throw invalid_argument(std::string("warpfold: ") + call + ": " + std::to_string(bins) +
                               " bins, and there may be 1 to 2^30");
    }
    return static_cast<std::uint32_t>(bins);
}

} // namespace detail

// `bins` bins of equal width over [lower, upper).
//
// Integer samples and bounds, of any integer types: bin(x) = floor((x - lower) * bins / (upper - lower)), exactly.
//
// Otherwise: bin(x) = min(bins - 1, floor((x - lower) * (bins / (upper - lower)))) for lower <= x < upper. Every
// operation rounds to nearest in one type C, to which x and the bounds are converted first. C is the type of the
// floating-point samples or bounds, the wider one if both are floating-point, and double if the integers of the other
// have more digits than it. The rule is monotone: a larger sample is never in a lower bin. Host and GPU agree on every
// sample. If there are more bins than C has consecutive integers (2^24 for float), only bins whose number is a value of
// C get samples.
template <class T>
requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8) class even_bins {
public:
    // Throws invalid_argument unless lower < upper, both are finite, and `bins` is from 1 to 2^30.
    even_bins(T lower, T upper, std::uint64_t bins) : lower_(lower), last_(upper), bins_(detail::checked_bins(bins)) {
        if (!(lower < upper)) {
            throw invalid_argument("warpfold: histogram: the bins' lower bound is not below the upper one");
        }
        if constexpr (std::is_integral_v<T>) {
            last_ = static_cast<T>(upper - 1);
        } else if (!std::isfinite(lower) || !std::isfinite(upper)) {
            throw invalid_argument("warpfold: histogram: a bound of the bins is not finite");
        }
    }

    // Bins over all values of an integer type, including the largest.
    [[nodiscard]] static even_bins whole_range(std::uint64_t bins) requires std::is_integral_v<T> {
        even_bins all(0, 1, bins);
        all.lower_ = std::numeric_limits<T>::min();
        all.last_ = std::numeric_limits<T>::max();
        return all;
    }

    [[nodiscard]] std::uint32_t count() const noexcept { return bins_; }
    [[nodiscard]] T lower() const noexcept { return lower_; }
    // For integers the last value that has a bin; for floating-point numbers the upper bound.
    [[nodiscard]] T last() const noexcept { return last_; }

private:
    T lower_, last_;
    std::uint32_t bins_;
};

// Bins between edges: bin k is [edges[k], edges[k + 1]). Edges are sorted; equal edges make an empty bin. They are in
// the target's memory until the call has ended. The host throws invalid_argument if they are not sorted; on a GPU the
// bins are unspecified then. Integers of different types are compared by value; otherwise sample and edge are converted
// to their common type.
template <class T>
requires std::is_arithmetic_v<T>
class edge_bins {
public:
    // `edges` counts edges, one more than bins. Throws invalid_argument if there are fewer than 2.
    edge_bins(const T* first, std::uint64_t edges) : edges_(first), bins_(detail::checked_bins(edges - (edges != 0))) {}
    template <class Range>
    requires requires(const Range& r) { std::data(r) + std::size(r); }
    explicit edge_bins(const Range& edges) : edge_bins(std::data(edges), std::size(edges)) {}

    [[nodiscard]] std::uint32_t count() const noexcept { return bins_; }
    [[nodiscard]] const T* edges() const noexcept { return edges_; }

private:
    const T* edges_;
    std::uint32_t bins_;
};
template <class Range>
edge_bins(const Range&) -> edge_bins<std::remove_cvref_t<decltype(*std::data(std::declval<const Range&>()))>>;

// Bins by a function f(sample) -> bin, any integer. A negative result (no_bin), or one that is not below `bins`, drops
// the sample. f depends on the sample alone: for 8-bit samples it is called once per value.
template <class F>
class function_bins {
public:
    function_bins(const F& f, std::uint64_t bins) : f_(f), bins_(detail::checked_bins(bins)) {}

    [[nodiscard]] std::uint32_t count() const noexcept { return bins_; }
    [[nodiscard]] const F& function() const noexcept { return f_; }

private:
    F f_;
    std::uint32_t bins_;
};

template <class F>
function_bins(F, std::uint64_t) -> function_bins<F>;

// `bins` bins of equal width from range->smallest to range->largest, both included, for floating-point samples. `range`
// is in the target's memory and read in the order of the target: min_max(on, in, n, range) may precede the histogram
// without a round trip. Bins are those of even_bins in the wider type of samples and range, except that range->largest is
// in the last bin. If both are equal, samples that equal them are in bin 0. All samples are dropped if the range is
// empty, has a NaN or an infinity, has a width that is no number of the type, or one so small that the bins over it are none.
template <class T>
requires std::is_floating_point_v<T>
class range_bins {
public:
    range_bins(const extremes<T>* range, std::uint64_t bins) : range_(range), bins_(detail::checked_bins(bins)) {}

    [[nodiscard]] std::uint32_t count() const noexcept { return bins_; }
    [[nodiscard]] const extremes<T>* range() const noexcept { return range_; }

private:
    const extremes<T>* range_;
    std::uint32_t bins_;
};

inline constexpr std::int64_t no_bin = -1;

namespace detail {

// prepare(bins, S{}) converts a description to a trivially copyable object that returns the bin of a sample of type S,
// or `outside`.
template <class S, class T>
auto prepare(const even_bins<T>& bins, const S&) {
    if constexpr (std::is_integral_v<S> && std::is_integral_v<T>) {
        return even_integers < S, sizeof(S) == 8 || sizeof(T) == 8 > (bins.lower(), bins.last(), bins.count());
    } else {
        using C = typename even_type<S, T>::type;
        const auto upper =
            std::is_integral_v<T> ? static_cast<C>(static_cast<int128>(bins.last()) + 1) : static_cast<C>(bins.last());
        const C lower = static_cast<C>(bins.lower());
        const C scale = static_cast<C>(bins.count()) / (upper - lower);
        if (!(scale > 0) || !(upper - lower <= std::numeric_limits<C>::max()) ||
            !(scale <= std::numeric_limits<C>::max())) {
            throw invalid_argument("warpfold: histogram: the samples' type has no number for the width of the bins");
        }
        C last = static_cast<C>(bins.count() - 1);
        if (static_cast<double>(last) > bins.count() - 1) { // rounded up
            last = std::nextafter(last, C{0});
        }
        return even_floats<C>{lower, upper, scale, last};
    }
}

template <class T>
struct between_edges {
    static constexpr bool has_edges = true;

    template <class S>
    WARPFOLD_HD constexpr std::uint32_t operator()(const S& x) const {
        std::uint32_t at = 0;
        for (std::uint32_t step = first_step; step != 0; step /= 2) {
            const std::uint32_t beyond = at + step;
            if (beyond <= bins && !below(x, edges[beyond])) {
                at = beyond;
            }
        }
        return at < bins && at_least(x, edges[0]) ? at : outside;
    }

    const T* edges;
    std::uint32_t bins;
    std::uint32_t first_step; // the largest power of two <= bins
};

template <class S, class T>
auto prepare(const edge_bins<T>& bins, const S&) {
    std::uint32_t step = 1;
    while (step <= bins.count() / 2) {
        step *= 2;
    }
    return between_edges<T>{bins.edges(), bins.count(), step};
}

template <class F>
struct by_function {
    WARPFOLD_CALLS_ANY
    template <class S>
    WARPFOLD_HD constexpr std::uint32_t operator()(const S& x) const {
        const auto bin = f(x);
        static_assert(std::is_integral_v<decltype(bin)>, "the function gives the number of a bin, an integer");
        if constexpr (std::is_signed_v<decltype(bin)>) {
            if (bin < 0) {
                return outside;
            }
        }
        return static_cast<std::uint64_t>(bin) < bins ? static_cast<std::uint32_t>(bin) : outside;
    }

    F f;
    std::uint32_t bins;
};

template <class F>
struct user_callable<by_function<F>> : user_callable<F> {};

template <class S, class F>
auto prepare(const function_bins<F>& bins, const S&) {
    return by_function<F>{bins.function(), bins.count()};
}

// Bins that the target completes from its memory by load() before they are used.
template <class Binner>
concept reads_range = requires(Binner& bin) {
    bin.load();
};

template <class T, class C>
struct even_between_extremes {
    static constexpr C most = std::numeric_limits<C>::max(), nan = std::numeric_limits<C>::quiet_NaN();

    WARPFOLD_HD void load() {
        lower = static_cast<C>(range->smallest);
        upper = static_cast<C>(range->largest);
        const C width = upper - lower;
        scale = width > 0 ? quotient(count, width) : C(0);
        if (!(width >= 0 && width <= most && scale <= most)) {
            upper = nan; // no sample is below
        }
    }
    template <class S>
    WARPFOLD_HD constexpr std::uint32_t operator()(const S& sample) const {
        const C x = static_cast<C>(sample);
        const C at = (x - lower) * scale;
        const bool has_bin = x >= lower && x <= upper;
        const C inside = has_bin ? (at < last ? at : last) : C(0);
        const auto bin = static_cast<std::uint32_t>(inside);
        return has_bin ? bin : outside;
    }
    // Rounded to nearest whatever the options of the compiler are.
    WARPFOLD_HD static C quotient(C a, C b) {
#if defined(__CUDA_ARCH__)
        if constexpr (sizeof(C) == 4) {
            return __fdiv_rn(a, b);
        } else {
            return __ddiv_rn(a, b);
        }
#else
        return a / b;
#endif
    }

    const extremes<T>* range;
    C count, last; // the number of bins; the last bin, or the largest number of the type below it
    C lower, upper, scale;
};

template <class S, class T>
auto prepare(const range_bins<T>& bins, const S&) {
    static_assert(std::is_floating_point_v<S>, "the samples of range_bins are floating-point numbers");
    using C = std::common_type_t<S, T>;
    C last = static_cast<C>(bins.count() - 1);
    if (static_cast<double>(last) > bins.count() - 1) { // rounded up
        last = std::nextafter(last, C{0});
    }
    return even_between_extremes<T, C>{bins.range(), static_cast<C>(bins.count()), last, C(0), C(0), C(0)};
}

template <class Bins, class S>
concept bins_for = requires(const Bins& bins, const S& x) {
    { bins.count() } -> std::convertible_to<std::uint32_t>;
    { prepare(bins, x)(x) } -> std::convertible_to<std::uint32_t>;
};

} // namespace detail
} // namespace warpfold
