// SPDX-License-Identifier: MIT
// Scans of long arrays on a GPU in tiles as large as they are, even where arrays are short: several tiles a block on a
// card that has few multiprocessors, and one of them in shared memory where there is no room for more.
#include "warpfold/scan.cuh"

#include <cstdint>
#include <cstdio>
#include <cstring>
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
                                       .short_resident_max_tiles = 0};
constexpr tuning::scan_policy<kernels> all_long{
    .small_block_max_tiles = 0, .medium_block_max_tiles = 0, .tall_max_tiles = 0};
using gpu = tests::gpu_with<all_long>;

template <class T, class U, class Op>
void check(std::uint64_t n, std::size_t skip, const Op& op) {
    workspace memory(scan_workspace<std::uint64_t>(1000000, gpu{}));
    const auto x = tests::small_numbers<T>(n, static_cast<unsigned>(n));
    const on_device<T> in(x, skip);
    const on_device<U> out(std::vector<U>(n, U{}));
    inclusive_scan(gpu{nullptr, &memory}, in.data(), n, out.data(), op);
    EXPECT_TRUE(tests::same_bits(out.read(), scanned<U, U>(x, op, true)));
    exclusive_scan(gpu{nullptr, &memory}, in.data(), n, out.data(), op, 7, reversed);
    EXPECT_TRUE(tests::same_bits(out.read(), scanned<U, U>(x, op, false, U(7), true)));
    tests::expect_zero(memory);
}

TEST(scan_whole_tiles, order) {
    const std::uint64_t n = 30011;
    std::vector<tests::affine> maps(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        maps[k] = {static_cast<std::uint32_t>(2 * k + 1), static_cast<std::uint32_t>(k * k + 1)};
    }
    const on_device<tests::affine> in(maps);
    inclusive_scan(gpu{}, in.data(), n, in.data(), tests::then{});
    EXPECT_EQ(in.read(), (scanned<tests::affine, tests::affine>(maps, tests::then{}, true)));
}

// The bits of sums that are not exact, which are to be the same whatever the card.
std::uint64_t bits_of_sums() {
    const std::uint64_t n = 400009;
    std::vector<float> x(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        x[k] = 1.0f / static_cast<float>(k + 1);
    }
    const on_device<float> in(x), out(std::vector<float>(n, 0.0f));
    inclusive_scan(gpu{}, in.data(), n, out.data());
    std::uint64_t hash = 1469598103934665603u;
    for (const float sum : out.read()) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &sum, 4);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return hash;
}

// 110 tiles.
TEST(scan_whole_tiles, integers) { check<std::int32_t, std::int32_t>(900001, 0, sum{}); }
TEST(scan_whole_tiles, read_and_written_in_different_lengths) { check<std::int32_t, std::int64_t>(300007, 1, sum{}); }
TEST(scan_whole_tiles, bytes) { check<std::uint8_t, std::uint8_t>(300007, 3, sum{}); }

// The hash of the T4, the RTX 4090 and the H100.
TEST(scan_whole_tiles, bits_of_floating_point_sums_do_not_depend_on_the_card) {
    EXPECT_EQ(bits_of_sums(), 0x7a8b6ec44ca0d024u);
}

} // namespace
