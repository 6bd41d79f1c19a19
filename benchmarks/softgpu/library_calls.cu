// SPDX-License-Identifier: MIT
// Calls of the library as benchmarks/library/ times them, with the same names, data, workspaces and cycles of memory: for
// measure/pages/model_calls.py, which runs them on the software GPU and predicts them.
//
// A line of output a row: what, type, n, fills of a call, 1 if its kernels are launched with PDL (pdl_launch()).
// Launches of a row: calls on one memory after the other, `mark`, a call on the memory that was used longest ago, `mark`,
// the same call again, `mark`.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/softgpu/call_rows.cuh"
#include "warpfold/along_axis.cuh"
#include "warpfold/by_key.cuh"
#include "warpfold/convolve.cuh"
#include "warpfold/exact_histogram.cuh"
#include "warpfold/exact_sum.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/segmented_reduce.cuh"
#include "warpfold/select.cuh"

using namespace warpfold;

namespace {

// -1, 0 and 1 in an order without pattern.
template <class T>
struct small_numbers {
    __device__ T operator()(std::uint64_t k) const {
        return static_cast<T>(static_cast<int>((k * 0x9E3779B97F4A7C15ull >> 40) % 3) - 1);
    }
};

struct add_in_order {
    template <class A>
    __host__ __device__ static constexpr A identity() {
        return A{};
    }
    template <class A>
    __host__ __device__ A operator()(const A& a, const A& b) const {
        return a + b;
    }
};

// Calls of n elements to one result.
template <class T, class R, class Call>
void fold(rows& in, const char* what, const char* type, const std::vector<unsigned>& exponents, const Call& call) {
    const measure::device_memory out(256);
    for (const unsigned e : exponents) {
        const std::uint64_t n = power(e);
        in.begin(n * sizeof(T));
        in.fill_each<T>(n, small_numbers<T>{});
        in.row(what, type, n, [&](unsigned k) { call(in.at<T>(k), n, static_cast<R*>(out.data())); });
    }
}

void reductions() {
    rows in(64, power(20), launches::pdl);
    const auto sum = [&](auto* data, std::uint64_t n, auto* out) { reduce(in.on(), data, n, out); };
    const auto ordered = [&](auto* data, std::uint64_t n, auto* out) { reduce(in.on(), data, n, out, add_in_order{}); };
    fold<std::int32_t, accumulator_t<warpfold::sum, std::int32_t>>(in, "sum", "i32", {16, 20, 22, 24}, sum);
    fold<float, accumulator_t<warpfold::sum, float>>(in, "sum", "f32", {10, 16, 20, 22, 24}, sum);
    fold<double, accumulator_t<warpfold::sum, double>>(in, "sum", "f64", {20, 22}, sum);
    fold<std::uint8_t, accumulator_t<warpfold::sum, std::uint8_t>>(in, "sum", "u8", {20, 24}, sum);
    fold<std::int32_t, std::int32_t>(in, "in order", "i32", {16, 20, 24}, ordered);
    fold<float, float>(in, "max", "f32", {20, 24},
                       [&](auto* data, std::uint64_t n, auto* out) { reduce(in.on(), data, n, out, maximum{}); });
    fold<float, located<float>>(in, "arg_max", "f32", {20},
                                [&](auto* data, std::uint64_t n, auto* out) { arg_max(in.on(), data, n, out); });
    fold<float, extremes<float>>(in, "min_max", "f32", {20},
                                 [&](auto* data, std::uint64_t n, auto* out) { min_max(in.on(), data, n, out); });
}

template <class T>
void scans_of(rows& in, const char* type, const std::vector<unsigned>& exponents) {
    for (const unsigned e : exponents) {
        const std::uint64_t n = power(e);
        in.begin(2 * rounded(n * sizeof(T)));
        in.fill_each<T>(n, small_numbers<T>{});
        in.row("exclusive_scan", type, n,
               [&](unsigned k) { exclusive_scan(in.on(), in.at<const T>(k), n, in.at<T>(k, rounded(n * sizeof(T)))); });
    }
}

void scans() {
    rows in(64, power(24), launches::pdl);
    scans_of<std::int32_t>(in, "i32", {10, 14, 16, 18, 20, 22, 24});
    scans_of<double>(in, "f64", {16, 20});
    scans_of<std::uint8_t>(in, "u8", {20, 24});
}

template <class T>
void histograms_of(rows& in, const char* type, unsigned bins, const std::vector<unsigned>& exponents) {
    const measure::device_memory out(bins * sizeof(unsigned));
    for (const unsigned e : exponents) {
        const std::uint64_t n = power(e);
        in.begin(n * sizeof(T));
        in.fill_each<T>(n, [bins] __device__(std::uint64_t k) { return static_cast<T>(random_below(k, bins)); });
        in.row(std::to_string(bins) + " bins uniform", type, n, [&](unsigned k) {
            histogram(in.on(), in.at<const T>(k), n, static_cast<unsigned*>(out.data()),
                      even_bins<int>(0, static_cast<int>(bins), bins));
        });
    }
}

void histograms() {
    rows in(64, histogram_workspace(power(28), 1u << 24), launches::plain);
    histograms_of<std::uint8_t>(in, "u8", 256, {16, 20, 24});
    histograms_of<std::int32_t>(in, "i32", 256, {16, 20, 24});
    histograms_of<std::int32_t>(in, "i32", 2048, {16, 20, 24});
    histograms_of<std::int32_t>(in, "i32", 16384, {20});
    histograms_of<std::int32_t>(in, "i32", 65536, {16, 20});
}

void weighted_histograms() {
    constexpr std::uint64_t n = power(20);
    for (const unsigned bins : {64u, 2048u}) {
        rows in(32, std::max(exact_histogram_workspace<float>(bins), histogram_workspace()), launches::plain);
        const measure::device_memory out(bins * sizeof(float));
        in.begin(n * sizeof(float));
        in.fill_each<float>(n,
                            [] __device__(std::uint64_t k) { return static_cast<float>(mixed(k) >> 40) * 0x1p-24f; });
        in.row(std::to_string(bins) + " bins, exact weights (peer: ours, not exact)", "f32", n, [&](unsigned k) {
            exact_weighted_histogram(in.on(), in.at<const float>(k), in.at<const float>(k), n,
                                     static_cast<float*>(out.data()), even_bins<float>(0, 1, bins));
        });
    }
}

void segments(unsigned e, std::uint64_t length) {
    rows in(32, power(20), launches::pdl);
    const std::uint64_t n = power(e), count = n / length;
    const std::uint64_t offsets = rounded(n * sizeof(float)),
                        out = offsets + rounded((count + 1) * sizeof(std::int32_t));
    in.begin(out + count * sizeof(float));
    in.fill_each<float>(n, small_numbers<float>{});
    in.fill_each<std::int32_t>(
        count + 1, [length] __device__(std::uint64_t k) { return static_cast<std::int32_t>(k * length); }, offsets);
    in.row("segments of " + std::to_string(length), "f32", n, [&](unsigned k) {
        segmented_reduce(in.on(), in.at<const float>(k), in.at<const std::int32_t>(k, offsets), count,
                         in.at<float>(k, out));
    });
    in.row("equal segments of " + std::to_string(length), "f32", n, [&](unsigned k) {
        segmented_reduce(in.on(), in.at<const float>(k), equal_segments{length}, count, in.at<float>(k, out));
    });
}

void all_segments() {
    segments(16, 64);
    for (const std::uint64_t length : {1, 16, 64, 1024}) {
        segments(20, length);
    }
    segments(24, 64);
}

struct below {
    __host__ __device__ bool operator()(std::uint32_t x) const { return x < limit; }
    std::uint32_t limit;
};

void selections(rows& in, unsigned e) {
    using T = std::uint32_t;
    const std::uint64_t n = power(e), flags = rounded(n * sizeof(T)), out = flags + rounded(n), end = out + flags;
    const measure::device_memory count(256), rejected(n * sizeof(T));
    const auto counts = static_cast<T*>(count.data());
    const below test{0x7fffffff};
    in.begin(end);
    in.fill_each<T>(n, [] __device__(std::uint64_t k) { return static_cast<T>(mixed(k) >> 32); });
    in.fill_each<unsigned char>(
        n,
        [test] __device__(std::uint64_t k) { return static_cast<unsigned char>(test(static_cast<T>(mixed(k) >> 32))); },
        flags);
    in.row("select 50 %", "u32", n,
           [&](unsigned k) { select(in.on(), in.at<T>(k), n, in.at<T>(k, out), counts, test); });
    in.row("select by flags 50 %", "u32", n, [&](unsigned k) {
        select(in.on(), in.at<T>(k), n, in.at<T>(k, out), counts, where(in.at<unsigned char>(k, flags)));
    });
    in.row("partition 50 %", "u32", n, [&](unsigned k) {
        partition(in.on(), in.at<T>(k), n, in.at<T>(k, out), static_cast<T*>(rejected.data()), counts, test);
    });
}

// Keys in runs of about 50.
void keyed(rows& in, unsigned e) {
    using T = std::uint32_t;
    const std::uint64_t n = power(e), each = rounded(n * sizeof(T));
    const measure::device_memory count(256);
    const auto counts = static_cast<T*>(count.data());
    in.begin(4 * each);
    const auto array = [&](unsigned k, unsigned which) { return in.at<T>(k, which * each); };
    in.fill_each<T>(n, [] __device__(std::uint64_t k) { return static_cast<T>(mixed(k / 50)); });
    in.fill_each<T>(
        n, [] __device__(std::uint64_t k) { return static_cast<T>(mixed(k)); }, each);
    in.row("unique, runs of 50", "u32", n, [&](unsigned k) { unique(in.on(), array(k, 0), n, array(k, 2), counts); });
    in.row("run_length_encode, runs of 50", "u32", n,
           [&](unsigned k) { run_length_encode(in.on(), array(k, 0), n, array(k, 2), array(k, 3), counts); });
    in.row("reduce_by_key, runs of 50", "u32", n,
           [&](unsigned k) { reduce_by_key(in.on(), array(k, 0), n, array(k, 1), array(k, 2), array(k, 3), counts); });
    in.row("inclusive_scan_by_key, runs of 50", "u32", n,
           [&](unsigned k) { inclusive_scan_by_key(in.on(), array(k, 0), n, array(k, 1), array(k, 2)); });
}

void compactions() {
    rows in(32, power(24), launches::pdl);
    for (const unsigned e : {16u, 20u, 24u}) {
        selections(in, e);
    }
    keyed(in, 16);
    keyed(in, 20);
}

// In [-1, 1).
template <class T>
struct even_numbers {
    __device__ T operator()(std::uint64_t k) const {
        return static_cast<T>(static_cast<double>(static_cast<std::int64_t>(mixed(k))) * 0x1p-63);
    }
};

template <class T>
void exact_sums_of(rows& in, const char* type, const std::vector<unsigned>& exponents) {
    const measure::device_memory out(256);
    const auto result = static_cast<T*>(out.data());
    for (const unsigned e : exponents) {
        const std::uint64_t n = power(e);
        in.begin(n * sizeof(T));
        in.fill_each<T>(n, even_numbers<T>{});
        in.row("exact_sum", type, n, [&](unsigned k) { exact_sum(in.on(), in.at<const T>(k), n, result); });
        if (e == 20) {
            in.row("exact_dot", type, n / 2, [&](unsigned k) {
                exact_dot(in.on(), in.at<const T>(k), in.at<const T>(k) + n / 2, n / 2, result);
            });
        }
    }
}

void exact_sums() {
    rows in(64, power(20), launches::pdl);
    exact_sums_of<float>(in, "f32", {10, 16, 20, 22, 24});
    exact_sums_of<double>(in, "f64", {16, 20});
}

std::vector<float> mask_of(std::uint64_t k) {
    std::vector<float> mask(k);
    for (std::uint64_t j = 0; j < k; ++j) {
        mask[j] = static_cast<float>(static_cast<int>(j * 7 % 5) - 2) * 0.125f;
    }
    return mask;
}

void convolutions() {
    rows in(16, 272 * power(20), launches::plain);
    const auto begin = [&](std::uint64_t n) {
        in.begin(2 * n * sizeof(float));
        in.fill_each<float>(n, [] __device__(std::uint64_t k) { return static_cast<float>(mixed(k) >> 56); });
    };
    const std::vector<float> nine = mask_of(9), square = mask_of(25), half = mask_of(15);
    for (const unsigned e : {12u, 16u, 20u, 22u, 24u}) {
        const std::uint64_t n = power(e);
        begin(n);
        in.row("1d 9", "f32", n, [&](unsigned k) {
            correlate(in.on(), in.at<const float>(k), n, nine.data(), std::uint64_t{9}, in.at<float>(k) + n);
        });
    }
    for (const std::uint64_t side : {256, 1024, 2048}) {
        const std::uint64_t n = side * side;
        begin(n);
        in.row("2d 5", "f32", n, [&](unsigned k) {
            correlate(in.on(), image{in.at<const float>(k), side, side},
                      image{square.data(), std::uint64_t{5}, std::uint64_t{5}}, image{in.at<float>(k) + n, side, side});
        });
        in.row("separable 15", "f32", n, [&](unsigned k) {
            correlate_separable(in.on(), image{in.at<const float>(k), side, side}, half.data(), std::uint64_t{15},
                                half.data(), std::uint64_t{15}, image{in.at<float>(k) + n, side, side});
        });
    }
}

// An array (outer, along, inner), by the second axis.
void axis(rows& in, const std::string& name, std::uint64_t outer, std::uint64_t along, std::uint64_t inner) {
    const std::uint64_t n = outer * along * inner, each = rounded(n * sizeof(float));
    in.begin(2 * each);
    in.fill_each<float>(n, small_numbers<float>{});
    const auto view = [&](unsigned k) { return strided_view<const float>(in.at<float>(k), {outer, along, inner}); };
    in.row("sum of " + name, "f32", n, [&](unsigned k) { reduce_along(in.on(), view(k), {1}, in.at<float>(k, each)); });
    in.row("inclusive_scan of " + name, "f32", n,
           [&](unsigned k) { inclusive_scan_along(in.on(), view(k), 1, in.at<float>(k, each)); });
}

void axes() {
    rows in(32, power(26), launches::pdl);
    axis(in, "rows, 65536 x 16", 65536, 16, 1);
    axis(in, "rows, 16384 x 64", 16384, 64, 1);
    axis(in, "columns, 64 x 16384", 1, 64, 16384);
    axis(in, "rows, 1024 x 1024", 1024, 1024, 1);
    axis(in, "columns, 1024 x 1024 (alone)", 1, 1024, 1024);
    axis(in, "middle axis, 256 x 16 x 256", 256, 16, 256);
}

struct subject {
    const char* name;
    void (*calls)();
};
constexpr subject subjects[] = {
    {"reduce", reductions},      {"scan", scans},          {"histogram", histograms}, {"weighted", weighted_histograms},
    {"segmented", all_segments}, {"compact", compactions}, {"exact-sum", exact_sums}, {"convolve", convolutions},
    {"along-axis", axes}};

} // namespace

// library_calls [SUBJECT]
int main(int count, char** words) {
    try {
        for (const subject& s : subjects) {
            if (count < 2 || std::string_view(words[1]) == s.name) {
                s.calls();
            }
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
