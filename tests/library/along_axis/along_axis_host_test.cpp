// SPDX-License-Identifier: MIT
// Calls along axes on the host against loops over the elements of each result.
#include "warpfold/along_axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/along_axis/axis_cases.hpp"
#include "tests/library/cases.hpp"
#include "warpfold/exact_sum_along.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold {
namespace {

using tests::axis_case;
using tests::make_axis_case;

// Expects results of `call(view, axes, out)` to be expected(places of the elements), in row-major order and in another
// layout.
template <class R, class T, class Call, class Expected>
void expect_results(const axis_case& one, std::vector<T>& data, const Call& call, const Expected& expected) {
    const auto elements = one.elements();
    const axes which{std::span<const int>(one.axes)};
    const R unset{};
    std::vector<R> got(elements.size() + 1, unset);
    call(one.view(data.data()), which, got.data());
    const tests::output_layout layout(one.kept());
    std::vector<R> placed(layout.room, unset);
    call(one.view(static_cast<const T*>(data.data())), which, layout.view(placed.data()));
    for (std::uint64_t k = 0; k < elements.size(); ++k) {
        const R right = expected(elements[k]);
        ASSERT_EQ(got[k], right) << one.name() << ": " << k;
        ASSERT_EQ(placed[layout.place(k)], right) << one.name() << ": placed " << k;
    }
    ASSERT_EQ(got.back(), unset) << one.name();
}

std::vector<axis_case> host_cases() {
    auto all = tests::small_axis_cases(150, 4000, 1);
    all.push_back(make_axis_case({70001, 3}, {1}));      // many short rows
    all.push_back(make_axis_case({3, 200003}, {1}));     // few long rows
    all.push_back(make_axis_case({100003, 3}, {0}));     // few columns of a long axis
    all.push_back(make_axis_case({1031, 131}, {0}));     // columns
    all.push_back(make_axis_case({3, 701, 67}, {1}));    // columns in the middle
    all.push_back(make_axis_case({5, 4001, 7}, {1}));    // few columns in the middle, rows side by side
    all.push_back(make_axis_case({211, 1100}, {0}));     // more columns than a group has
    all.push_back(make_axis_case({3, 701, 67}, {0, 2})); // rows of rows
    all.push_back(make_axis_case({17, 5, 0}, {2}));
    all.push_back(make_axis_case({17, 0, 5}, {0, 2}));
    return all;
}

TEST(AlongAxisOnHost, Sums) {
    for (const axis_case& one : host_cases()) {
        auto data = tests::any_numbers<std::int32_t>(one.room, 5);
        for (const unsigned threads : {1u, 3u}) {
            expect_results<std::int64_t>(
                one, data,
                [&](const auto& in, const axes& which, const auto& out) {
                    reduce_along(host{threads}, in, which, out);
                },
                [&](const auto& places) {
                    std::int64_t total = 0;
                    for (const std::uint64_t k : places) {
                        total += data[k];
                    }
                    return total;
                });
        }
    }
}

// Sums of floats are within the error of any order, and the same for any number of threads.
TEST(AlongAxisOnHost, Floats) {
    for (const axis_case& one : host_cases()) {
        std::vector<float> data(one.room);
        std::mt19937 random(3);
        for (float& x : data) {
            x = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
        }
        const auto elements = one.elements();
        std::vector<float> single(elements.size()), several(elements.size());
        const axes which{std::span<const int>(one.axes)};
        reduce_along(host{1}, one.view(data.data()), which, single.data());
        reduce_along(host{4}, one.view(data.data()), which, several.data());
        for (std::uint64_t k = 0; k < elements.size(); ++k) {
            double total = 0, magnitude = 0;
            for (const std::uint64_t place : elements[k]) {
                total += data[place];
                magnitude += std::abs(data[place]);
            }
            ASSERT_LE(std::abs(total - single[k]), magnitude * 1e-4) << one.name() << ": " << k;
            ASSERT_TRUE(tests::same_bits(single[k], several[k])) << one.name() << ": " << k;
        }
    }
}

struct with_index {
    std::uint32_t operator()(std::uint32_t x, std::uint64_t index) const {
        return x * 31 + static_cast<std::uint32_t>(index);
    }
};

// Errors of sums of one number do not average out.
template <class T>
void check_error_of_sums(const std::vector<std::uint64_t>& shape, const std::vector<std::int64_t>& steps,
                         const std::vector<int>& which, std::uint64_t added) {
    const std::vector<T> data(shape[0] * static_cast<std::uint64_t>(steps[0]), static_cast<T>(1.1));
    const strided_view<const T> in(data.data(), shape, steps);
    const axes over{std::span<const int>(which)};
    std::vector<T> got(data.size() / added + 1), again(got);
    reduce_along(host{2}, in, over, got.data());
    reduce_along(host{1}, in, over, again.data());
    EXPECT_EQ(got, again);
    const long double exact = static_cast<long double>(data[0]) * added;
    EXPECT_LE(std::abs(got[0] - exact) / exact * 2 / std::numeric_limits<T>::epsilon(), 14) << shape[0] << " rows";
}
template <class T>
void check_errors_of_sums() {
    check_error_of_sums<T>({10000000}, {1}, {0}, 10000000);
    check_error_of_sums<T>({10000000}, {2}, {0}, 10000000);
    check_error_of_sums<T>({2000000, 4}, {4, 1}, {0}, 2000000);          // few columns, rows side by side
    check_error_of_sums<T>({20000, 500}, {500, 1}, {0}, 20000);          // columns
    check_error_of_sums<T>({2000000, 2}, {4, 1}, {0, 1}, 4000000);       // short rows of rows
    check_error_of_sums<T>({100000, 37}, {40, 1}, {0, 1}, 3700000);      // rows of rows
    check_error_of_sums<T>({50000, 3, 20}, {80, 25, 1}, {0, 1}, 150000); // columns of short runs
}
TEST(AlongAxisOnHost, ErrorsOfSumsStaySmall) {
    check_errors_of_sums<float>();
    check_errors_of_sums<double>();
}

TEST(AlongAxisOnHost, MapsWithIndexAndInitialValue) {
    for (const axis_case& one : host_cases()) {
        auto data = tests::any_numbers<std::uint32_t>(one.room, 6);
        expect_results<std::uint32_t>(
            one, data,
            [&](const auto& in, const axes& which, const auto& out) {
                transform_reduce_along(host{}, in, which, out, with_index{}, std::bit_xor<>{}, std::uint32_t{77});
            },
            [&](const auto& places) {
                std::uint32_t total = 77;
                for (std::uint64_t k = 0; k < places.size(); ++k) {
                    total ^= with_index{}(data[places[k]], k);
                }
                return total;
            });
    }
}

// Compositions of maps are folded in order.
TEST(AlongAxisOnHost, InOrder) {
    struct to_affine {
        tests::affine operator()(std::uint32_t x) const { return {x | 1u, x / 3}; }
    };
    for (const axis_case& one : host_cases()) {
        auto data = tests::any_numbers<std::uint32_t>(one.room, 7);
        expect_results<tests::affine>(
            one, data,
            [&](const auto& in, const axes& which, const auto& out) {
                transform_reduce_along(host{2}, in, which, out, to_affine{}, tests::then{}, tests::affine{3, 4});
            },
            [&](const auto& places) {
                tests::affine total{3, 4};
                for (const std::uint64_t k : places) {
                    total = tests::then{}(total, to_affine{}(data[k]));
                }
                return total;
            });
    }
}

template <class T>
bool same_place(const located<T>& a, const located<T>& b) {
    return a.index == b.index && (tests::same_bits(a.value, b.value) || (a.value != a.value && b.value != b.value));
}

// Few different values, so that most have equals; zeros of both signs and NaN.
TEST(AlongAxisOnHost, Extremes) {
    const float values[]{0.0f, -0.0f, 1.0f, 2.0f, -3.0f, 5.0f, std::numeric_limits<float>::infinity()};
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const axis_case& one : host_cases()) {
        std::mt19937 random(8);
        std::vector<float> data(one.room);
        for (float& x : data) {
            x = random() % 60 == 0 ? nan : values[random() % std::size(values)];
        }
        const auto elements = one.elements();
        const axes which{std::span<const int>(one.axes)};
        const auto in = one.view(data.data());
        std::vector<located<float>> least(elements.size()), most(elements.size());
        std::vector<extremes<float>> both(elements.size());
        if (!elements.empty() && elements[0].empty()) {
            EXPECT_THROW(arg_min_along(host{}, in, which, least.data()), invalid_argument);
            EXPECT_THROW(min_max_along(host{}, in, which, both.data()), invalid_argument);
            continue;
        }
        arg_min_along(host{2}, in, which, least.data());
        arg_max_along(host{2}, in, which, most.data());
        min_max_along(host{2}, in, which, both.data());
        for (std::uint64_t k = 0; k < elements.size(); ++k) {
            std::vector<float> row;
            row.reserve(elements[k].size());
            for (const std::uint64_t place : elements[k]) {
                row.push_back(data[place]);
            }
            ASSERT_TRUE(same_place(least[k], arg_min(host{1}, row.data(), row.size()))) << one.name() << ": " << k;
            ASSERT_TRUE(same_place(most[k], arg_max(host{1}, row.data(), row.size()))) << one.name() << ": " << k;
            const auto right = min_max(host{1}, row.data(), row.size());
            const auto alike = [](float a, float b) { return tests::same_bits(a, b) || (a != a && b != b); };
            ASSERT_TRUE(alike(both[k].smallest, right.smallest) && alike(both[k].largest, right.largest))
                << one.name() << ": " << k;
        }
    }
}

// Scans along every axis of each case, into another layout and in place.
template <class R, class T, class Call>
void expect_scans(const Call& call, const std::function<R(const std::vector<T>&, std::size_t, std::size_t)>& expected) {
    for (axis_case one : host_cases()) {
        for (unsigned axis = 0; axis < one.extents.size(); ++axis) {
            one.axes = {static_cast<int>(axis)};
            auto data = tests::any_numbers<T>(one.room, 9);
            const tests::output_layout layout(one.extents);
            std::vector<R> placed(layout.room);
            call(one.view(data.data()), static_cast<int>(axis), layout.view(placed.data()));
            // Rows of the output are found in the same way: places of a layout whose elements are numbered.
            axis_case out = one;
            out.strides = layout.strides;
            out.first = layout.first;
            const auto rows = one.elements(), places = out.elements();
            for (std::size_t r = 0; r < rows.size(); ++r) {
                std::vector<T> row;
                row.reserve(rows[r].size());
                for (const std::uint64_t k : rows[r]) {
                    row.push_back(data[k]);
                }
                R right{};
                for (std::size_t k = 0; k < row.size(); ++k) {
                    right = expected(row, k, r) + (k == 0 ? R{} : right);
                    ASSERT_EQ(placed[places[r][k]], right) << one.name() << ": row " << r << ", " << k;
                }
            }
        }
    }
}

TEST(AlongAxisOnHost, Scans) {
    expect_scans<std::uint64_t, std::uint32_t>(
        [](const auto& in, int axis, const auto& out) { inclusive_scan_along(host{2}, in, axis, out); },
        [](const auto& row, std::size_t k, std::size_t) { return std::uint64_t{row[k]}; });
    expect_scans<std::uint64_t, std::uint32_t>(
        [](const auto& in, int axis, const auto& out) {
            exclusive_scan_along(host{2}, in, axis, out, sum{}, std::uint64_t{5});
        },
        [](const auto& row, std::size_t k, std::size_t) {
            return k == 0 ? std::uint64_t{5} : std::uint64_t{row[k - 1]};
        });
}

// Compositions of maps, which have no identity and do not commute, in place.
TEST(AlongAxisOnHost, ScansInOrderAndInPlace) {
    for (const std::uint64_t length : {1u, 30u, 3000u}) {
        for (const int axis : {0, 1}) {
            std::vector<tests::affine> data(length * 70);
            std::mt19937 random(3);
            for (auto& one : data) {
                one = {static_cast<std::uint32_t>(random()) | 1u, static_cast<std::uint32_t>(random())};
            }
            auto expected = data;
            const std::uint64_t apart = axis == 0 ? 70 : 1, rows = axis == 0 ? 70 : length;
            for (std::uint64_t r = 0; r < rows; ++r) {
                tests::affine* const row = expected.data() + (axis == 0 ? r : r * 70);
                for (std::uint64_t k = 1; k < length * 70 / rows; ++k) {
                    row[k * apart] = tests::then{}(row[(k - 1) * apart], row[k * apart]);
                }
            }
            const strided_view<tests::affine> view(data.data(), {length, 70});
            inclusive_scan_along(host{3}, view, axis - 2, view, tests::then{});
            ASSERT_EQ(data, expected) << length << ", axis " << axis;
        }
    }
}

// Short rows with gaps, in order from the value before them.
TEST(AlongAxisOnHost, ScansOfShortRows) {
    for (const std::uint64_t length : {1u, 2u, 3u, 4u, 9u, 40u}) {
        const std::uint64_t rows = 300, planes = 5, apart = length + 1, plane = rows * apart + 7;
        auto data = tests::any_numbers<float>(planes * plane, 8);
        std::vector<float> sums(data.size()), before(data.size()), largest(data.size());
        const auto of_plane = static_cast<std::int64_t>(plane), of_row = static_cast<std::int64_t>(apart);
        const auto view_of = [&](std::vector<float>& of) {
            return strided_view<float>(of.data(), {planes, rows, length}, {of_plane, of_row, 1});
        };
        inclusive_scan_along(host{2}, view_of(data), 2, view_of(sums));
        exclusive_scan_along(host{1}, view_of(data), 2, view_of(before), sum{}, 0.3f);
        inclusive_scan_along(host{1}, view_of(data), 2, view_of(largest),
                             [](float a, float b) { return a < b ? b : a; });
        for (std::uint64_t r = 0; r < planes * rows; ++r) {
            const std::uint64_t first = r / rows * plane + r % rows * apart;
            float local = 0, most = data[first];
            for (std::uint64_t k = first; k < first + length; ++k) {
                ASSERT_EQ(before[k], 0.3f + local) << length << ", row " << r;
                local += data[k];
                most = std::max(most, data[k]);
                ASSERT_EQ(sums[k], local) << length << ", row " << r;
                ASSERT_EQ(largest[k], most) << length << ", row " << r;
            }
        }
    }
}

TEST(AlongAxisOnHost, BadArguments) {
    std::vector<int> data(24);
    std::vector<std::int64_t> out(24);
    const strided_view<int> view(data.data(), {2, 3, 4});
    EXPECT_THROW(reduce_along(host{}, view, {3}, out.data()), invalid_argument);
    EXPECT_THROW(reduce_along(host{}, view, {-4}, out.data()), invalid_argument);
    EXPECT_THROW(reduce_along(host{}, view, {0, -3}, out.data()), invalid_argument);
    EXPECT_THROW(reduce_along(host{}, view, {1}, static_cast<std::int64_t*>(nullptr)), invalid_argument);
    EXPECT_THROW(reduce_along(host{}, strided_view<int>(nullptr, {2, 3}), {1}, out.data()), invalid_argument);
    EXPECT_THROW(reduce_along(host{}, view, {1}, strided_view<std::int64_t>(out.data(), {2, 3})), invalid_argument);
    EXPECT_THROW(reduce_along(host{}, view, {1}, strided_view<std::int64_t>(out.data(), {2})), invalid_argument);
    EXPECT_THROW(reduce_along(host{}, view, {1}, strided_view<std::int64_t>(out.data(), {2, 4, 1})), invalid_argument);
    EXPECT_THROW(inclusive_scan_along(host{}, view, 3, out.data()), invalid_argument);
    EXPECT_THROW(inclusive_scan_along(host{}, view, 0, strided_view<std::int64_t>(out.data(), {2, 4, 3})),
                 invalid_argument);
    EXPECT_THROW((axes{0, 1, 2, 3, 4, 5, 6, 7, 8}), invalid_argument);
    EXPECT_THROW(strided_view<int>(data.data(), {2, 3}, {3}), invalid_argument);
    EXPECT_THROW(strided_view<int>(data.data(), {1, 1, 1, 1, 1, 1, 1, 1, 1}), invalid_argument);
    EXPECT_THROW(strided_view<int>(data.data(), {std::uint64_t{1} << 40, std::uint64_t{1} << 40}), invalid_argument);
    EXPECT_EQ(strided_view<int>(nullptr, {std::uint64_t{1} << 40, 0}).size(), 0u);
    reduce_along(host{}, strided_view<int>(nullptr, {0, 3}), {1}, static_cast<std::int64_t*>(nullptr));
}

TEST(AlongAxisOnHost, AllAxesAndScalars) {
    std::vector<int> data{4, 5, 6, 7};
    std::int64_t total = 0;
    reduce_along(host{}, strided_view<int>(data.data(), {2, 2}), axes::all(), &total);
    EXPECT_EQ(total, 22);
    reduce_along(host{}, strided_view<int>(data.data(), {}), axes::all(), strided_view<std::int64_t>(&total, {}));
    EXPECT_EQ(total, 4);
}

TEST(AlongAxisOnHost, OutputsThatAreArrays) {
    const std::vector<std::int32_t> data{1, 2, 3, 4, 5, 6};
    const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
    const strided_view<const std::int32_t> view(data.data(), {2, 3});
    std::uint32_t sums[2] = {}, doubled[2] = {}, scanned[6] = {}, before[6] = {};
    located<std::int32_t> least[3], most[3];
    extremes<std::int32_t> both[2];
    float exact[2] = {};
    reduce_along(host{}, view, {1}, sums);
    transform_reduce_along(
        host{}, view, {1}, doubled, [](std::int32_t x) { return 2 * x; }, sum{}, 1);
    arg_min_along(host{}, view, {0}, least);
    arg_max_along(host{}, view, {0}, most);
    min_max_along(host{}, view, {1}, both);
    inclusive_scan_along(host{}, view, 1, scanned);
    exclusive_scan_along(host{}, view, 1, before, sum{}, 1u);
    exact_sum_along(host{}, strided_view<const float>(numbers.data(), {2, 3}), {1}, exact);
    EXPECT_EQ(std::to_array(sums), (std::array{6u, 15u}));
    EXPECT_EQ(std::to_array(doubled), (std::array{13u, 31u}));
    EXPECT_EQ(least[2].value, 3);
    EXPECT_EQ(most[2].value, 6);
    EXPECT_EQ(both[1].smallest, 4);
    EXPECT_EQ(std::to_array(scanned), (std::array{1u, 3u, 6u, 4u, 9u, 15u}));
    EXPECT_EQ(std::to_array(before), (std::array{1u, 2u, 4u, 1u, 5u, 10u}));
    EXPECT_EQ(std::to_array(exact), (std::array{6.0f, 15.0f}));
}

} // namespace
} // namespace warpfold
