// SPDX-License-Identifier: MIT
// Every primitive over ranks against the host's call on the whole array. Each rank runs these; arrays of its target's
// memory are an Array<T>, as tests::on_device.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/cases.hpp"
#include "tests/many/split.hpp"
#include "warpfold/convolve.hpp"
#include "warpfold/exact_moments.hpp"
#include "warpfold/exact_sum.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/ranks.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold::tests {

// An array of the host, with the interface of on_device.
template <class T>
struct on_host {
    explicit on_host(const std::vector<T>& of) : elements(of.size() + 1) {
        std::copy(of.begin(), of.end(), elements.data());
    }
    [[nodiscard]] T* data() { return elements.data(); }
    [[nodiscard]] std::vector<T> read() const { return {elements.begin(), elements.end() - 1}; }

    std::vector<T> elements; // one more: not null where there are none
};

// Integers, their places, and an operation that neither commutes nor has an identity.
template <template <class> class Array, class On>
void check_reductions(const On& on, const std::vector<std::uint64_t>& split, unsigned seed) {
    const int rank = on.comm->rank();
    const std::uint64_t n = split.back();
    const auto whole = small_numbers<std::int32_t>(n, seed);
    Array<std::int32_t> mine(part_of(whole, split, rank));
    const std::uint64_t count = part_of(whole, split, rank).size();
    EXPECT_EQ(reduce(on, mine.data(), count), reduce(host{1}, whole));
    EXPECT_EQ(reduce(on, mine.data(), count, maximum{}), reduce(host{1}, whole, maximum{}));
    EXPECT_EQ(transform_reduce(on, mine.data(), count, times_index{}),
              transform_reduce(host{1}, whole.data(), n, times_index{}));
    EXPECT_EQ(count_if(on, mine.data(), count, is_multiple_of_three{}),
              count_if(host{1}, whole.data(), n, is_multiple_of_three{}));
    if (n != 0) {
        const auto least = arg_min(on, mine.data(), count), expected = arg_min(host{1}, whole);
        EXPECT_EQ(least.index, expected.index);
        EXPECT_EQ(least.value, expected.value);
        EXPECT_EQ(min_max(on, mine.data(), count).largest, min_max(host{1}, whole).largest);
    } else {
        EXPECT_THROW((void)arg_min(on, mine.data(), count), invalid_argument);
        EXPECT_THROW((void)min_max(on, mine.data(), count), invalid_argument);
    }
    std::vector<affine> maps(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        maps[k] = {static_cast<std::uint32_t>(2 * k + seed * 4 + 1), static_cast<std::uint32_t>(k)};
    }
    Array<affine> my_maps(part_of(maps, split, rank));
    Array<affine> out(std::vector<affine>(1, affine{7, 7}));
    const int root = static_cast<int>(seed % static_cast<unsigned>(on.comm->size()));
    reduce(on.at_root(root), my_maps.data(), count, out.data(), then{}, affine{3, 5});
    const affine expected = rank == root ? reduce(host{1}, maps, then{}, affine{3, 5}) : affine{7, 7};
    EXPECT_EQ(out.read()[0], expected);
}

// A NaN and signed zeros at random places.
template <template <class> class Array, class On>
void check_floats(const On& on, const std::vector<std::uint64_t>& split, unsigned seed) {
    const int rank = on.comm->rank();
    auto whole = any_numbers<double>(split.back(), seed);
    for (double& x : whole) {
        x = seed % 2 == 0 ? std::ldexp(std::frexp(x, std::array<int, 1>{}.data()), 30) : x;
    }
    if (seed % 3 == 0 && !whole.empty()) {
        whole[seed % whole.size()] = std::numeric_limits<double>::quiet_NaN();
        whole[(seed * 7) % whole.size()] = -0.0;
    }
    Array<double> mine(part_of(whole, split, rank));
    const std::uint64_t count = part_of(whole, split, rank).size();
    EXPECT_TRUE(same_bits(exact_sum(on, mine.data(), count), exact_sum(host{1}, whole)));
    EXPECT_TRUE(same_bits(exact_dot(on, mine.data(), mine.data(), count), exact_dot(host{1}, whole, whole)));
    EXPECT_TRUE(same_bits(exact_mean(on, mine.data(), count), exact_mean(host{1}, whole)));
    EXPECT_TRUE(same_bits(exact_variance(on, mine.data(), count, ddof{1}), exact_variance(host{1}, whole, ddof{1})));
    EXPECT_TRUE(same_bits(exact_norm(on, mine.data(), count), exact_norm(host{1}, whole)));
    std::vector<std::complex<double>> pairs(whole.size());
    for (std::size_t k = 0; k < whole.size(); ++k) {
        pairs[k] = {whole[k], whole[whole.size() - 1 - k]};
    }
    Array<std::complex<double>> my_pairs(part_of(pairs, split, rank));
    EXPECT_TRUE(same_bits(exact_variance(on, my_pairs.data(), count), exact_variance(host{1}, pairs)));
    EXPECT_TRUE(same_bits(reduce(on, mine.data(), count), reduce(on, mine.data(), count)));
    if (!whole.empty()) {
        const auto best = arg_max(on, mine.data(), count), expected = arg_max(host{1}, whole);
        EXPECT_EQ(best.index, expected.index);
        EXPECT_TRUE(same_bits(best.value, expected.value));
    }
}

template <template <class> class Array, class On>
void check_scans(const On& on, const std::vector<std::uint64_t>& split, unsigned seed) {
    const int rank = on.comm->rank();
    const std::uint64_t n = split.back(), begin = split[static_cast<std::size_t>(rank)];
    const auto whole = any_numbers<std::uint32_t>(n, seed);
    const auto part = part_of(whole, split, rank);
    Array<std::uint32_t> mine(part), out(part);
    std::vector<std::uint32_t> expected(n);
    const auto compare = [&] { EXPECT_EQ(out.read(), part_of(expected, split, rank)); };

    inclusive_scan(host{1}, whole, expected);
    inclusive_scan(on, mine.data(), part.size(), out.data());
    compare();
    exclusive_scan(host{1}, whole, expected, maximum{}, 17u);
    exclusive_scan(on, mine.data(), part.size(), out.data(), maximum{}, 17u);
    compare();
    exclusive_scan(host{1}, whole, expected, sum{}, reversed, 5u);
    exclusive_scan(on, mine.data(), part.size(), out.data(), sum{}, reversed, 5u);
    compare();

    // Segments across ranks, by heads and by offsets; heads are rare, so that many parts have none.
    std::mt19937 random(seed);
    std::vector<std::uint8_t> flags(n);
    std::vector<std::uint64_t> begins, my_begins;
    for (std::uint64_t k = 0; k < n; ++k) {
        flags[k] = random() % (1 + n / 4) == 0 ? 1 : 0;
        if (flags[k] != 0) {
            begins.push_back(k);
            if (k >= begin && k < begin + part.size()) {
                my_begins.push_back(k - begin);
            }
        }
    }
    Array<std::uint8_t> my_flags(part_of(flags, split, rank));
    Array<std::uint64_t> my_offsets(my_begins);
    inclusive_scan(host{1}, whole, expected, sum{}, heads(flags));
    inclusive_scan(on, mine.data(), part.size(), out.data(), sum{}, heads(my_flags.data()));
    compare();
    exclusive_scan(host{1}, whole, expected, sum{}, 9u, offsets(begins), reversed);
    exclusive_scan(on, mine.data(), part.size(), out.data(), sum{}, 9u, offsets(my_offsets.data(), my_begins.size()),
                   reversed);
    compare();

    std::vector<affine> maps(n), scanned(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        maps[k] = {whole[k] | 1, static_cast<std::uint32_t>(k)};
    }
    Array<affine> my_maps(part_of(maps, split, rank)), my_scanned(part_of(maps, split, rank));
    inclusive_scan(host{1}, maps, scanned, then{}, reversed);
    inclusive_scan(on, my_maps.data(), part.size(), my_scanned.data(), then{}, reversed);
    EXPECT_EQ(my_scanned.read(), part_of(scanned, split, rank));
    inclusive_scan(host{1}, maps, scanned, then{}, heads(flags));
    inclusive_scan(on, my_maps.data(), part.size(), my_maps.data(), then{}, heads(my_flags.data())); // in place
    EXPECT_EQ(my_maps.read(), part_of(scanned, split, rank));
}

// Segments of any length, also empty ones, across ranks.
template <template <class> class Array, class On>
void check_segments(const On& on, const std::vector<std::uint64_t>& split, unsigned seed) {
    const int rank = on.comm->rank();
    const auto r = static_cast<std::size_t>(rank);
    const std::uint64_t n = split.back();
    const auto whole = small_numbers<std::int32_t>(n, seed);
    const auto part = part_of(whole, split, rank);
    std::mt19937 random(seed);
    std::vector<std::uint64_t> offsets(1 + seed % 40);
    for (std::uint64_t& one : offsets) {
        one = random() % (n + 1);
    }
    std::sort(offsets.begin(), offsets.end());
    offsets.push_back(n);
    // A segment is given by the rank in whose part it begins, or by the last rank.
    const bool is_last = rank + 1 == on.comm->size();
    std::vector<std::uint32_t> mine;
    std::uint64_t first = 0;
    for (std::uint64_t s = 0; s + 1 < offsets.size(); ++s) {
        if (offsets[s] < split[r]) {
            first = s + 1;
        } else if (offsets[s] < split[r + 1] || is_last) {
            mine.push_back(static_cast<std::uint32_t>(offsets[s] - split[r]));
        }
    }
    const std::uint64_t segments = mine.size();
    mine.push_back(static_cast<std::uint32_t>(part.size()));
    Array<std::int32_t> data(part);
    Array<std::uint32_t> bounds(mine);
    const auto expect = [&](const auto& got, const auto& all) {
        for (std::uint64_t s = 0; s < segments; ++s) {
            EXPECT_TRUE(got[s] == all[first + s]) << s;
        }
    };
    std::vector<std::int64_t> sums(offsets.size() - 1);
    Array<std::int64_t> my_sums{std::vector<std::int64_t>(segments)};
    segmented_reduce(host{1}, whole, offsets, sums, sum{}, std::int64_t{5});
    segmented_reduce(on, data.data(), bounds.data(), segments, my_sums.data(), sum{}, std::int64_t{5});
    expect(my_sums.read(), sums);
    std::vector<std::uint64_t> places(offsets.size() - 1);
    Array<std::uint64_t> my_places{std::vector<std::uint64_t>(segments)};
    segmented_transform_reduce(host{1}, whole, offsets, places, times_index{});
    segmented_transform_reduce(on, data.data(), bounds.data(), segments, my_places.data(), times_index{});
    expect(my_places.read(), places);
    std::vector<located<std::int32_t>> least(offsets.size() - 1);
    Array<located<std::int32_t>> my_least{std::vector<located<std::int32_t>>(segments)};
    segmented_arg_min(host{1}, whole, offsets, least);
    segmented_arg_min(on, data.data(), bounds.data(), segments, my_least.data());
    const auto found = my_least.read();
    for (std::uint64_t s = 0; s < segments; ++s) {
        EXPECT_EQ(found[s].index, least[first + s].index) << s;
        EXPECT_EQ(found[s].value, least[first + s].value) << s;
    }
}

template <template <class> class Array, class On>
void check_histograms(const On& on, const std::vector<std::uint64_t>& split, unsigned seed) {
    const int rank = on.comm->rank();
    const auto whole = small_numbers<float>(split.back(), seed);
    const auto part = part_of(whole, split, rank);
    Array<float> mine(part);
    for (const std::uint32_t bins : {5u, 1000u}) {
        const even_bins<float> of{-8, 8, bins};
        EXPECT_EQ(histogram(on, mine.data(), part.size(), of), histogram(host{1}, whole, of));
        Array<std::uint32_t> counts(std::vector<std::uint32_t>(bins, 3));
        histogram(on, mine.data(), part.size(), counts.data(), of, update::add);
        std::vector<std::uint32_t> expected(bins, 3);
        histogram(host{1}, whole, expected, of, update::add);
        EXPECT_EQ(counts.read(), expected);
        Array<double> sums{std::vector<double>(bins)};
        weighted_histogram(on, mine.data(), mine.data(), part.size(), sums.data(), of);
        std::vector<double> expected_sums(bins);
        weighted_histogram(host{1}, whole, whole, expected_sums, of);
        EXPECT_EQ(sums.read(), expected_sums);
    }
}

// Samples and masks of whole numbers, so that sums are exact in any order. Masks are longer than parts, too.
template <template <class> class Array, bool Separable, class On>
void check_convolutions(const On& on, const std::vector<std::uint64_t>& split, unsigned seed) {
    const int rank = on.comm->rank();
    const std::uint64_t n = split.back();
    const auto whole = small_numbers<float>(n, seed);
    const auto part = part_of(whole, split, rank);
    Array<float> mine(part), out(part);
    std::vector<float> expected(n);
    const border kinds[] = {border::zero, border::clamp, border::mirror, border::reflect, border::wrap};
    for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{4}, std::uint64_t{2 * seed + 1}}) {
        const auto mask = small_numbers<float>(k, seed + 1);
        const convolve_options how{kinds[(seed + k) % 5]};
        convolve(host{1}, whole.data(), n, mask.data(), k, expected.data(), how);
        convolve(on, mine.data(), part.size(), mask.data(), k, out.data(), how);
        EXPECT_EQ(out.read(), part_of(expected, split, rank)) << n << " " << k;
    }
    // The same samples as rows of two images.
    constexpr std::uint64_t width = 7;
    const auto rows = small_numbers<float>(2 * width * n, seed);
    std::vector<float> mine_of_both, expected_rows(rows.size()), expected_of_both;
    const auto mask = small_numbers<float>(15, seed + 2);
    const image<const float> of{mask.data(), 3, 5};
    const convolve_options how{kinds[seed % 5]};
    correlate(host{1}, image<const float>{rows.data(), width, n, 0, 2}, of,
              image<float>{expected_rows.data(), width, n, 0, 2}, how);
    const auto take = [&](const std::vector<float>& from, std::vector<float>& to) {
        for (std::uint64_t c = 0; c < 2; ++c) {
            const auto begin =
                from.begin() + static_cast<std::ptrdiff_t>((c * n + split[static_cast<std::size_t>(rank)]) * width);
            to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(part.size() * width));
        }
    };
    take(rows, mine_of_both);
    take(expected_rows, expected_of_both);
    Array<float> images(mine_of_both), filtered(mine_of_both);
    const image<const float> in{images.data(), width, part.size(), 0, 2};
    const image<float> to{filtered.data(), width, part.size(), 0, 2};
    correlate(on, in, of, to, how);
    EXPECT_EQ(filtered.read(), expected_of_both);
    if constexpr (Separable) {
        std::vector<float> separable(rows.size()), separable_of_both;
        convolve_separable(host{1}, image<const float>{rows.data(), width, n, 0, 2}, mask.data(), 4, mask.data() + 4, 3,
                           image<float>{separable.data(), width, n, 0, 2}, how);
        take(separable, separable_of_both);
        convolve_separable(on, in, mask.data(), 4, mask.data() + 4, 3, to, how);
        EXPECT_EQ(filtered.read(), separable_of_both);
    }
}

// `Separable`: also masks that are products, which take long to compile for GPUs.
template <template <class> class Array, bool Separable = true, class On>
void check_primitives(const On& on, std::uint64_t n, unsigned seed) {
    const auto split = random_split(n, on.comm->size(), seed);
    check_reductions<Array>(on, split, seed);
    check_floats<Array>(on, split, seed);
    check_scans<Array>(on, split, seed);
    check_segments<Array>(on, split, seed);
    check_convolutions<Array, Separable>(on, split, seed);
    check_histograms<Array>(on, split, seed);
}

} // namespace warpfold::tests
