// SPDX-License-Identifier: MIT
// Iterators that are no pointers, whose index has a sign, under the warnings of warnings.cpp: nothing here runs.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <tuple>
#include <vector>

#include "warpfold/along_axis.hpp"
#include "warpfold/by_key.hpp"
#include "warpfold/convolve.hpp"
#include "warpfold/exact_accumulator.hpp"
#include "warpfold/exact_histogram.hpp"
#include "warpfold/exact_moments.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"
#include "warpfold/segmented_exact_sum.hpp"
#include "warpfold/segmented_reduce.hpp"
#include "warpfold/select.hpp"

namespace {

using namespace warpfold;

template <class T>
T larger(T a, T b) {
    return a < b ? b : a;
}
template <class T>
bool above_one(T x) {
    return T(1) < x;
}
template <class T, class In, class Out>
void iterators(const In& in, std::uint64_t n, const Out& out) {
    const host on;
    const auto weighed = [](T x, std::uint64_t k) { return static_cast<double>(x) * static_cast<double>(k); };
    const std::deque<std::uint32_t> bounds(3);
    const auto offsets = bounds.begin();
    const std::deque<bool> flags(6);
    T total = reduce(on, in, n, std::plus<>{});
    reduce(on, in, n, &total, larger<T>, T(0));
    total = arg_min(on, in, n).value;
    total = min_max(on, in, n).largest;
    total = reduce(on, in, n, minimum{});
    (void)transform_reduce(on, in, n, weighed, maximum{}, 0.0);
    (void)count_if(on, in, n, above_one<T>);
    inclusive_scan(on, in, n, out);
    exclusive_scan(on, in, n, out, maximum{}, T(1), reversed);
    inclusive_scan(on, in, n, out, larger<T>);
    transform_exclusive_scan(on, in, n, out, weighed, sum{}, heads(flags.begin()));
    inclusive_scan(on, in, n, out, sum{}, warpfold::offsets(offsets, 2));
    std::uint64_t count = select(on, in, n, out, above_one<T>) + unique(on, in, n, out);
    partition(on, in, n, out, out, &count, where(flags.begin()));
    reduce_by_key(on, in, n, in, out, out, &count, larger<T>);
    run_length_encode(on, in, n, out, out, &count);
    exclusive_scan_by_key(on, in, n, in, out, maximum{}, equals{}, T(1), reversed);
    segmented_reduce(on, in, equal_segments{3}, 2, out);
    segmented_reduce(on, in, offsets, 2, out, larger<T>, T(0));
    located<T> places[2];
    extremes<T> both[2];
    segmented_arg_min(on, in, equal_segments{3}, 2, places);
    segmented_min_max(on, in, equal_segments{3}, 2, both);
    std::uint32_t counts[4];
    double sums[4];
    histogram(on, in, n, counts, even_bins<T>(T(0), T(100), 4));
    weighted_histogram(on, in, in, n, sums, even_bins(0, 100, 4));
    histogram_nd(on, std::tuple{in, in}, n, counts, std::tuple{even_bins(0, 9, 2), even_bins(0, 9, 2)});
    if constexpr (std::is_floating_point_v<T>) {
        exact_weighted_histogram(on, in, in, n, sums, even_bins(0, 100, 4));
        total = static_cast<T>(exact_sum(on, in, n) + exact_dot(on, in, in, n) + exact_mean(on, in, n) +
                               exact_variance(on, in, n) + exact_norm(on, in, n));
        segmented_exact_sum(on, in, equal_segments{2}, 1, out);
        exact_accumulator<T> all;
        all.add(on, in, n);
    }
}
// As transform_iterator of Boost.
template <class T>
struct doubled {
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = T;
    T operator*() const { return *at; }
    T operator[](std::ptrdiff_t k) const { return static_cast<T>(at[k] + at[k]); }
    const T* at;
};
template <class T>
void kinds() {
    std::deque<T> numbers(6), results(6);
    std::vector<T> v(6);
    iterators<T>(numbers.begin(), 6, results.begin());
    iterators<T>(v.rbegin(), 6, results.begin());
    iterators<T>(doubled<T>{v.data()}, 6, v.data());
    iterators<T>(v.begin(), 6, results.rbegin());
}
} // namespace

void iterators_under_warnings() {
    kinds<float>();
    kinds<unsigned char>();
}
