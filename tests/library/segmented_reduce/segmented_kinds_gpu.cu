// SPDX-License-Identifier: MIT
// Maps, places, extremes and exact sums of segments on a GPU, the software one or a real one, against the host's.
#include <cstdint>
#include <vector>

#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/segmented_reduce/segmented_kinds_cases.hpp"
#include "warpfold/segmented_exact_sum.cuh"
#include "warpfold/segmented_reduce.cuh"

using namespace warpfold;

namespace {

using tests::on_device;

// Calls call(target, offsets, segments, out) on the GPU and on the host; results have to be equal.
template <class R, class T, class Call, class Equal>
void expect_like_host(const std::vector<T>& data, const tests::segment_case& one, workspace* memory, const Call& call,
                      const Equal& equal) {
    const std::uint64_t segments = one.offsets.size() - 1;
    const on_device<T> there(data);
    const on_device<std::uint64_t> offsets_there(one.offsets);
    const on_device<R> out(segments + 1);
    const R behind = out.read().back();
    std::vector<R> right(segments);
    call(host{1}, data.data(), one.offsets.data(), segments, right.data());
    call(gpu{nullptr, memory}, there.data(), offsets_there.data(), segments, out.data());
    const auto got = out.read();
    for (std::uint64_t s = 0; s < segments; ++s) {
        ASSERT_TRUE(equal(got[s], right[s])) << one.name << ": " << s;
    }
    ASSERT_TRUE(tests::same_bits(got[segments], behind)) << one.name;
}

TEST(SegmentedKinds, Places) {
    workspace memory(segmented_reduce_workspace(sizeof(located<float>)));
    for (const auto& one : tests::segment_kinds()) {
        expect_like_host<located<float>>(
            tests::numbers_with_nan(one.offsets.back()), one, &memory,
            [](const auto&... all) { segmented_arg_max(all...); },
            [](const located<float>& a, const located<float>& b) {
                return tests::same_bits(a.value, b.value) && a.index == b.index;
            });
    }
    tests::expect_zero(memory);
}

TEST(SegmentedKinds, Extremes) {
    for (const auto& one : tests::segment_kinds()) {
        expect_like_host<extremes<std::int32_t>>(
            tests::small_numbers<std::int32_t>(one.offsets.back(), 3), one, nullptr,
            [](const auto&... all) { segmented_min_max(all...); },
            [](const auto& a, const auto& b) { return a.smallest == b.smallest && a.largest == b.largest; });
    }
}

// In the order of the elements.
TEST(SegmentedKinds, Maps) {
    for (const auto& one : tests::segment_kinds()) {
        expect_like_host<std::uint64_t>(
            tests::small_numbers<std::int32_t>(one.offsets.back(), 3), one, nullptr,
            [](const auto&... all) {
                segmented_transform_reduce(all..., tests::times_index{}, tests::larger_low_half{}, std::uint64_t{5});
            },
            [](std::uint64_t a, std::uint64_t b) { return a == b; });
    }
}

template <class T>
void exact(workspace* memory, const tests::segment_case& one) {
    expect_like_host<T>(
        tests::summands<T>(one.offsets.back()), one, memory, [](const auto&... all) { segmented_exact_sum(all...); },
        [](T a, T b) { return tests::same_bits(a, b); });
}
TEST(SegmentedKinds, ExactSums) {
    workspace memory(segmented_exact_sum_workspace(1000));
    for (const auto& one : tests::segment_kinds()) {
        workspace least(segmented_exact_sum_workspace(one.offsets.size() - 1));
        exact<float>(&memory, one);
        exact<double>(&least, one);
    }
    tests::expect_zero(memory);
    // More segments than rows of the grid.
    std::vector<std::uint64_t> lengths(9001);
    for (std::uint64_t k = 0; k < lengths.size(); ++k) {
        lengths[k] = k % 3;
    }
    exact<float>(nullptr, {"many", tests::offsets_of(lengths)});
    // Decreasing offsets do no harm.
    const on_device<double> data(100), out(4);
    const on_device<int> offsets(std::vector<int>{7, 90, 3, 2000, 50});
    segmented_exact_sum(gpu{}, data.data(), offsets.data(), 4, out.data());
    CUDA(cudaDeviceSynchronize());
}

TEST(SegmentedKinds, BadArguments) {
    const on_device<float> data(24);
    tests::expect_invalid_argument(
        [&] { segmented_exact_sum(gpu{}, data.data(), static_cast<const int*>(nullptr), 3, data.data()); },
        "segmented_exact_sum: a null pointer");
    workspace little(16);
    tests::expect_invalid_argument(
        [&] {
            segmented_exact_sum(gpu{nullptr, &little}, data.data(), equal_segments{2}, 3, data.data());
        },
        "segmented_exact_sum: the workspace has");
}

} // namespace
