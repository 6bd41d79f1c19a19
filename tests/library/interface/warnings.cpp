// SPDX-License-Identifier: MIT
// Every call once, compiled with warnings that the library's users may have turned on: nothing here runs.
#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include "warpfold/along_axis.hpp"
#include "warpfold/by_key.hpp"
#include "warpfold/chunked.hpp"
#include "warpfold/convolve.hpp"
#include "warpfold/exact_accumulator.hpp"
#include "warpfold/exact_histogram.hpp"
#include "warpfold/exact_moments.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/exact_sum_along.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/ranks.hpp"
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

template <class T>
void folds(const std::vector<T>& in, std::vector<T>& out) {
    const host on;
    const std::uint64_t n = in.size();
    const auto weighed = [](T x, std::uint64_t k) { return static_cast<double>(x) * static_cast<double>(k); };
    auto total = reduce(on, in);
    reduce(on, in.data(), n, &total, product{}, total);
    out = {reduce(on, in, std::plus<>{}), reduce(on, in, std::logical_and<>{}, T(1)), reduce(on, in, larger<T>, T(0))};
    out = {arg_min(on, in).value, arg_max(on, in).value, min_max(on, in).largest, reduce(on, in, minimum{})};
    out.push_back(static_cast<T>(transform_reduce(on, in, weighed, maximum{}, 0.0)));
    out.push_back(static_cast<T>(count_if(on, in, above_one<T>)));

    const bool flags[3] = {};
    const std::array<std::uint32_t, 3> begins{};
    inclusive_scan(on, in, out);
    exclusive_scan(on, in, out, maximum{}, T(1), reversed, heads(flags + 0));
    transform_exclusive_scan(on, in, out, weighed, sum{}, offsets(begins.data(), 3));
    inclusive_scan(on, in, out, larger<T>);
    std::uint32_t number = 0;
    number = static_cast<std::uint32_t>(select(on, in, out, above_one<T>) + unique(on, in, out));
    select(on, in.data(), count_at(&number, n), out, out.data(), where(flags, std::logical_not<>{}));
    reduce(on, in.data(), count_at(&number, n), &total);
    inclusive_scan(on, in.data(), count_at(&number, n), out);
    partition(on, in, out, out, &number, where(flags));
    reduce_by_key(on, in, in, out, out, &number, larger<T>);
    run_length_encode(on, in, out, out, &number);
    exclusive_scan_by_key(on, in, in, out, maximum{}, equals{}, T(1), reversed);
    segmented_reduce(on, in, begins, out, larger<T>, T(0));
    segmented_reduce(on, in.data(), equal_segments{3}, 2, &total);
    located<T> places[2];
    extremes<T> both[2];
    segmented_arg_min(on, in, begins, places);
    segmented_min_max(on, in, begins, both);
    double most[2];
    segmented_transform_reduce(on, in.data(), begins.data(), 2, &most[0], weighed, maximum{}, 0.0);

    chunked_inclusive_scan(on, in, out);
    chunked_exclusive_scan(on, file_source<T>("x"), file_sink<T>("y"), maximum{}, T(1), reversed);
    chunked_inclusive_scan(on, descriptor_source<T>(0), to_function<T>([](const T*, std::uint64_t) {}), larger<T>);
    auto nothing = from_function<T>([](T*, std::uint64_t) { return 0; });
    out.push_back(static_cast<T>(chunked_transform_reduce(on, nothing, weighed)));
    out = {static_cast<T>(chunked_reduce(on, in)), chunked_arg_min(on, in).value, chunked_min_max(on, in).smallest,
           static_cast<T>(chunked_count_if(on, in, above_one<T>))};
}

template <class T>
void along_axes(const T* in) {
    const host on;
    const strided_view<const T> view(in, {2, 3});
    std::vector<accumulator_t<sum, T>> all(6);
    std::vector<located<T>> places(3);
    accumulator_t<sum, T>* const sums = all.data();
    extremes<T> both{};
    reduce_along(on, view, {0}, sums);
    reduce_along(on, view, {0}, sums, larger<accumulator_t<sum, T>>, accumulator_t<sum, T>{});
    arg_min_along(on, view, {0}, places.data());
    min_max_along(on, view, axes::all(), &both);
    inclusive_scan_along(on, view, -1, strided_view<accumulator_t<sum, T>>(sums, {2, 3}));
    if constexpr (std::is_same_v<T, float>) {
        exact_sum_along(on, view, {0}, sums);
    }
}

// Outputs narrower than the results, or of the other signedness.
template <class T, class R>
void converted_results(const std::vector<T>& in) {
    const host on;
    const auto weighed = [](T x) { return static_cast<double>(x) * 2; };
    const strided_view<const T> view(in.data(), {2, 3});
    R results[6] = {};
    reduce(on, in, &results[0]);
    transform_reduce(on, in, &results[0], weighed);
    count_if(on, in, &results[0], above_one<T>);
    segmented_reduce(on, in.data(), equal_segments{3}, 2, results);
    segmented_transform_reduce(on, in.data(), equal_segments{3}, 2, results, weighed, maximum{}, 0.0);
    reduce_along(on, view, {0}, &results[0]);
    transform_reduce_along(on, view, {1}, &results[0], weighed);
    inclusive_scan(on, in, results);
    inclusive_scan(on, in, results, maximum{});
    inclusive_scan_along(on, view, 0, &results[0]);
    inclusive_scan_along(on, view, 1, &results[0], maximum{});
}

template <class T>
void histograms(const std::vector<T>& in) {
    const host on;
    std::array<std::uint32_t, 4> counts{};
    std::vector<double> sums(4);
    const std::array edges{T(0), T(1), T(2), T(3), T(4)};
    histogram(on, in, counts, even_bins(0, 100, 4));
    histogram(on, in, counts, even_bins<T>(T(0), T(100), 4), update::add);
    histogram(on, in, counts, even_bins(0.0, 1.0, 4));
    histogram(on, in, counts, function_bins([](T x) { return T(1) < x ? 1 : -1; }, 4));
    (void)histogram(on, in, edge_bins(edges));
    weighted_histogram(on, in, in, sums, even_bins(0, 100, 4));
    if constexpr (std::is_floating_point_v<T>) {
        exact_weighted_histogram(on, in, in, sums, even_bins(0, 100, 4), update::add);
    }
    histogram_nd(on, std::tuple{in.data(), in.data()}, in.size(), counts,
                 std::tuple{even_bins(0, 9, 2), edge_bins(edges)});
    if constexpr (std::is_floating_point_v<T>) {
        const extremes<T> range = min_max(on, in);
        histogram(on, in, counts, range_bins(&range, 4));
        histogram(on, in, counts, edge_bins(log_edges(T(1), T(9), 4)));
    }
    histogram_channels<3>(on, in, counts, std::array{even_bins(0, 10, 2), even_bins(0, 10, 2)});
    (void)chunked_histogram(on, in, even_bins(0, 10, 10));
}

template <class T>
void exact_sums(const std::vector<T>& in) {
    const host on;
    T value{};
    exact_sum(on, in, &value);
    exact_variance(on, in, &value, ddof{1});
    value = exact_mean(on, in) + exact_variance(on, in) + exact_norm(on, in);
    (void)exact_sum(on, std::vector<half>(3));
    value = exact_variance(on, std::vector<std::complex<T>>(3));
    (void)exact_dot(on, in, std::vector<double>(in.size()));
    segmented_exact_sum(on, in.data(), equal_segments{2}, 1, &value);
    exact_accumulator<T> all;
    all.add(exact_dot(on, in, in) + chunked_exact_sum(on, in));
    all.add(on, in);
    all.add(all);
    value = all.value();
}

template <class T, class O, class M>
void convolutions(const T* in, const M* mask, O* out) {
    const host on;
    convolve(on, in, 10, mask, 3, out, {border::mirror, outputs::same});
    correlate(on, image{in, 4, 4}, image{mask, 3, 3}, image{out, 4, 4}, {border::wrap});
    convolve_separable(on, image{in, 4, 4}, mask, 3, mask, 7, image{out, 4, 4});
}

} // namespace

void calls_under_warnings() {
    std::vector<unsigned char> bytes;
    std::vector<int> ints;
    std::vector<float> floats;
    std::vector<double> doubles;
    std::vector<half> halves;
    folds(bytes, bytes);
    folds(ints, ints);
    folds(floats, floats);
    converted_results<std::uint32_t, std::uint32_t>({});
    converted_results<std::int64_t, std::uint8_t>({});
    converted_results<double, float>({});
    converted_results<float, std::int32_t>({});
    along_axes(bytes.data());
    along_axes(floats.data());
    histograms(bytes);
    histograms(ints);
    histograms(doubles);
    exact_sums(floats);
    exact_sums(doubles);
    convolutions(floats.data(), floats.data(), floats.data());
    convolutions(doubles.data(), floats.data(), bytes.data());
    convolutions(halves.data(), doubles.data(), floats.data());
}
