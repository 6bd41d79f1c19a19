// SPDX-License-Identifier: MIT
// Exact sums along axes on a GPU, the software one or a real one, against exact_sum of each result's elements.
#include "warpfold/exact_sum_along.cuh"

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "tests/library/along_axis/axis_cases.hpp"
#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"

using namespace warpfold;

namespace {

using tests::axis_case;
using tests::make_axis_case;
using tests::on_device;

// Numbers of all magnitudes; infinities and NaN, too, if `special`.
template <class T>
std::vector<T> numbers(std::uint64_t n, bool special) {
    auto data = tests::any_numbers<T>(n, 4);
    std::mt19937 random(5);
    for (T& x : data) {
        const unsigned drawn = random() % 64;
        if (!special || drawn > 2) {
            x = drawn % 2 == 0 ? static_cast<T>(1.0 / (1 + drawn)) : x * T(0.001);
        } else {
            x = drawn == 0 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
        }
    }
    return data;
}

template <class T>
void expect_exact(const axis_case& one, workspace* memory) {
    for (const bool special : {false, true}) {
        const auto data = numbers<T>(one.room, special);
        const on_device<T> in(data);
        const auto elements = one.elements();
        const on_device<T> out(elements.size() + 1);
        const T behind = out.read().back();
        std::vector<T> on_host(elements.size());
        const axes which{std::span<const int>(one.axes)};
        exact_sum_along(gpu{nullptr, memory}, one.view(in.data()), which, out.data());
        exact_sum_along(host{2}, one.view(data.data()), which, on_host.data());
        const auto got = out.read();
        for (std::size_t k = 0; k < elements.size(); ++k) {
            std::vector<T> row;
            row.reserve(elements[k].size());
            for (const std::uint64_t place : elements[k]) {
                row.push_back(data[place]);
            }
            const T right = exact_sum(host{1}, row.data(), row.size());
            ASSERT_TRUE(tests::same_bits(on_host[k], right)) << one.name() << ": " << k << " on the host";
            ASSERT_TRUE(tests::same_bits(got[k], right)) << one.name() << ": " << k << ": " << got[k];
        }
        ASSERT_TRUE(tests::same_bits(got.back(), behind)) << one.name();
    }
}

TEST(ExactSumAlong, Floats) {
    for (const axis_case& one : tests::small_axis_cases(20, 600, 3)) {
        expect_exact<float>(one, nullptr);
    }
    expect_exact<float>(make_axis_case({40, 1000}, {1}), nullptr);
    expect_exact<float>(make_axis_case({5000, 3}, {0}), nullptr);
}
TEST(ExactSumAlong, Doubles) {
    for (const axis_case& one : tests::small_axis_cases(3, 300, 4)) {
        expect_exact<double>(one, nullptr);
    }
}

// Results that are calls of exact_sum each.
TEST(ExactSumAlong, FewOfManyElements) {
    workspace memory(exact_sum_workspace());
    expect_exact<float>(make_axis_case({2, 20011}, {1}), &memory);
    expect_exact<float>(make_axis_case({20011, 2}, {0}), &memory);
    tests::expect_zero(memory);
}

TEST(ExactSumAlong, BadArguments) {
    const on_device<float> data(24);
    const strided_view<float> view(data.data(), {2, 3, 4});
    tests::expect_invalid_argument([&] { exact_sum_along(gpu{}, view, {3}, data.data()); }, "there is no axis 3");
    tests::expect_invalid_argument([&] { exact_sum_along(gpu{}, view, {1}, static_cast<float*>(nullptr)); },
                                   "null pointer");
}

} // namespace
