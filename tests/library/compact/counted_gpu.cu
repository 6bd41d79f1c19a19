// SPDX-License-Identifier: MIT
// count_at in reductions and scans on a GPU, the software one or a real one: the host's results with the number itself.
// Arrays have no more elements than the number says.
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "tests/library/captured_calls.hpp"
#include "tests/library/compact/counted_cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "warpfold/by_key.cuh"
#include "warpfold/exact_moments.cuh"
#include "warpfold/exact_sum.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/select.cuh"

using namespace warpfold;

namespace {

using tests::on_device;

TEST(Counted, Reductions) {
    const auto all = tests::counted_data(tests::counted_most);
    workspace memory(reduce_workspace(sizeof(located<float>)));
    const gpu on{nullptr, &memory};
    for (const std::uint32_t number : tests::counted_numbers()) {
        const std::uint64_t n = std::min<std::uint64_t>(number, tests::counted_most);
        const std::vector<float> data(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
        const on_device<float> there(data, n % 3), sum_there(1);
        const on_device<std::uint32_t> number_there(std::vector<std::uint32_t>{number});
        const on_device<located<float>> least(1);
        const count_at count(number_there.data(), tests::counted_most);
        reduce(on, there.data(), count, sum_there.data());
        arg_min(on, there.data(), count, least.data());
        EXPECT_EQ(sum_there.read()[0], reduce(host{}, data)) << number;
        const located<float> place = least.read()[0];
        if (n == 0) {
            EXPECT_EQ(place.index, no_element);
            EXPECT_EQ(place.value, 0);
        } else {
            EXPECT_EQ(place.index, arg_min(host{}, data).index) << number;
            EXPECT_EQ(place.value, arg_min(host{}, data).value) << number;
        }
        // In order, and the value returned.
        EXPECT_EQ(
            transform_reduce(on, there.data(), count, tests::times_index{}, tests::larger_low_half{}, std::uint64_t{3}),
            transform_reduce(host{}, data, tests::times_index{}, tests::larger_low_half{}, std::uint64_t{3}));
    }
    tests::expect_zero(memory);
}

TEST(Counted, ExactSums) {
    const auto all = tests::counted_data(tests::counted_most);
    workspace memory(exact_sum_workspace());
    const gpu on{nullptr, &memory};
    for (const std::uint32_t number : tests::counted_numbers()) {
        const std::uint64_t n = std::min<std::uint64_t>(number, tests::counted_most);
        std::vector<float> data(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
        for (std::uint64_t k = 0; k < n; k += 1000) {
            data[k] = 1e30f; // beyond the fixed window
        }
        const std::vector<double> wide(data.rbegin(), data.rend());
        const on_device<float> there(data, n % 3), sum_there(1);
        const on_device<double> wide_there(wide, n % 2);
        const on_device<std::uint32_t> number_there(std::vector<std::uint32_t>{number});
        const count_at count(number_there.data(), tests::counted_most);
        exact_sum(on, there.data(), count, sum_there.data());
        EXPECT_EQ(sum_there.read()[0], exact_sum(host{}, data)) << number;
        EXPECT_EQ(exact_dot(on, there.data(), wide_there.data(), count), exact_dot(host{}, data, wide)) << number;
    }
    tests::expect_zero(memory);
}

TEST(Counted, ExactSumsAndMoments) {
    workspace memory(std::max(exact_sum_workspace(), exact_moments_workspace()));
    const gpu on{nullptr, &memory};
    tests::each_counted_exact_sum([&](const auto& all, const auto& call) {
        using element = typename std::remove_cvref_t<decltype(all)>::value_type;
        for (const std::uint32_t number : {0u, 1u, 31u, 4099u, 20000u, 40003u, 1u << 31}) {
            const std::uint64_t n = std::min<std::uint64_t>(number, tests::counted_most);
            const std::vector<element> data(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
            const on_device<element> there(data, n % 3);
            const on_device<std::uint32_t> number_there(std::vector<std::uint32_t>{number});
            const count_at count(number_there.data(), tests::counted_most);
            const auto right = call(host{}, data.data(), n);
            const on_device<std::remove_const_t<decltype(right)>> out(1);
            call(on, there.data(), count, out.data());
            EXPECT_EQ(std::memcmp(out.read().data(), &right, sizeof(right)), 0) << number;
            const auto got = call(gpu{}, there.data(), count);
            EXPECT_EQ(std::memcmp(&got, &right, sizeof(right)), 0) << number;
        }
    });
    tests::expect_zero(memory);
}

TEST(Counted, Scans) {
    const auto all = tests::counted_data(tests::counted_most);
    workspace memory(scan_workspace<float>(tests::counted_most));
    const gpu on{nullptr, &memory};
    for (const std::uint32_t number : tests::counted_numbers()) {
        const std::uint64_t n = std::min<std::uint64_t>(number, tests::counted_most);
        const std::vector<float> data(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
        const on_device<float> there(data, n % 3), out(data, n % 2);
        const on_device<std::uint32_t> number_there(std::vector<std::uint32_t>{number});
        const count_at count(number_there.data(), tests::counted_most);
        std::vector<float> right(n);
        exclusive_scan(host{}, data, right, sum{}, 2.0f);
        exclusive_scan(on, there.data(), count, out.data(), sum{}, 2.0f);
        EXPECT_EQ(out.read(), right) << number;
        exclusive_scan(on, there.data(), count, there.data(), sum{}, 2.0f);
        EXPECT_EQ(there.read(), right) << number << " in place";
        const on_device<float> more(data, n % 4);
        inclusive_scan(host{}, data, right, sum{}, reversed);
        inclusive_scan(on, more.data(), count, out.data(), sum{}, reversed);
        EXPECT_EQ(out.read(), right) << number << " reversed";
        exclusive_scan(host{}, data, right, sum{}, reversed, equal_segments{1000});
        exclusive_scan(on, more.data(), count, more.data(), sum{}, equal_segments{1000}, reversed);
        EXPECT_EQ(more.read(), right) << number << " reversed, in segments";
    }
    tests::expect_zero(memory);
}

TEST(Counted, ScansByKey) {
    const auto all = tests::counted_data(tests::counted_most);
    const auto all_keys = tests::counted_keys(tests::counted_most);
    workspace memory(scan_workspace<float>(tests::counted_most));
    const gpu on{nullptr, &memory};
    for (const std::uint32_t number : tests::counted_numbers()) {
        const auto n = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(number, tests::counted_most));
        const std::vector<float> data(all.begin(), all.begin() + n);
        const std::vector<int> keys(all_keys.begin(), all_keys.begin() + n);
        const on_device<float> there(data, static_cast<std::size_t>(n % 3)), out(data);
        const on_device<int> keys_there(keys, static_cast<std::size_t>(n % 2));
        const on_device<std::uint32_t> number_there(std::vector<std::uint32_t>{number});
        std::vector<float> right(data.size());
        inclusive_scan_by_key(host{}, keys, data, right);
        inclusive_scan_by_key(on, keys_there.data(), count_at(number_there.data(), tests::counted_most), there.data(),
                              out.data());
        EXPECT_EQ(out.read(), right) << number;
    }
    tests::expect_zero(memory);
}

// Whole, packed and direct counters, those of bytes, and weights.
template <class T, class Bins, class On = gpu>
void counted_histograms(const std::vector<T>& all, const Bins& bins, const On& target = {}) {
    workspace memory(histogram_workspace());
    for (const std::uint32_t number : tests::counted_numbers()) {
        const auto n = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(number, tests::counted_most));
        const std::vector<T> data(all.begin(), all.begin() + n);
        const on_device<T> there(data, static_cast<std::size_t>(n % 3));
        const on_device<std::uint32_t> number_there(std::vector<std::uint32_t>{number});
        const on_device<std::uint64_t> counts(std::vector<std::uint64_t>(bins.count(), 7));
        const on_device<std::int64_t> sums(std::vector<std::int64_t>(bins.count(), 7));
        const count_at count(number_there.data(), tests::counted_most);
        On on = target;
        on.memory = number % 2 == 0 ? &memory : nullptr;
        histogram(on, there.data(), count, counts.data(), bins);
        EXPECT_EQ(counts.read(), histogram(host{}, data, bins)) << number;
        weighted_histogram(gpu{nullptr, &memory}, there.data(), there.data(), count, sums.data(), bins);
        std::vector<std::int64_t> right(bins.count());
        weighted_histogram(host{}, data, data, right, bins);
        EXPECT_EQ(sums.read(), right) << number;
    }
    tests::expect_zero(memory);
}
TEST(Counted, Histograms) {
    const auto keys = tests::counted_keys(tests::counted_most);
    counted_histograms(keys, even_bins<int>(0, 397, 397));
    constexpr tuning::histogram_policy<> packed{.full_counters_max_blocks = 0};
    counted_histograms(keys, even_bins<int>(0, 397, 397), gpu{}.with(packed));
    counted_histograms(keys, even_bins<int>(0, 1 << 21, 1 << 20));
    counted_histograms(std::vector<std::uint8_t>(keys.begin(), keys.end()), even_bins<int>(0, 256, 64));
}

// select, then the sum and the prefix sums of what is left, in a graph that is launched for different data.
TEST(Counted, ChainInAGraph) {
    const std::uint64_t n = 9001;
    auto data = tests::counted_data(n);
    const on_device<float> there(data), kept(n), total(1), scanned(n);
    const on_device<std::uint64_t> number(1);
    workspace memory(std::max({select_workspace<float>(n), scan_workspace<float>(n), reduce_workspace(8)}));
    const tests::captured_calls captured([&](cudaStream_t stream) {
        const gpu on{stream, &memory};
        select(on, there.data(), n, kept.data(), number.data(), tests::is_multiple_of_three{});
        reduce(on, kept.data(), count_at(number.data(), n), total.data());
        exclusive_scan(on, kept.data(), count_at(number.data(), n), scanned.data(), sum{}, 2.0f);
    });
    for (unsigned run = 0; run < 2; ++run) {
        CUDA(cudaMemcpy(there.data(), data.data(), n * sizeof(float), cudaMemcpyHostToDevice));
        captured.run();
        std::vector<float> left(n);
        left.resize(select(host{}, data, left, tests::is_multiple_of_three{}));
        EXPECT_EQ(number.read()[0], left.size());
        EXPECT_EQ(total.read()[0], reduce(host{}, left));
        std::vector<float> right(left.size());
        exclusive_scan(host{}, left, right, sum{}, 2.0f);
        auto got = scanned.read();
        got.resize(left.size());
        EXPECT_EQ(got, right);
        data.assign(n, 1); // nothing is left
        data[n - 1] = 6;
    }
}

TEST(Counted, BadArguments) {
    const on_device<float> data(8);
    const on_device<int> number(std::vector<int>{4});
    const auto call = [&](const int* at, std::uint64_t most) {
        exclusive_scan(gpu{}, data.data(), count_at(at, most), data.data(), sum{}, 2.0f);
    };
    tests::expect_invalid_argument([&] { call(nullptr, 8); }, "exclusive_scan: a null pointer");
    tests::expect_invalid_argument([&] { call(number.data(), ~std::uint64_t{0}); }, "more than 2^60");
    tests::expect_invalid_argument(
        [&] { reduce(gpu{}, static_cast<const float*>(nullptr), count_at(number.data(), 8), data.data()); },
        "reduce: a null pointer");
}

} // namespace
