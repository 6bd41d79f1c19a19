// SPDX-License-Identifier: MIT
// Exact sums of 16-bit numbers in segments, along axes, in accumulators and in bins, against exact_sum of their elements on the
// host, on any target. `Place<T>` is an array of the target's memory: made of a vector and a number of elements to skip, with
// data() and read().
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tests/library/along_axis/axis_cases.hpp"
#include "tests/library/segmented_reduce/segmented_kinds_cases.hpp"
#include "warpfold/exact_accumulator.hpp"
#include "warpfold/exact_histogram.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/exact_sum_along.hpp"
#include "warpfold/segmented_exact_sum.hpp"

namespace warpfold::tests {

// Thirds: 1, half of its last place, and the smallest number, of both signs: rounding twice would lose the last. Then any
// numbers, and near the end infinities and NaN.
template <class H>
std::vector<H> short_summands(std::uint64_t n) {
    const int fraction = detail::ieee<H>::fraction, lowest = detail::ieee<H>::lowest;
    std::mt19937 random(7);
    std::vector<H> data(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        const float third[] = {1, std::ldexp(1.0f, -fraction - 1), std::ldexp(1.0f, lowest)};
        data[k] = k % 6 < 3 ? H(third[k % 3]) : H(-third[k % 3]);
        if (n > 6 && k > n / 3) {
            data[k].bits = static_cast<std::uint16_t>(random());
            const bool special = !std::isfinite(static_cast<float>(data[k]));
            data[k] = special && (k < n - n / 8 || random() % 8 != 0) ? H(0.25f) : data[k];
        }
    }
    return data;
}
template <class H>
H sum_of_places(const std::vector<H>& data, const std::vector<std::uint64_t>& places) {
    std::vector<H> some;
    some.reserve(places.size());
    for (const std::uint64_t k : places) {
        some.push_back(data[k]);
    }
    return exact_sum(host{1}, some);
}

template <class H, template <class> class Place, class On>
void short_exact_segments(const On& on) {
    auto all = segment_kinds();
    all.push_back({"thirds", offsets_of(std::vector<std::uint64_t>(2001, 3))});
    for (const auto& one : all) {
        SCOPED_TRACE(one.name);
        const std::uint64_t segments = one.offsets.size() - 1;
        const auto data = short_summands<H>(one.offsets.back());
        const Place<H> in(data, 1), out(std::vector<H>(segments), 1);
        const Place<std::uint64_t> offsets(one.offsets, 0);
        segmented_exact_sum(on, static_cast<const H*>(in.data()), offsets.data(), segments, out.data());
        const auto got = out.read();
        for (std::uint64_t s = 0; s < segments; ++s) {
            const H right = exact_sum(host{1}, data.data() + one.offsets[s], one.offsets[s + 1] - one.offsets[s]);
            ASSERT_EQ(got[s].bits, right.bits) << s;
        }
    }
    EXPECT_THROW(
        segmented_exact_sum(on, static_cast<const H*>(nullptr), equal_segments{2}, 3, static_cast<H*>(nullptr)),
        invalid_argument);
}

template <class H, template <class> class Place, class On>
void short_exact_axes(const On& on) {
    auto all = small_axis_cases(12, 500, 8);
    all.push_back(make_axis_case({2000, 3}, {1}));
    all.push_back(make_axis_case({2, 20011}, {1})); // results that are calls of exact_sum each
    all.push_back(make_axis_case({20011, 2}, {0}));
    for (const axis_case& one : all) {
        SCOPED_TRACE(one.name());
        const auto data = short_summands<H>(one.room);
        const auto elements = one.elements();
        const Place<H> in(data, 1), out(std::vector<H>(elements.size()), 0);
        exact_sum_along(on, one.view(in.data()), axes{std::span<const int>(one.axes)}, out.data());
        const auto got = out.read();
        for (std::size_t k = 0; k < elements.size(); ++k) {
            ASSERT_EQ(got[k].bits, sum_of_places(data, elements[k]).bits) << k;
        }
    }
}

// Values of all four types, of elements of all types that are not wider.
template <class H, template <class> class Place, class On>
void short_accumulators(const On& on) {
    for (const std::uint64_t n : {0u, 1u, 3u, 1023u, 1024u, 1025u, 20011u}) {
        SCOPED_TRACE(n);
        const auto data = short_summands<H>(n);
        const std::vector<float> wide(data.begin(), data.end());
        const Place<H> in(data, 1);
        const Place<float> wide_in(wide, 1);
        exact_accumulator<H> shorts;
        exact_accumulator<float> singles;
        exact_accumulator<double> doubles;
        shorts.add(on, static_cast<const H*>(in.data()), n);
        EXPECT_EQ(shorts.value().bits, exact_sum(host{1}, data).bits);
        shorts.add(H(0.5f));
        shorts.add(on, static_cast<const float*>(wide_in.data()), n);
        std::vector<H> twice(data);
        twice.insert(twice.end(), data.begin(), data.end());
        twice.push_back(H(0.5f));
        EXPECT_EQ(shorts.value().bits, exact_sum(host{1}, twice).bits);
        singles.add(on, static_cast<const H*>(in.data()), n);
        EXPECT_TRUE(same_bits(singles.value(), exact_sum(host{1}, wide)));
        doubles.add(on, static_cast<const float*>(wide_in.data()), n);
        EXPECT_TRUE(same_bits(doubles.value(), exact_sum(host{1}, std::vector<double>(wide.begin(), wide.end()))));
    }
}

// Bins of one sample in `bins`, whose sums were 7.
template <class H, class Sum, template <class> class Place, class On>
void short_weights_as(const On& on, std::uint64_t n, std::uint32_t bins) {
    SCOPED_TRACE(n);
    const auto weights = short_summands<H>(n);
    std::vector<std::uint32_t> samples(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        samples[k] = static_cast<std::uint32_t>(k / 3 % bins);
    }
    const even_bins<std::uint32_t> of(0, bins, bins);
    const Place<std::uint32_t> in(samples, 1);
    const Place<H> of_samples(weights, 1);
    for (const update mode : {update::overwrite, update::add}) {
        const Place<Sum> sums(std::vector<Sum>(bins, Sum(7.0f)), 0);
        exact_weighted_histogram(on, in.data(), static_cast<const H*>(of_samples.data()), n, sums.data(), of, mode);
        const auto got = sums.read();
        for (std::uint32_t b = 0; b < bins; ++b) {
            std::vector<Sum> of_bin;
            if (mode == update::add) {
                of_bin.push_back(Sum(7.0f));
            }
            for (std::uint64_t k = 0; k < n; ++k) {
                if (samples[k] == b) {
                    of_bin.push_back(Sum(static_cast<float>(weights[k])));
                }
            }
            ASSERT_TRUE(same_bits(got[b], exact_sum(host{1}, of_bin))) << b;
        }
    }
}
template <class H, template <class> class Place, class On>
void short_weights(const On& on) {
    for (const std::uint64_t n : {0u, 1u, 3u, 1023u, 4099u}) {
        short_weights_as<H, H, Place>(on, n, 13);
        short_weights_as<H, float, Place>(on, n, 13);
        short_weights_as<H, double, Place>(on, n, 13);
    }
    // The histogram that is not exact, of whole numbers.
    std::vector<H> weights;
    std::vector<std::uint32_t> samples;
    std::vector<float> right(5);
    std::vector<std::int32_t> right_integers(5);
    for (std::uint32_t k = 0; k < 4099; ++k) {
        samples.push_back(k % 5);
        weights.push_back(H(static_cast<float>(k % 16)));
        right[k % 5] += static_cast<float>(k % 16);
        right_integers[k % 5] += static_cast<std::int32_t>(k % 16);
    }
    const even_bins<std::uint32_t> of(0, 5, 5);
    const Place<std::uint32_t> in(samples, 0);
    const Place<H> of_samples(weights, 1);
    const Place<float> sums(std::vector<float>(5), 0);
    const Place<std::int32_t> integers(std::vector<std::int32_t>(5), 0);
    weighted_histogram(on, in.data(), static_cast<const H*>(of_samples.data()), samples.size(), sums.data(), of);
    weighted_histogram(on, in.data(), static_cast<const H*>(of_samples.data()), samples.size(), integers.data(), of);
    EXPECT_EQ(sums.read(), right);
    EXPECT_EQ(integers.read(), right_integers);
    EXPECT_THROW(weighted_histogram(on, in.data(), static_cast<const H*>(nullptr), 3, sums.data(), of),
                 invalid_argument);
}

} // namespace warpfold::tests
