// SPDX-License-Identifier: MIT
// What calls ask for in temporary memory stays within what the library promises, over sizes, types and numbers of bins;
// and a workspace of just as much is enough. docs/library/ has the promises.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "warpfold/exact_sum.cuh"
#include "warpfold/histogram.cuh"
#include "warpfold/reduce.cuh"
#include "warpfold/scan.cuh"
#include "warpfold/segmented_reduce.cuh"

using namespace warpfold;

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

struct pair {
    std::uint64_t a, b;
};
struct add_pairs {
    __host__ __device__ constexpr pair operator()(const pair& x, const pair& y) const { return {x.a + y.a, x.b + y.b}; }
};

// Aligned to more than 16 bytes, and folded without an identity.
struct alignas(32) four {
    double of[4];
};
struct add_fours {
    __host__ __device__ four operator()(const four& x, const four& y) const {
        return {{x.of[0] + y.of[0], x.of[1] + y.of[1], x.of[2] + y.of[2], x.of[3] + y.of[3]}};
    }
};

struct add_fours_to_zero : add_fours {
    template <class A>
    __host__ __device__ static constexpr A identity() {
        return {};
    }
};

std::vector<std::uint64_t> sizes() {
    std::vector<std::uint64_t> all{0, 1, 3, 1000003};
    for (unsigned e = 4; e <= 40; ++e) {
        for (const std::uint64_t n :
             {(std::uint64_t{1} << e) - 1, std::uint64_t{1} << e, (std::uint64_t{1} << e) + 1}) {
            all.push_back(n);
        }
    }
    return all;
}

void within(std::size_t asked, std::uint64_t allowed, const char* what, std::uint64_t n) {
    EXPECT_LE(asked, allowed) << what << " of " << n << " elements";
}

// Less than 1 MiB and a thousandth of the input, whatever the values' type.
TEST(workspace, reductions) {
    for (const std::size_t bytes : {1, 2, 4, 8, 12, 16, 32, 64}) {
        within(reduce_workspace(bytes), mebibyte, "reduce", 0);
        within(segmented_reduce_workspace(bytes), mebibyte, "segmented_reduce", 0);
    }
    within(exact_sum_workspace(), mebibyte, "exact_sum", 0);
}

// Less than 1 MiB and 0.11 % of the larger one of input and output; of both, where values have 16 bytes.
template <class T, class U = T, class Op = sum>
void scans(const char* what) {
    constexpr std::size_t larger = sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U);
    constexpr std::size_t bytes = larger <= 8 ? larger : sizeof(T) + sizeof(U);
    std::size_t before = 0;
    for (const std::uint64_t n : sizes()) {
        const std::size_t asked = scan_workspace<T, U, Op>(n);
        within(asked, mebibyte + n * bytes / 100000 * 110, what, n);
        before = asked;
    }
    EXPECT_TRUE(before > 0);
}

template <class Bins, class Counter>
void histograms_of(const Bins& bins, std::uint64_t count) {
    within(histogram_workspace(), 4 * count * sizeof(Counter), "histogram", count);
    const std::vector<std::int32_t> samples(100, 0);
    const tests::on_device<std::int32_t> there(samples);
    const tests::on_device<Counter> counts(std::vector<Counter>(count, 7));
    workspace memory(histogram_workspace());
    histogram(gpu{nullptr, &memory}, there.data(), samples.size(), counts.data(), bins);
    EXPECT_EQ(counts.read().front(), samples.size());
}

// At most four times what the counts take: two counters of 32 bits are the fewest there can be.
TEST(workspace, histograms) {
    for (const std::uint64_t count : {2u, 3u, 256u, 70000u}) {
        histograms_of<even_bins<std::int32_t>, std::uint32_t>({0, 100000, count}, count);
        histograms_of<even_bins<std::int32_t>, std::uint64_t>({0, 100000, count}, count);
    }
    histograms_of<even_bins<std::int32_t>, std::uint64_t>({0, 100000, 1}, 1);
}

// Exactly as much as they ask for is enough, at sizes on both sides of one block.
TEST(workspace, enough) {
    for (const std::uint64_t n : {1u, 1000u, 30000u, 200000u}) {
        const std::vector<float> ones(n, 1.0f);
        const tests::on_device<float> in(ones), out(ones);
        {
            workspace memory(reduce_workspace(sizeof(float)));
            EXPECT_EQ(reduce(gpu{nullptr, &memory}, in.data(), n), static_cast<float>(n));
        }
        {
            workspace memory(exact_sum_workspace());
            EXPECT_EQ(exact_sum(gpu{nullptr, &memory}, in.data(), n), static_cast<float>(n));
        }
        {
            workspace memory(scan_workspace<float>(n));
            inclusive_scan(gpu{nullptr, &memory}, in.data(), n, out.data());
            EXPECT_EQ(out.read().back(), static_cast<float>(n));
        }
        {
            workspace memory(segmented_reduce_workspace(sizeof(float)));
            segmented_reduce(gpu{nullptr, &memory}, in.data(), equal_segments{n}, 1, out.data());
            EXPECT_EQ(out.read().front(), static_cast<float>(n));
        }
    }
}

TEST(workspace, enough_for_large_alignments) {
    const std::uint64_t n = 100000;
    const tests::on_device<four> in(std::vector<four>(n, four{{1, 2, 3, 4}})), out(2);
    workspace memory(reduce_workspace(sizeof(four)));
    const four total = reduce(gpu{nullptr, &memory}, in.data(), n, add_fours{}, four{{1, 1, 1, 1}});
    EXPECT_TRUE(total.of[0] == n + 1.0 && total.of[3] == 4.0 * n + 1);
    workspace of_segments(segmented_reduce_workspace(sizeof(four)));
    segmented_reduce(gpu{nullptr, &of_segments}, in.data(), equal_segments{n / 2}, 2, out.data(), add_fours_to_zero{});
    EXPECT_EQ(out.read()[1].of[2], 1.5 * n);
}

TEST(workspace, scans) {
    scans<std::uint8_t>("inclusive_scan, u8");
    scans<std::uint16_t>("inclusive_scan, u16");
    scans<std::int32_t>("inclusive_scan, i32");
    scans<std::int32_t, std::int64_t>("inclusive_scan, i32 into i64");
    scans<double>("inclusive_scan, f64");
    scans<pair, pair, add_pairs>("inclusive_scan, 16 bytes");
}

TEST(workspace, host_scans_need_none) {
    std::vector<pair> pairs(3, {1, 2});
    inclusive_scan(host{1}, pairs.data(), pairs.size(), pairs.data(), add_pairs{});
    EXPECT_TRUE(pairs.back().a == 3 && pairs.back().b == 6);
}

} // namespace
