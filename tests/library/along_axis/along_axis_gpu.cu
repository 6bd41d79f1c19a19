// SPDX-License-Identifier: MIT
// Reductions along axes on a GPU, the software one or a real one, against the host's, which along_axis_host_test.cpp
// compares with loops.
#include "warpfold/along_axis.cuh"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "tests/library/along_axis/axis_cases.hpp"
#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"

#if __has_include(<cuda/std/mdspan>)
#include <cuda/std/mdspan>
#endif

using namespace warpfold;

namespace {

using tests::axis_case;
using tests::make_axis_case;
using tests::on_device;

std::vector<axis_case> gpu_cases() {
    auto all = tests::small_axis_cases(60, 1500, 2);
    all.push_back(make_axis_case({3001, 3}, {1}));                                 // many short rows
    all.push_back(make_axis_case({700, 17}, {1}));                                 // rows at all alignments
    all.push_back(make_axis_case({2, 50021}, {1}));                                // few long rows
    all.push_back(make_axis_case({1, 20000}, {1}));                                // all elements
    all.push_back(make_axis_case({5, 16, 2, 48}, {1, 3}));                         // rows of rows
    all.push_back(make_axis_case({10007, 3}, {0}));                                // few columns of a long axis
    all.push_back(make_axis_case({6000, 8}, {0}));                                 // the same by vectors
    all.push_back(make_axis_case({64, 256}, {0}));                                 // columns
    all.push_back(make_axis_case({3, 70, 67}, {1}));                               // columns in the middle
    all.push_back(make_axis_case({3, 40, 64}, {0, 1, 2}, {1}, 0, 1, 0, 0, 1));     // not aligned to vectors
    all.push_back(make_axis_case({40, 5, 32}, {0, 1, 2}, {0, 1}, 16, 1, 7, 0, 0)); // backwards
    all.push_back(make_axis_case({600, 5}, {1, 0}, {0}, 0, 2));                    // neither rows nor columns
    all.push_back(make_axis_case({17, 0, 5}, {0, 2}));
    return all;
}

// Compares a call's results, of type R, on the GPU with those on the host: row-major and in another layout.
template <class R, class T, class Call, class Alike>
void expect_as_on_host(const axis_case& one, const std::vector<T>& data, const Call& call, const Alike& alike,
                       workspace* memory = nullptr) {
    SCOPED_TRACE(one.name());
    const axes which{std::span<const int>(one.axes)};
    const tests::output_layout layout(one.kept());
    const std::size_t results =
        std::size_t{strided_view<R>(nullptr, std::span<const std::uint64_t>(one.kept())).size()};
    std::vector<R> expected(results);
    call(host{1}, one.view(data.data()), which, expected.data());
    const on_device<T> in(data);
    const on_device<R> dense(results + 1), placed(layout.room);
    const auto rest = placed.read();
    call(gpu{nullptr, memory}, one.view(static_cast<const T*>(in.data())), which, dense.data());
    call(gpu{nullptr, memory}, one.view(static_cast<const T*>(in.data())), which, layout.view(placed.data()));
    CUDA(cudaDeviceSynchronize());
    const auto got = dense.read(), got_placed = placed.read();
    std::vector<bool> is_place(layout.room);
    for (std::size_t k = 0; k < results; ++k) {
        ASSERT_TRUE(alike(got[k], expected[k])) << k;
        ASSERT_TRUE(alike(got_placed[layout.place(k)], expected[k])) << "placed " << k;
        is_place[layout.place(k)] = true;
    }
    ASSERT_TRUE(tests::same_bits(got[results], rest[0])) << "behind the results";
    for (std::size_t k = 0; k < layout.room; ++k) {
        ASSERT_TRUE(is_place[k] || tests::same_bits(got_placed[k], rest[k])) << "between the results: " << k;
    }
}

const auto same = [](const auto& a, const auto& b) { return tests::same_bits(a, b); };

struct first_of_two {
    __host__ __device__ float operator()(float a, float) const { return a; }
};

TEST(AlongAxis, SumsOfBytes) {
    workspace memory(along_axis_workspace(sizeof(std::uint64_t)));
    for (const axis_case& one : gpu_cases()) {
        expect_as_on_host<std::uint64_t>(
            one, tests::any_numbers<std::uint8_t>(one.room, 1),
            [](const auto& on, const auto& in, const axes& which, const auto& out) {
                reduce_along(on, in, which, out);
            },
            same, &memory);
    }
    tests::expect_zero(memory);
}

// The results of no elements are the identity.
TEST(AlongAxis, NoElements) {
    for (const axis_case& one :
         {make_axis_case({0, 17}, {0}), make_axis_case({17, 0}, {1}), make_axis_case({5, 0, 8}, {1}),
          make_axis_case({0}, {0}), make_axis_case({7, 0, 64}, {1, 2}), make_axis_case({7, 64, 0}, {1, 2})}) {
        for (const bool commutes : {true, false}) {
            expect_as_on_host<float>(
                one, tests::small_numbers<float>(one.room, 1),
                [&](const auto& on, const auto& in, const axes& which, const auto& out) {
                    if (commutes) {
                        reduce_along(on, in, which, out);
                    } else {
                        reduce_along(on, in, which, out, first_of_two{}, 3.0f);
                    }
                },
                same);
        }
    }
}

// 16 columns of a thread, whose values take 8 bytes each with a flag.
TEST(AlongAxis, WorkspaceOfManyShares) {
    constexpr std::uint64_t rows = 20000, columns = 512;
    std::vector<std::uint8_t> data(rows * columns, 200), expected(columns);
    for (std::uint64_t c = 0; c < columns; ++c) {
        expected[c] = static_cast<std::uint8_t>(c % 199);
        data[(c * 7919 % rows) * columns + c] = expected[c];
    }
    const on_device<std::uint8_t> in(data), out(columns);
    workspace memory(along_axis_workspace(1));
    reduce_along(gpu{nullptr, &memory}, strided_view<std::uint8_t>(in.data(), {rows, columns}), {0}, out.data(),
                 minimum{});
    EXPECT_EQ(out.read(), expected);
    tests::expect_zero(memory);
}

// Multiples of a power of two of which every sum is exact, so that the order does not matter.
TEST(AlongAxis, SumsOfFloats) {
    for (const axis_case& one : gpu_cases()) {
        expect_as_on_host<float>(
            one, tests::small_numbers<float>(one.room, 2),
            [](const auto& on, const auto& in, const axes& which, const auto& out) {
                reduce_along(on, in, which, out);
            },
            same);
    }
}

// A call gives the same bits again, in another layout of the output and with a workspace.
TEST(AlongAxis, FloatsAgain) {
    workspace memory(along_axis_workspace(sizeof(float)));
    for (const axis_case& one : gpu_cases()) {
        std::vector<float> data(one.room);
        std::mt19937 random(3);
        for (float& x : data) {
            x = static_cast<float>(random() % 2001) / 1000.0f;
        }
        const on_device<float> in(data);
        const std::uint64_t results = strided_view<float>(nullptr, std::span<const std::uint64_t>(one.kept())).size();
        const on_device<float> first(results), second(results);
        const axes which{std::span<const int>(one.axes)};
        reduce_along(gpu{}, one.view(in.data()), which, first.data());
        reduce_along(gpu{nullptr, &memory}, one.view(in.data()), which, second.data());
        std::vector<float> expected(results);
        reduce_along(host{1}, one.view(data.data()), which, expected.data());
        const auto got = first.read(), again = second.read();
        for (std::uint64_t k = 0; k < results; ++k) {
            ASSERT_TRUE(tests::same_bits(got[k], again[k])) << one.name() << ": " << k;
            ASSERT_LE(std::abs(got[k] - expected[k]), 1e-5f * expected[k]) << one.name() << ": " << k;
        }
    }
}

struct with_index {
    __host__ __device__ std::uint32_t operator()(std::uint32_t x, std::uint64_t index) const {
        return x * 31 + static_cast<std::uint32_t>(index);
    }
};
TEST(AlongAxis, MapsWithIndexAndInitialValue) {
    for (const axis_case& one : gpu_cases()) {
        expect_as_on_host<std::uint32_t>(
            one, tests::any_numbers<std::uint32_t>(one.room, 6),
            [](const auto& on, const auto& in, const axes& which, const auto& out) {
                transform_reduce_along(on, in, which, out, with_index{}, std::bit_xor<>{}, std::uint32_t{77});
            },
            same);
    }
}

// A lambda whose parameters the host does not see.
void lambda_with_index() {
    const std::vector<std::uint32_t> data{5, 6, 7, 8, 9, 10};
    const on_device<std::uint32_t> in(data), out(3);
    const auto map = [] __device__(std::uint32_t x, std::uint64_t index) -> std::uint32_t {
        return x * (static_cast<std::uint32_t>(index) + 1);
    };
    transform_reduce_along(gpu{}, strided_view<std::uint32_t>(in.data(), {2, 3}), {0}, out.data(), map,
                           std::bit_xor<>{});
    CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(out.read(), (std::vector<std::uint32_t>{5 ^ 16, 6 ^ 18, 7 ^ 20}));
}
TEST(AlongAxis, DeviceLambdaWithIndex) { lambda_with_index(); }

struct to_affine {
    __host__ __device__ tests::affine operator()(std::uint32_t x) const { return {x | 1u, x / 3}; }
};
TEST(AlongAxis, InOrder) {
    workspace memory(along_axis_workspace(sizeof(tests::affine)));
    for (const axis_case& one : gpu_cases()) {
        expect_as_on_host<tests::affine>(
            one, tests::any_numbers<std::uint32_t>(one.room, 7),
            [](const auto& on, const auto& in, const axes& which, const auto& out) {
                transform_reduce_along(on, in, which, out, to_affine{}, tests::then{}, tests::affine{3, 4});
            },
            same, &memory);
    }
}

// Few different values, so that most have equals; zeros of both signs and NaN.
template <class T>
std::vector<T> few_values(std::uint64_t n) {
    std::mt19937 random(8);
    std::vector<T> data(n);
    for (T& x : data) {
        x = static_cast<T>(static_cast<int>(random() % 7) - 3);
        if constexpr (std::is_floating_point_v<T>) {
            x = random() % 9 == 0 ? -T(0) : random() % 60 == 0 ? std::numeric_limits<T>::quiet_NaN() : x;
        }
    }
    return data;
}
const auto same_place = [](const auto& a, const auto& b) {
    return a.index == b.index && (tests::same_bits(a.value, b.value) || (a.value != a.value && b.value != b.value));
};

template <class T>
void extremes_of() {
    for (const axis_case& one : gpu_cases()) {
        const auto data = few_values<T>(one.room);
        const auto elements = one.elements();
        if (!elements.empty() && elements[0].empty()) {
            on_device<located<T>> out(elements.size());
            EXPECT_THROW(arg_min_along(gpu{}, one.view(data.data()), axes{std::span<const int>(one.axes)}, out.data()),
                         invalid_argument);
            continue;
        }
        expect_as_on_host<located<T>>(
            one, data,
            [](const auto& on, const auto& in, const axes& which, const auto& out) {
                arg_min_along(on, in, which, out);
            },
            same_place);
    }
}
TEST(AlongAxis, ArgMinOfFloats) { extremes_of<float>(); }
TEST(AlongAxis, ArgMinOfLongIntegers) { extremes_of<std::int64_t>(); }

TEST(AlongAxis, ArgMaxAndMinMax) {
    const auto alike = [](float a, float b) { return tests::same_bits(a, b) || (a != a && b != b); };
    for (const axis_case& one : {make_axis_case({300, 40}, {1}), make_axis_case({300, 40}, {0})}) {
        const auto data = few_values<float>(one.room);
        expect_as_on_host<located<float>>(
            one, data,
            [](const auto& on, const auto& in, const axes& which, const auto& out) {
                arg_max_along(on, in, which, out);
            },
            same_place);
        expect_as_on_host<extremes<float>>(
            one, data,
            [](const auto& on, const auto& in, const axes& which, const auto& out) {
                min_max_along(on, in, which, out);
            },
            [&](const auto& a, const auto& b) { return alike(a.smallest, b.smallest) && alike(a.largest, b.largest); });
    }
}

TEST(AlongAxis, BadArguments) {
    const on_device<int> data(24);
    const on_device<std::int64_t> out(24);
    const strided_view<int> view(data.data(), {2, 3, 4});
    tests::expect_invalid_argument([&] { reduce_along(gpu{}, view, {3}, out.data()); }, "there is no axis 3");
    tests::expect_invalid_argument([&] { reduce_along(gpu{}, view, {0, -3}, out.data()); }, "axis 0 is named twice");
    tests::expect_invalid_argument(
        [&] {
            reduce_along(gpu{}, view, {1}, strided_view<std::int64_t>(out.data(), {2, 3}));
        },
        "extents");
    tests::expect_invalid_argument(
        [&] {
            reduce_along(gpu{}, strided_view<int>(nullptr, {2, 3}), {1}, out.data());
        },
        "null pointer");
    workspace little(16);
    const on_device<int> many(1000000);
    tests::expect_invalid_argument(
        [&] {
            reduce_along(gpu{nullptr, &little}, strided_view<int>(many.data(), {1000000}), {0}, out.data());
        },
        "workspace has");
}

// Rows that are folded from shared memory.
TEST(AlongAxis, ShortRows) {
    const auto on_short_rows = [](const auto& on) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(on)>, gpu>) {
            return on.with(tuning::along_axis_policy<>{.short_rows_max_bytes = 0, .middle_rows_max_bytes = 0});
        } else {
            return on;
        }
    };
    for (const std::uint64_t length : {2u, 3u, 7u, 8u, 15u, 16u, 17u, 100u, 511u, 513u, 800u, 1001u, 1023u, 1025u}) {
        for (const unsigned turned : {0u, 1u, 2u}) {
            const std::uint64_t rows = length < 100 ? 1001 : 37;
            const axis_case one = make_axis_case({rows, length}, {0, 1}, {1}, 0, 1, turned, 0, turned);
            expect_as_on_host<float>(
                one, tests::small_numbers<float>(one.room, 2),
                [&](const auto& on, const auto& in, const axes& which, const auto& out) {
                    reduce_along(on_short_rows(on), in, which, out);
                },
                same);
            expect_as_on_host<located<float>>(
                one, few_values<float>(one.room),
                [&](const auto& on, const auto& in, const axes& which, const auto& out) {
                    arg_min_along(on_short_rows(on), in, which, out);
                },
                same_place);
        }
    }
}

// The same results with other launches.
TEST(AlongAxis, Policies) {
    for (const axis_case& one : gpu_cases()) {
        for (const bool are_few : {true, false}) {
            expect_as_on_host<std::uint64_t>(
                one, tests::any_numbers<std::uint8_t>(one.room, 4),
                [&](const auto& on, const auto& in, const axes& which, const auto& out) {
                    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(on)>, gpu>) {
                        const tuning::along_axis_policy<> policy{.blocks_per_multiprocessor = are_few ? 1u : 32u,
                                                                 .thread_min_elements = 1,
                                                                 .alone_elements = 1,
                                                                 .block_row_min_vectors = 64,
                                                                 .few_min_rounds = are_few ? 1u : 1000000u,
                                                                 .thread_max_shares = are_few ? 1u : 1000000u,
                                                                 .by_sector_max_bytes = 1000};
                        reduce_along(on.with(policy), in, which, out);
                    } else {
                        reduce_along(on, in, which, out);
                    }
                },
                same);
        }
    }
}

// Of nvcc, too, {} is no axis: every element is a result.
TEST(AlongAxis, NoAxis) {
    const std::vector<int> data{1, 2, 3, 4, 5, 6};
    const std::vector<std::int64_t> right(data.begin(), data.end());
    const on_device<int> in(data);
    const on_device<std::int64_t> out(6);
    reduce_along(gpu{}, strided_view<const int>(in.data(), {2, 3}), {}, out.data());
    EXPECT_EQ(out.read(), right);
    std::vector<std::int64_t> sums(6);
    reduce_along(host{}, strided_view<const int>(data.data(), {2, 3}), axes{}, sums.data());
    EXPECT_EQ(sums, right);
    EXPECT_EQ(axes{}.mask(2, "test"), 0u);
    EXPECT_EQ(axes::all().mask(2, "test"), 3u);
}

#if __has_include(<cuda/std/mdspan>)
// Column-major, and every other column of a row-major array.
TEST(AlongAxis, OfMdspans) {
    namespace cs = cuda::std;
    using shape = cs::dextents<std::int32_t, 2>;
    std::vector<float> data(35);
    for (std::size_t k = 0; k < data.size(); ++k) {
        data[k] = static_cast<float>(k * k);
    }
    const on_device<float> in(data), out(7);
    const cs::mdspan<const float, shape, cs::layout_left> columns(in.data(), 5, 7);
    reduce_along(gpu{}, strided_view(columns), {0}, out.data());
    std::vector<float> right(7);
    for (std::size_t k = 0; k < 35; ++k) {
        right[k / 5] += data[k];
    }
    EXPECT_EQ(out.read(), right);
    const cs::layout_stride::mapping<shape> layout(shape(5, 4), cs::array<std::int32_t, 2>{7, 2});
    const cs::mdspan<float, shape, cs::layout_stride> some(data.data(), layout);
    const strided_view<const float> view(some);
    EXPECT_EQ(view.size(), 20u);
    right.assign(4, 0);
    for (std::size_t k = 0; k < 35; ++k) {
        right[k % 7 / 2] += k % 7 % 2 == 0 ? data[k] : 0;
    }
    std::vector<float> sums(4);
    reduce_along(host{}, view, {0}, sums.data());
    EXPECT_EQ(sums, right);
    const cs::mdspan<float, cs::extents<int>> one(data.data() + 3);
    EXPECT_EQ(strided_view(one).rank, 0u);
    EXPECT_EQ(*strided_view(one).first, 9);
    static_assert(!std::is_constructible_v<strided_view<float>, decltype(columns)>); // const
    static_assert(!std::is_constructible_v<strided_view<int>, decltype(some)>);
}
#endif

} // namespace
