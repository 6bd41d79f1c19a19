// SPDX-License-Identifier: MIT
// Offsets of segments of all kinds, and what their reductions have to be.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace warpfold::tests {

struct segment_case {
    std::string name;
    std::vector<std::uint64_t> offsets;
};

inline std::vector<std::uint64_t> offsets_of(const std::vector<std::uint64_t>& lengths, std::uint64_t first = 0) {
    std::vector<std::uint64_t> offsets{first};
    for (const std::uint64_t length : lengths) {
        offsets.push_back(offsets.back() + length);
    }
    return offsets;
}

// About n elements each.
inline std::vector<segment_case> segment_cases(std::uint64_t n) {
    std::mt19937 random(7);
    std::vector<segment_case> all;
    for (const std::uint64_t length : {1u, 2u, 15u, 16u, 17u, 64u, 1000u, 3839u, 3840u, 3841u, 20000u}) {
        all.push_back(
            {"each " + std::to_string(length), offsets_of(std::vector<std::uint64_t>(n / length + 1, length))});
    }
    all.push_back({"one", {0, n}});
    all.push_back({"one that starts later", {5, n}});
    all.push_back({"one of one", {0, 1}});
    all.push_back({"one empty", {3, 3}});
    all.push_back({"all empty", std::vector<std::uint64_t>(n / 3, 2)});
    std::vector<std::uint64_t> lengths(n / 4, 0);
    lengths.push_back(n / 2);
    lengths.insert(lengths.end(), n / 4, 1);
    all.push_back({"empty ones, a long one, ones of one", offsets_of(lengths, 1)});
    lengths.assign(1, n / 2);
    lengths.insert(lengths.end(), n / 4, 0);
    lengths.push_back(n / 3);
    all.push_back({"a long one, empty ones, a long one", offsets_of(lengths)});
    lengths.assign(n / 3, 1);
    lengths.insert(lengths.end(), {2, 0});
    lengths.insert(lengths.end(), n / 3, 1);
    lengths.insert(lengths.end(), {n / 10, 1, 1, 1});
    all.push_back({"ones of one, but for a few", offsets_of(lengths, 3)});
    lengths.clear();
    for (std::uint64_t k = 0; k < n / 3; ++k) {
        lengths.insert(lengths.end(), {2, 0}); // as many elements as segments
    }
    all.push_back({"ones of two and empty ones", offsets_of(lengths)});
    lengths.assign(500, 1);
    lengths.insert(lengths.end(), {n, 0, 3});
    lengths.insert(lengths.end(), 500, 2);
    all.push_back({"short ones around a long one", offsets_of(lengths)});
    lengths.assign(1, n);
    for (std::uint64_t k = 0; k < 6000; ++k) {
        lengths.push_back(k % 5);
    }
    lengths.push_back(n / 3);
    all.push_back({"many short ones between long ones", offsets_of(lengths)});
    lengths.clear();
    for (std::uint64_t k = 0; k < n / 6; ++k) {
        lengths.push_back(k % 100 == 50 ? n / 20 : k % 4);
    }
    all.push_back({"some longer ones among short ones", offsets_of(lengths)});
    lengths.clear();
    for (std::uint64_t sum = 0; sum < n; sum += lengths.back()) {
        lengths.push_back(10000 / (random() % 10000 + 1) - 1); // few are long
    }
    all.push_back({"power law", offsets_of(lengths, 2)});
    lengths.clear();
    for (std::uint64_t sum = 0; sum < n; sum += lengths.back()) {
        lengths.push_back(random() % 4 == 0 ? random() % 3000 : random() % 5);
    }
    all.push_back({"short and long", offsets_of(lengths)});
    return all;
}

// Folded one by one.
template <class A, class T, class Op>
std::vector<A> expected_of_segments(const std::vector<T>& data, const std::vector<std::uint64_t>& offsets, const Op& op,
                                    const A& initial) {
    std::vector<A> results;
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        A value = initial;
        for (std::uint64_t k = offsets[s]; k < offsets[s + 1]; ++k) {
            value = op(value, static_cast<A>(data[k]));
        }
        results.push_back(value);
    }
    return results;
}

} // namespace warpfold::tests
