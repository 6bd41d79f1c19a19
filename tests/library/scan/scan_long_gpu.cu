// SPDX-License-Identifier: MIT
// Scans of long arrays on a GPU, with tiles so small that blocks go through many of them, in all their cases.
#include "warpfold/scan.cuh"

#include <vector>

#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/policy/policy_target.hpp"
#include "tests/library/scan/scan_cases.hpp"

using namespace warpfold;
using tests::on_device;
using tests::scanned;

namespace {

// Nothing but one row of one warp is a short array.
constexpr tuning::scan_kernels kernels{.short_rows = 1,
                                       .short_tall_rows = 1,
                                       .short_max_block_threads = 32,
                                       .short_private_max_tiles = 1,
                                       .short_resident_max_tiles = 0,
                                       .long_block_threads = 64,
                                       .long_runs_per_thread = 2,
                                       .long_resident_blocks = 1};
constexpr tuning::scan_policy<kernels> all_long{
    .small_block_max_tiles = 0, .medium_block_max_tiles = 0, .tall_max_tiles = 0};
using gpu = tests::gpu_with<all_long>;

// 512 elements of 4 bytes are a tile, 32 tiles a group.
template <class T, class U>
void aligned_differently(std::uint64_t n) {
    workspace memory(scan_workspace<std::uint64_t>(100000, gpu{}));
    const auto x = tests::small_numbers<T>(n, static_cast<unsigned>(n));
    for (const std::size_t skip : {0u, 1u}) {
        const on_device<T> in(x, skip);
        const on_device<U> a(std::vector<U>(n, U{})), b(std::vector<U>(n, U{}), 3);
        const gpu with{nullptr, &memory};
        inclusive_scan(with, in.data(), n, a.data());
        EXPECT_TRUE(tests::same_bits(a.read(), scanned<U, U>(x, sum{}, true)));
        exclusive_scan(with, in.data(), n, b.data(), sum{}, 5, reversed);
        EXPECT_TRUE(tests::same_bits(b.read(), scanned<U, U>(x, sum{}, false, U(5), true)));
    }
    tests::expect_zero(memory);
}

TEST(scan_long, in_place) {
    workspace memory(scan_workspace<std::uint64_t>(100000, gpu{}));
    const std::uint64_t n = 40003;
    const auto x = tests::any_numbers<double>(n, 5);
    const on_device<double> a(x, 1);
    inclusive_scan(gpu{nullptr, &memory}, a.data(), n, a.data(), maximum{}, reversed);
    EXPECT_TRUE(tests::same_bits(a.read(), scanned<double, double>(x, maximum{}, true, {}, true)));
    tests::expect_zero(memory);
}

TEST(scan_long, order) {
    workspace memory(scan_workspace<std::uint64_t>(100000, gpu{}));
    const std::uint64_t n = 50021;
    std::vector<tests::affine> maps(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        maps[k] = {static_cast<std::uint32_t>(2 * k + 1), static_cast<std::uint32_t>(k * k + 1)};
    }
    const on_device<tests::affine> in(maps);
    inclusive_scan(gpu{nullptr, &memory}, in.data(), n, in.data(), tests::then{});
    EXPECT_EQ(in.read(), (scanned<tests::affine, tests::affine>(maps, tests::then{}, true)));
    tests::expect_zero(memory);
}

// Sums that are not exact have the same bits in every run.
TEST(scan_long, floating) {
    workspace memory(scan_workspace<std::uint64_t>(100000, gpu{}));
    const std::uint64_t n = 60013;
    std::vector<float> x(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        x[k] = 1.0f / static_cast<float>(k + 1);
    }
    const on_device<float> in(x), out(std::vector<float>(n, 0.0f));
    std::vector<float> once;
    for (unsigned run = 0; run < 3; ++run) {
        inclusive_scan(gpu{nullptr, &memory}, in.data(), n, out.data());
        if (run == 0) {
            once = out.read();
            double sum = 0;
            for (std::uint64_t k = 0; k < n; ++k) {
                sum += x[k];
                EXPECT_TRUE(once[k] > sum * (1 - 1e-5) && once[k] < sum * (1 + 1e-5));
            }
        }
        EXPECT_TRUE(tests::same_bits(out.read(), once));
    }
    tests::expect_zero(memory);
}

TEST(scan_long, lengths_around_a_tile_and_a_group) {
    for (const std::uint64_t n : {1u, 511u, 512u, 513u, 16384u, 16385u, 60013u}) {
        aligned_differently<std::int32_t, std::int32_t>(n);
    }
}
TEST(scan_long, bytes) { aligned_differently<std::uint8_t, std::uint8_t>(100003); }
TEST(scan_long, results_wider_and_narrower_than_elements) {
    aligned_differently<std::int32_t, std::int64_t>(20011);
    aligned_differently<std::int64_t, std::int16_t>(20011);
}

} // namespace
