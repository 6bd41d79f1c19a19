// SPDX-License-Identifier: MIT
// Histograms by NumPy's rules.
#include <cstdint>

#include "python/src/bin_of.hpp"
#include "python/src/gpu/calls.hpp"
#include "python/src/gpu/device_elements.cuh"
#include "python/src/gpu/for_each.cuh"
#include "warpfold/histogram.cuh"

namespace warpfold::python::on_gpu {

namespace {

// The edges are in device memory.
template <class E>
struct between {
    template <class S>
    WARPFOLD_HD std::int64_t operator()(S sample) const {
        const double width = static_cast<double>(edges[bins]) - static_cast<double>(edges[0]);
        return bin_between(edges, bins, static_cast<double>(bins) / width, static_cast<E>(sample));
    }

    const E* edges;
    std::uint64_t bins;
};

template <class T, class F>
void count(const gpu& on, const T* samples, std::uint64_t n, const F& bin_of, const array& sums) {
    warpfold::histogram(on, samples, n, sums.required<std::uint64_t>(element::int64),
                        function_bins(bin_of, sums.size()));
}

template <class E, class F>
void fill(const gpu& on, const array& samples, const F& bin_of, const array* weights, const array& sums) {
    const contiguous_input<E> from(on, samples);
    const std::uint64_t n = samples.size();
    if (weights == nullptr) {
        count(on, from.data(), n, bin_of, sums);
    } else if (sums.type == element::float64) {
        weighted_histogram(on, from.data(), weights->required<const double>(element::float64), n,
                           sums.required<double>(element::float64), function_bins(bin_of, sums.size()));
    } else {
        // Modulo 2^64.
        weighted_histogram(on, from.data(), weights->required<const std::uint64_t>(element::int64), n,
                           sums.required<std::uint64_t>(element::int64), function_bins(bin_of, sums.size()));
    }
}

template <class E>
void fill_between(const gpu& on, const array& samples, const array& edges, const array* weights, const array& sums) {
    const between<E> bin_of{edges.required<const E>(edges.type), sums.size()};
    if constexpr (std::is_same_v<E, double>) {
        if (const auto* const floats = samples.contiguous<const float>(element::float32); floats && !weights) {
            count(on, floats, samples.size(), bin_of, sums);
            return;
        }
    }
    fill<E>(on, samples, bin_of, weights, sums);
}

template <class E>
struct ranking {
    __device__ void operator()(std::uint64_t k) const { out[k] = rank_between(edges, count, less, samples.load<E>(k)); }

    device_elements samples;
    const E* edges;
    std::uint64_t count;
    bool less;
    std::int64_t* out;
};

template <class E>
struct appending {
    __device__ void operator()(std::uint64_t k) const {
        const std::int64_t place = out[k];
        out[k] =
            place_in_grid(place, place < 0 ? -1 : bin_of(samples.load<E>(k)), static_cast<std::int64_t>(bin_of.bins));
    }

    device_elements samples;
    between<E> bin_of;
    std::int64_t* out;
};

// work(E{}) with the type that samples and edges are compared in.
template <class Work>
void with_edge_type(const array& edges, const Work& work) {
    switch (edges.type) {
    case element::int64: return work(std::int64_t{});
    case element::uint64: return work(std::uint64_t{});
    default: return work(double{});
    }
}

} // namespace

void ranks(const gpu& on, const array& samples, const array& edges, bool less, const array& out) {
    with_edge_type(edges, [&](auto zero) {
        using E = decltype(zero);
        for_each(on, samples.size(),
                 ranking<E>{device_elements(samples), edges.required<const E>(edges.type), edges.size(), less,
                            out.required<std::int64_t>(element::int64)});
    });
}

void append_bins(const gpu& on, const array& samples, const array& edges, const array& out) {
    with_edge_type(edges, [&](auto zero) {
        using E = decltype(zero);
        for_each(on, samples.size(),
                 appending<E>{device_elements(samples),
                              {edges.required<const E>(edges.type), edges.size() - 1},
                              out.required<std::int64_t>(element::int64)});
    });
}

void histogram(const gpu& on, const array& samples, const array& edges, const array* weights, const array& sums) {
    with_edge_type(edges, [&](auto zero) { fill_between<decltype(zero)>(on, samples, edges, weights, sums); });
}

void count_values(const gpu& on, const array& samples, const array* weights, const array& sums) {
    if (weights == nullptr) {
        if (const auto* const bytes = samples.contiguous<const std::uint8_t>(element::uint8)) {
            return count(on, bytes, samples.size(), by_value{}, sums);
        }
        if (const auto* const ints = samples.contiguous<const std::int32_t>(element::int32)) {
            return count(on, ints, samples.size(), by_value{}, sums);
        }
    }
    fill<std::int64_t>(on, samples, by_value{}, weights, sums);
}

} // namespace warpfold::python::on_gpu
