// SPDX-License-Identifier: MIT
// Histograms on a GPU, the software one or a real one, against plain counting.
#include "warpfold/histogram.cuh"

#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/histogram/histogram_cases.hpp"

using namespace warpfold;

namespace {

using tests::on_device;

template <class C>
void same(const std::vector<C>& counts, const std::vector<std::uint64_t>& expected, std::uint64_t times = 1) {
    ASSERT_EQ(counts.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
        ASSERT_EQ(static_cast<std::uint64_t>(counts[k]), times * expected[k])
            << "bin " << k << " of " << expected.size();
    }
}

// Every length and start, few bins to many, overwritten and added to, with a workspace and without.
template <class T, class Level, class Counter>
void integers(Level lower, Level upper, std::initializer_list<unsigned> all_bins) {
    workspace memory(histogram_workspace());
    for (const std::uint64_t n : {0u, 1u, 31u, 1025u, 40009u}) {
        for (const std::size_t skip : {0u, 1u, 3u}) {
            const auto data = tests::any_numbers<T>(n, static_cast<unsigned>(n + skip));
            on_device<T> there(data, skip);
            const T* const samples = there.data();
            for (const unsigned bins : all_bins) {
                const even_bins<Level> even(lower, upper, bins);
                const auto expected = tests::counted(data, lower, tests::big{upper} - 1, bins);
                on_device<Counter> counts(std::vector<Counter>(bins, Counter{77}));
                histogram(gpu{nullptr, &memory}, samples, n, counts.data(), even);
                same(counts.read(), expected);
                histogram(gpu{}, samples, n, counts.data(), even, update::add);
                same(counts.read(), expected, 2);
                if (n < 2000) {
                    same(histogram(gpu{}, samples, n, even), expected);
                }
            }
        }
    }
}

// By every kernel, whatever a plan would choose: one block and many, bins of one part and of several, constant samples,
// with so many that counters of 8 bits overflow, also beside each other.
TEST(histogram, every_way) {
    workspace memory(histogram_workspace());
    using of_t = detail::one_channel<detail::even_integers<std::int32_t, false>>;
    using code_t = detail::histogram_code<std::int32_t, of_t, false>;
    struct {
        detail::histogram_method method;
        unsigned groups, parts, copies;
    } const tried[] = {{detail::histogram_method::whole, 1, 1, 32},  {detail::histogram_method::whole, 3, 2, 4},
                       {detail::histogram_method::whole, 2, 5, 1},   {detail::histogram_method::packed, 1, 1, 1},
                       {detail::histogram_method::packed, 2, 3, 1},  {detail::histogram_method::direct, 7, 1, 0},
                       {detail::histogram_method::direct, 2, 1, 64}, {detail::histogram_method::direct, 1, 3, 256}};
    for (const unsigned kind : {0u, 1u, 2u, 3u}) {
        std::vector<std::int32_t> data(100003);
        for (std::size_t k = 0; k < data.size(); ++k) {
            const std::size_t mixed = k * 2654435761u >> 7;
            data[k] = static_cast<std::int32_t>(kind == 0   ? mixed % 1100
                                                : kind == 1 ? 503
                                                : kind == 2 ? 500 + mixed % 9
                                                            : mixed % 1100 * (mixed / 1100 % 2));
        }
        on_device<std::int32_t> there(data);
        const unsigned bins = 999;
        const auto expected = tests::counted(data, 0, 998, bins);
        const code_t code{of_t{{0, 998, bins}, bins}};
        for (const auto& one : tried) {
            detail::histogram_plan plan;
            plan.method = one.method;
            plan.blocks = one.groups * one.parts;
            plan.layout.parts = one.parts;
            plan.layout.part_codes = one.parts == 1 ? bins : (bins / one.parts + 32) / 32 * 32;
            plan.layout.copies = one.copies;
            plan.layout.once = one.parts == 1;
            plan.shared = one.method == detail::histogram_method::whole
                              ? block::histogram::words(plan.layout.part_codes, one.copies) * 4
                          : one.method == detail::histogram_method::packed ? (plan.layout.part_codes + 3) / 4 * 4
                                                                           : one.copies * 8;
            if (plan.shared > detail::histogram_facts::of_device().shared_of_block) {
                continue;
            }
            on_device<std::uint64_t> counts(std::vector<std::uint64_t>(bins, 5));
            const gpu on{nullptr, &memory};
            detail::histogram_engine<gpu>::run(on, static_cast<const std::int32_t*>(there.data()), data.size(),
                                               counts.data(), code, update::overwrite, plan, "test");
            same(counts.read(), expected);
            detail::histogram_engine<gpu>::run(on, static_cast<const std::int32_t*>(there.data()), data.size(),
                                               counts.data(), code, update::add, plan, "test");
            same(counts.read(), expected, 2);
        }
    }
}

// The plans of large calls have room in the device and enough threads for every bin.
TEST(histogram, plans) {
    const detail::histogram_facts facts[] = {{132, 227 << 10, 228 << 10, 50 << 20}, {40, 48 << 10, 64 << 10, 4 << 20}};
    for (const auto& device : facts) {
        for (const std::uint64_t n :
             {std::uint64_t{1}, std::uint64_t{100000}, std::uint64_t{1} << 28, std::uint64_t{1} << 40}) {
            for (const unsigned codes : {1u, 256u, 12289u, 65536u, 1000003u, 1u << 24, 1u << 30}) {
                for (const std::size_t edges : {std::size_t{0}, std::size_t{codes} * 8 + 8}) {
                    const auto plan = detail::plan_histogram(device, n, 4, codes, edges);
                    EXPECT_TRUE(plan.shared <= device.shared_of_block && plan.blocks != 0);
                    EXPECT_TRUE(std::uint64_t{plan.layout.part_codes} * plan.layout.parts >= codes);
                    if (plan.method != detail::histogram_method::direct) {
                        EXPECT_EQ(plan.blocks % plan.layout.parts, 0);
                        EXPECT_TRUE(std::uint64_t{plan.layout.part_codes} * (plan.layout.parts - 1) < codes);
                        EXPECT_TRUE(n / (plan.blocks / plan.layout.parts) < std::uint64_t{1} << 32);
                        const bool whole = plan.method == detail::histogram_method::whole;
                        EXPECT_TRUE(plan.shared >=
                                    plan.layout.part_codes * (whole ? 4 * plan.layout.copies : 1) + (whole ? 4 : 0));
                    }
                }
            }
        }
    }
}

// More samples than 32 bits number, all the same; where WARPFOLD_TEST_LARGE is set, on a device with 10 GB.
template <class T, class Counter>
void large(std::uint64_t n, unsigned bins) {
    workspace memory(histogram_workspace());
    T* samples = nullptr;
    CUDA(cudaMalloc(&samples, n * sizeof(T)));
    CUDA(cudaMemset(samples, 1, n * sizeof(T)));
    T value;
    std::memset(&value, 1, sizeof(T));
    on_device<Counter> counts(std::vector<Counter>(bins, Counter{3}));
    const even_bins<std::int64_t> even(0, std::int64_t{1} << (8 * sizeof(T)), bins);
    histogram(gpu{nullptr, &memory}, static_cast<const T*>(samples), n, counts.data(), even);
    const auto bin =
        static_cast<std::size_t>(tests::even_bin(value, 0, (std::int64_t{1} << (8 * sizeof(T))) - 1, bins));
    std::vector<std::uint64_t> expected(bins);
    expected[bin] = n;
    same(counts.read(), expected);
    CUDA(cudaFree(samples));
}

TEST(histogram, samples_of_32_bits) {
    integers<std::int32_t, std::int64_t, std::uint32_t>(-(std::int64_t{1} << 31), std::int64_t{1} << 31,
                                                        {1, 7, 256, 70000});
}
TEST(histogram, signed_samples_of_8_bits) { integers<std::int8_t, int, std::uint32_t>(-128, 128, {1, 256, 1000}); }
TEST(histogram, samples_of_8_bits) { integers<std::uint8_t, int, std::int64_t>(10, 200, {19, 256}); }

TEST(histogram, large) {
    if (std::getenv("WARPFOLD_TEST_LARGE") == nullptr) {
        GTEST_SKIP() << "WARPFOLD_TEST_LARGE is not set";
    }
    large<std::uint8_t, std::uint32_t>((std::uint64_t{1} << 31) + 7, 256);
    large<std::uint8_t, std::uint64_t>((std::uint64_t{1} << 32) + 5, 100);
    for (const unsigned bins : {1000u, 65536u, 1u << 20, 1u << 22}) {
        large<std::int16_t, std::uint64_t>((std::uint64_t{1} << 32) + 5, bins);
    }
}

} // namespace
