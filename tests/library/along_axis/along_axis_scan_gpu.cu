// SPDX-License-Identifier: MIT
// Scans along an axis on a GPU, the software one or a real one, against the host's, which along_axis_host_test.cpp
// compares with loops.
#include "warpfold/along_axis.cuh"

#include <cstdint>
#include <random>
#include <span>
#include <type_traits>
#include <utility>
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

std::vector<axis_case> gpu_cases() {
    auto all = tests::small_axis_cases(40, 1500, 2);
    all.push_back(make_axis_case({3001, 3}, {}));
    all.push_back(make_axis_case({2, 30011}, {}));
    all.push_back(make_axis_case({2, 9001}, {0, 1}, {}, 5, 2)); // with gaps
    all.push_back(make_axis_case({10007, 3}, {}));
    all.push_back(make_axis_case({3, 70, 67}, {}));
    all.push_back(make_axis_case({6, 512}, {}));                         // rows that vectors fit
    all.push_back(make_axis_case({1, 7000}, {0, 1}, {}, 0, 1, 3, 0, 3)); // backwards
    return all;
}

// Scans each case along every axis, into a row-major array and into another layout.
template <class R, class T, class Call>
void expect_as_on_host(const Call& call, workspace* memory) {
    for (const axis_case& one : gpu_cases()) {
        const auto data = tests::any_numbers<T>(one.room, 5);
        const on_device<T> in(data);
        const tests::output_layout layout(one.extents);
        const std::size_t n = std::size_t{one.view(data.data()).size()};
        for (int axis = 0; axis < static_cast<int>(one.extents.size()); ++axis) {
            std::vector<R> expected(n);
            call(host{1}, one.view(data.data()), axis, expected.data());
            const on_device<R> dense(n + 1), placed(layout.room);
            const auto rest = placed.read();
            call(gpu{nullptr, memory}, one.view(static_cast<const T*>(in.data())), axis, dense.data());
            call(gpu{nullptr, memory}, one.view(static_cast<const T*>(in.data())), axis, layout.view(placed.data()));
            CUDA(cudaDeviceSynchronize());
            const auto got = dense.read(), got_placed = placed.read();
            for (std::size_t k = 0; k < n; ++k) {
                ASSERT_TRUE(tests::same_bits(got[k], expected[k])) << one.name() << ", axis " << axis << ": " << k;
                ASSERT_TRUE(tests::same_bits(got_placed[layout.place(k)], expected[k]))
                    << one.name() << ", axis " << axis << ": placed " << k;
            }
            ASSERT_TRUE(tests::same_bits(got[n], rest[0])) << one.name() << ": behind the results";
        }
    }
}

TEST(ScanAlongAxis, Inclusive) {
    workspace memory(scan_along_workspace<std::uint32_t, std::uint64_t>(100000));
    expect_as_on_host<std::uint64_t, std::uint32_t>(
        [](const auto& on, const auto& in, int axis, const auto& out) { inclusive_scan_along(on, in, axis, out); },
        &memory);
    tests::expect_zero(memory);
}

TEST(ScanAlongAxis, ExclusiveWithInitialValue) {
    workspace memory(scan_along_workspace<std::uint32_t>(100000));
    expect_as_on_host<std::uint32_t, std::uint32_t>(
        [](const auto& on, const auto& in, int axis, const auto& out) {
            exclusive_scan_along(on, in, axis, out, sum{}, 5u);
        },
        &memory);
}

// Rows that are scanned one after the other.
TEST(ScanAlongAxis, RowsAlone) {
    workspace memory(scan_along_workspace<std::uint32_t>(100000));
    expect_as_on_host<std::uint32_t, std::uint32_t>(
        [](const auto& on, const auto& in, int axis, const auto& out) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(on)>, gpu>) {
                const tuning::along_axis_policy<> policy{.scanned_alone_max_rows = 1u << 20,
                                                         .scanned_alone_min_bytes = 1};
                exclusive_scan_along(on.with(policy), in, axis, out, sum{}, 5u);
            } else {
                exclusive_scan_along(on, in, axis, out, sum{}, 5u);
            }
        },
        &memory);
    tests::expect_zero(memory);
}

// Long columns that are neighbours: of one tile and of several, with and without gaps, of shares whose results fill
// sectors and those that do not.
template <class R, class T>
void expect_columns_as_on_host(const auto& call) {
    for (const std::uint64_t columns : {1, 3, 5, 33, 64, 100}) {
        for (const std::uint64_t rows : {2000, 9001}) {
            const std::size_t n = rows * columns;
            const auto data = tests::any_numbers<T>(n + 1, 5);
            const on_device<T> in(data);
            const on_device<R> out(n + 1);
            std::vector<R> expected(n);
            for (const std::size_t shift : {0, 1}) { // the latter is not aligned to a row
                const strided_view<const T> on_host(data.data() + shift, {rows, columns});
                const strided_view<const T> on_gpu(in.data() + shift, {rows, columns});
                call(host{1}, on_host, expected.data());
                call(gpu{}, on_gpu, out.data() + shift);
                CUDA(cudaDeviceSynchronize());
                const auto got = out.read();
                for (std::size_t k = 0; k < n; ++k) {
                    ASSERT_TRUE(tests::same_bits(got[k + shift], expected[k]))
                        << rows << " x " << columns << ", shifted by " << shift << ": " << k;
                }
            }
        }
    }
}

TEST(ScanAlongAxis, NeighbouringColumns) {
    expect_columns_as_on_host<std::uint32_t, std::uint32_t>(
        [](const auto& on, const auto& in, auto* out) { inclusive_scan_along(on, in, 0, out); });
    expect_columns_as_on_host<std::uint64_t, std::uint16_t>(
        [](const auto& on, const auto& in, auto* out) { exclusive_scan_along(on, in, 0, out); });
    expect_columns_as_on_host<std::int16_t, std::int16_t>(
        [](const auto& on, const auto& in, auto* out) { inclusive_scan_along(on, in, 0, out); });
    expect_columns_as_on_host<std::int32_t, std::int32_t>(
        [](const auto& on, const auto& in, auto* out) { exclusive_scan_along(on, in, 0, out, maximum{}, -7); });
    workspace memory(scan_along_workspace<double>(200000));
    expect_columns_as_on_host<double, double>([&](const auto& on, const auto& in, auto* out) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(on)>, gpu>) {
            inclusive_scan_along(gpu{nullptr, &memory}, in, 0, out, minimum{});
        } else {
            inclusive_scan_along(on, in, 0, out, minimum{});
        }
    });
    tests::expect_zero(memory);
}

// Elements of three bytes and of twelve, which no vector and no word has.
template <class X, unsigned Count>
struct few {
    X of[Count];

    bool operator==(const few&) const = default;
};
struct add_each {
    template <class X, unsigned Count>
    __host__ __device__ few<X, Count> operator()(few<X, Count> a, const few<X, Count>& b) const {
        for (unsigned k = 0; k < Count; ++k) {
            a.of[k] = static_cast<X>(a.of[k] + b.of[k]);
        }
        return a;
    }
};
template <class T>
void expect_odd_elements_as_on_host() {
    for (const std::uint64_t columns : {5, 70}) {
        const std::uint64_t rows = 3000;
        std::vector<T> data(rows * columns), expected(data.size());
        std::mt19937 random(7);
        for (T& one : data) {
            for (auto& x : one.of) {
                x = static_cast<std::remove_reference_t<decltype(x)>>(random());
            }
        }
        const on_device<T> in(data), out(data.size());
        inclusive_scan_along(host{1}, strided_view<const T>(data.data(), {rows, columns}), 0, expected.data(),
                             add_each{});
        inclusive_scan_along(gpu{}, strided_view<const T>(in.data(), {rows, columns}), 0, out.data(), add_each{});
        CUDA(cudaDeviceSynchronize());
        ASSERT_EQ(out.read(), expected) << sizeof(T) << " bytes, " << columns << " columns";
    }
}
TEST(ScanAlongAxis, OddElements) {
    expect_odd_elements_as_on_host<few<std::uint8_t, 3>>();
    expect_odd_elements_as_on_host<few<std::uint32_t, 3>>();
}

// Compositions of maps, which have no identity and do not commute, in place; every element, or every second one.
TEST(ScanAlongAxis, InOrderAndInPlace) {
    const std::pair<std::uint64_t, std::uint64_t> shapes[]{{1, 20}, {30, 20}, {3000, 20}, {20, 3000}, {300, 1100}};
    for (const auto& [rows, columns] : shapes) {
        const auto pitch = static_cast<std::int64_t>(2 * columns);
        for (const auto& [axis, apart] : {std::pair<int, std::int64_t>{0, 1}, {0, 2}, {1, 2}}) {
            std::vector<tests::affine> data(rows * columns * 2);
            std::mt19937 random(3);
            for (auto& one : data) {
                one = {static_cast<std::uint32_t>(random()) | 1u, static_cast<std::uint32_t>(random())};
            }
            const on_device<tests::affine> in(data);
            // Rows with gaps, which end with the last element.
            const strided_view<tests::affine> view(data.data(), {rows, columns}, {pitch, apart});
            const strided_view<tests::affine> on_gpu(in.data(), {rows, columns}, {pitch, apart});
            inclusive_scan_along(gpu{}, on_gpu, axis, on_gpu, tests::then{});
            inclusive_scan_along(host{1}, view, axis, view, tests::then{});
            CUDA(cudaDeviceSynchronize());
            ASSERT_EQ(in.read(), data) << rows << " x " << columns << ", axis " << axis;
        }
    }
}

TEST(ScanAlongAxis, BadArguments) {
    const on_device<int> data(24);
    const strided_view<int> view(data.data(), {2, 3, 4});
    tests::expect_invalid_argument([&] { inclusive_scan_along(gpu{}, view, 3, data.data()); }, "there is no axis 3");
    tests::expect_invalid_argument(
        [&] {
            inclusive_scan_along(gpu{}, view, 1, strided_view<int>(data.data(), {2, 4, 3}));
        },
        "extents");
    tests::expect_invalid_argument([&] { inclusive_scan_along(gpu{}, view, 1, static_cast<int*>(nullptr)); },
                                   "null pointer");
}

} // namespace
