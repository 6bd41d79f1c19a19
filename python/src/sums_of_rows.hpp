// SPDX-License-Identifier: MIT
// Sums over rows of values that are computed of parts of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "python/src/elements.hpp"
#include "python/src/segments.hpp"
#include "warpfold/host/core/pairwise.hpp"
#include "warpfold/operation.hpp"

namespace warpfold::python {

// value(s, begin, end) is the value of elements [begin, end) of row s; values of a row are added.
template <class A, class Value>
void sum_parts_of_rows(std::uint64_t length, const results<A>& to, std::uint64_t rows, const Value& value) {
    const std::uint64_t parts = (length + part_size - 1) / part_size;
    std::vector<A> sums(rows * parts);
    for_groups(sums.size(), std::min(length, part_size), [&](std::uint64_t unit) {
        const std::uint64_t s = unit / parts, begin = unit % parts * part_size;
        sums[unit] = detail::with_widest_vectors([&] { return value(s, begin, std::min(length, begin + part_size)); });
    });
    const sum add;
    for (std::uint64_t s = 0; s < rows; ++s) {
        detail::joined_parts<A, sum> all(add);
        std::for_each_n(&sums[s * parts], parts, [&](A part) { all.add(part); });
        to[s] = all.total();
    }
}

} // namespace warpfold::python
