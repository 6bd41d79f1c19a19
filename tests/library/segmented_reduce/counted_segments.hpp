// SPDX-License-Identifier: MIT
// Segmented calls whose number of segments is in the target's memory, on any target: the results of the host with the number
// itself. `Place<T>` is an array of the target's memory: made of a vector and a number of elements to skip, with data() and
// read(). Arrays have no more elements than the number says.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/library/cases.hpp"
#include "tests/library/segmented_reduce/segmented_kinds_cases.hpp"
#include "warpfold/segmented_exact_sum.hpp"
#include "warpfold/segmented_reduce.hpp"

namespace warpfold::tests {

template <class R>
bool equal_results(const R& a, const R& b) {
    return same_bits(a, b);
}
template <class T>
bool equal_results(const located<T>& a, const located<T>& b) { // which have padding
    return same_bits(a.value, b.value) && a.index == b.index;
}

// call(target, in, offsets, segments, out) for several numbers of segments of at most lengths.size(). `length`: of all of
// them, if they are equal.
template <class R, class T, template <class> class Place, class On, class Call>
void expect_counted(const On& on, const std::vector<std::uint64_t>& lengths, const Call& call,
                    std::uint64_t length = 0) {
    const std::uint64_t most = lengths.size();
    for (const std::uint64_t number :
         {std::uint64_t{0}, std::uint64_t{1}, most / 3, most - 1, most, most + 1, most << 20}) {
        SCOPED_TRACE(number);
        const std::uint64_t segments = std::min(number, most);
        const auto offsets = offsets_of({lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(segments)}, 3);
        std::vector<T> data;
        for (const float x : numbers_with_nan(offsets.back())) {
            data.push_back(static_cast<T>(x != x ? 0 : x));
        }
        std::vector<R> right(segments);
        const Place<T> in(data, 1);
        const Place<std::uint64_t> bounds(offsets, 0), place(std::vector<std::uint64_t>{number}, 0);
        const Place<R> out(right, 1);
        const count_at count(place.data(), most);
        if (length != 0) {
            call(host{1}, data.data(), equal_segments{length}, segments, right.data());
            call(on, in.data(), equal_segments{length}, count, out.data());
        } else {
            call(host{1}, data.data(), offsets.data(), segments, right.data());
            call(on, in.data(), bounds.data(), count, out.data());
        }
        const auto got = out.read();
        for (std::uint64_t s = 0; s < segments; ++s) {
            ASSERT_TRUE(equal_results(got[s], right[s])) << "segment " << s;
        }
    }
}

template <template <class> class Place, class On>
void counted_segments(const On& on) {
    std::vector<std::uint64_t> few, many;
    for (std::uint64_t k = 0; k < 301; ++k) {
        few.push_back(k % 50 == 7 ? 1009 : k % 5);
    }
    for (std::uint64_t k = 0; k < 20011; ++k) {
        many.push_back(k % 9973 == 100 ? 3001 : k % 3);
    }
    const std::vector<std::uint64_t> equal(301, 17);
    const auto sums = [](const auto&... all) { segmented_reduce(all...); };
    const auto least = [](const auto&... all) { segmented_arg_min(all...); };
    const auto in_order = [](const auto&... all) {
        segmented_transform_reduce(all..., times_index{}, larger_low_half{}, std::uint64_t{5});
    };
    const auto exact = [](const auto&... all) { segmented_exact_sum(all...); };
    for (const auto* lengths : {&few, &many}) {
        SCOPED_TRACE(lengths->size());
        expect_counted<std::int64_t, std::int32_t, Place>(on, *lengths, sums);
        expect_counted<located<double>, double, Place>(on, *lengths, least);
        expect_counted<std::uint64_t, std::int32_t, Place>(on, *lengths, in_order);
        expect_counted<float, float, Place>(on, *lengths, exact);
    }
    expect_counted<extremes<float>, float, Place>(on, few, [](const auto&... all) { segmented_min_max(all...); });
    expect_counted<std::int64_t, std::int32_t, Place>(on, equal, sums, 17);
    expect_counted<std::uint64_t, std::int32_t, Place>(on, equal, in_order, 17);
    expect_counted<double, double, Place>(on, equal, exact, 17);
    const Place<std::uint64_t> number(std::vector<std::uint64_t>{2}, 0),
        offsets(std::vector<std::uint64_t>{0, 1, 2}, 0);
    const Place<float> data(std::vector<float>(2), 0);
    EXPECT_THROW(
        segmented_reduce(on, data.data(), offsets.data(), count_at(static_cast<const int*>(nullptr), 2), data.data()),
        invalid_argument);
    EXPECT_THROW(
        segmented_reduce(on, data.data(), static_cast<const int*>(nullptr), count_at(number.data(), 2), data.data()),
        invalid_argument);
    EXPECT_THROW(
        segmented_exact_sum(on, data.data(), offsets.data(), count_at(number.data(), 2), static_cast<float*>(nullptr)),
        invalid_argument);
}

} // namespace warpfold::tests
