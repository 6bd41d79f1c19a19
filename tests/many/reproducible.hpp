// SPDX-License-Identifier: MIT
// Reproducible reductions and scans: one set of bits, whatever the split. Each rank runs these.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/cases.hpp"
#include "tests/many/split.hpp"
#include "warpfold/ranks.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold::tests {

// Neither associative nor commutative, and without an identity: any other order gives other bits.
struct half_and_twice {
    template <class A>
    WARPFOLD_HD A operator()(const A& a, const A& b) const {
        return static_cast<A>(a / 2) - b;
    }
};

// The definition, in the plainest way: the fold from the left of the largest nodes that make up [0, end).
template <class A, class Op>
A folded_node(const std::vector<A>& x, std::uint64_t first, std::uint64_t n, const Op& op) {
    return n == 1 ? x[first] : op(folded_node(x, first, n / 2, op), folded_node(x, first + n / 2, n / 2, op));
}
template <class A, class Op>
A folded(const std::vector<A>& x, std::uint64_t end, const Op& op) {
    std::uint64_t at = 0;
    A total{};
    for (std::uint64_t n = std::uint64_t{1} << 40; n != 0; n /= 2) {
        if ((end & n) != 0) {
            const A node = folded_node(x, at, n, op);
            total = at == 0 ? node : op(total, node);
            at += n;
        }
    }
    return total;
}

// Numbers of 60 binary orders and both signs; with some seeds a NaN, infinities and signed zeros.
template <class A>
std::vector<A> awkward_numbers(std::uint64_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> one(-1, 1);
    std::vector<A> x(n);
    for (A& value : x) {
        value = static_cast<A>(std::ldexp(one(random), static_cast<int>(random() % 60) - 30));
    }
    if (n != 0 && seed % 3 == 1) {
        x[random() % n] = std::numeric_limits<A>::infinity();
        x[random() % n] = -0.0;
    }
    if (n != 0 && seed % 3 == 2) {
        x[random() % n] = -std::numeric_limits<A>::quiet_NaN();
        x[random() % n] = -std::numeric_limits<A>::infinity();
        x[random() % n] = std::numeric_limits<A>::denorm_min();
    }
    return x;
}

// The results of one way to split an array.
template <class A>
struct reproducible_results {
    A sum, product, halves;
    extremes<A> range;
    std::vector<A> inclusive, exclusive, reversed_scan, by_heads, by_offsets;
    std::vector<std::uint64_t> begins; // of segments that begin in the part, in the whole array
    std::vector<A> segments, segments_of_halves;
};

template <class A>
bool same_bits(const std::vector<A>& a, const std::vector<A>& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](A x, A y) { return same_bits(x, y); });
}

struct plus_index {
    template <class A>
    WARPFOLD_HD A operator()(const A& x, std::uint64_t index) const {
        return x + static_cast<A>(index) / 3;
    }
};

// Of the part of a rank. `whole`: the same at all ranks.
template <template <class> class Array, class A, class On>
reproducible_results<A> reproducible_of(const On& on, const std::vector<A>& whole,
                                        const std::vector<std::uint64_t>& split, unsigned seed) {
    const int rank = on.ranks.comm->rank();
    const auto part = part_of(whole, split, rank);
    const std::uint64_t n = part.size(), begin = split[static_cast<std::size_t>(rank)];
    std::mt19937 random(seed);
    std::vector<std::uint8_t> flags(whole.size());
    std::vector<std::uint64_t> begins;
    for (std::uint64_t k = 0; k < whole.size(); ++k) {
        flags[k] = random() % (1 + whole.size() / 4) == 0 ? 1 : 0;
        if (flags[k] != 0 && k >= begin && k < begin + n) {
            begins.push_back(k - begin);
        }
    }
    Array<A> in(part), out(part);
    Array<std::uint8_t> my_flags(part_of(flags, split, rank));
    Array<std::uint64_t> offset(begins);
    reproducible_results<A> got{};
    got.sum = transform_reduce(on, in.data(), n, plus_index{});
    Array<A> place(std::vector<A>(1));
    reduce(on, in.data(), n, place.data(), product{});
    got.product = place.read()[0];
    got.halves = reduce(on, in.data(), n, half_and_twice{}, A{7});
    if (!whole.empty()) {
        got.range = min_max(on, in.data(), n);
    }
    inclusive_scan(on, in.data(), n, out.data());
    got.inclusive = out.read();
    exclusive_scan(on, in.data(), n, out.data(), half_and_twice{}, A{5});
    got.exclusive = out.read();
    inclusive_scan(on, in.data(), n, out.data(), half_and_twice{}, reversed);
    got.reversed_scan = out.read();
    exclusive_scan(on, in.data(), n, out.data(), sum{}, A{3}, heads(my_flags.data()), reversed);
    got.by_heads = out.read();
    for (const std::uint64_t at : begins) {
        got.begins.push_back(begin + at);
    }
    auto bounds = begins;
    bounds.push_back(n);
    Array<std::uint64_t> ends(bounds);
    Array<A> totals{std::vector<A>(begins.size())};
    segmented_transform_reduce(on, in.data(), ends.data(), begins.size(), totals.data(), plus_index{});
    got.segments = totals.read();
    segmented_reduce(on, in.data(), ends.data(), begins.size(), totals.data(), half_and_twice{}, A{7});
    got.segments_of_halves = totals.read();
    inclusive_scan(on, in.data(), n, in.data(), half_and_twice{}, offsets(offset.data(), begins.size())); // in place
    got.by_offsets = in.read();
    return got;
}

template <class A>
void expect_part(const reproducible_results<A>& got, const reproducible_results<A>& whole,
                 const std::vector<std::uint64_t>& split, int rank) {
    EXPECT_TRUE(same_bits(got.sum, whole.sum));
    EXPECT_TRUE(same_bits(got.product, whole.product));
    EXPECT_TRUE(same_bits(got.halves, whole.halves));
    EXPECT_TRUE(same_bits(got.range.smallest, whole.range.smallest));
    EXPECT_TRUE(same_bits(got.range.largest, whole.range.largest));
    EXPECT_TRUE(same_bits(got.inclusive, part_of(whole.inclusive, split, rank)));
    EXPECT_TRUE(same_bits(got.exclusive, part_of(whole.exclusive, split, rank)));
    EXPECT_TRUE(same_bits(got.reversed_scan, part_of(whole.reversed_scan, split, rank)));
    EXPECT_TRUE(same_bits(got.by_heads, part_of(whole.by_heads, split, rank)));
    EXPECT_TRUE(same_bits(got.by_offsets, part_of(whole.by_offsets, split, rank)));
    for (std::size_t s = 0; s < got.begins.size(); ++s) {
        const auto at = static_cast<std::size_t>(std::ranges::find(whole.begins, got.begins[s]) - whole.begins.begin());
        ASSERT_LT(at, whole.segments.size());
        EXPECT_TRUE(same_bits(got.segments[s], whole.segments[at]));
        EXPECT_TRUE(same_bits(got.segments_of_halves[s], whole.segments_of_halves[at]));
    }
}

} // namespace warpfold::tests
