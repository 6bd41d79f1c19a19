// SPDX-License-Identifier: MIT
// What the GPU tests of compactions and of calls by key share.
#pragma once

#include <string>
#include <vector>

#include "tests/library/compact/compact_cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/tuning/compact.hpp"

namespace warpfold::tests {

// Tiles of 32 threads, 32 of them a group, so that few elements have many groups.
constexpr tuning::compact_tiles small_tiles{.bytes_per_thread = 16, .resident_blocks = 1};
constexpr tuning::compact_kernels small_compact{.block_threads = 32,
                                                .wide = small_tiles,
                                                .narrow = small_tiles,
                                                .keyed = small_tiles,
                                                .persistent = {.block_threads = 64, .bytes_per_thread = 32}};
const auto in_small_tiles = gpu{}.with(tuning::compact_policy<small_compact>{});

// As many tiles of a short array as there can be, of few elements.
const auto in_short_tiles =
    gpu{}.with(tuning::compact_policy<tuning::compact_kernels{.block_threads = 64, .short_arrays = small_tiles}>{});

// No array is a short one.
const auto in_usual_tiles = gpu{}.with(tuning::compact_policy<>{.short_max_tiles = 0});

// The kernel for long arrays, in tiles of two warps, and in tiles of its usual size.
const auto in_small_long_tiles =
    gpu{}.with(tuning::compact_policy<small_compact>{.persistent_min_bytes = 0, .kept_min_bytes = ~std::uint64_t{0}});
const auto in_long_tiles =
    gpu{}.with(tuning::compact_policy<>{.persistent_min_bytes = 0, .kept_min_bytes = ~std::uint64_t{0}});

// In ranges, by warps that keep what they select of a part; and in ranges or tiles, by a sample.
const auto in_small_ranges = gpu{}.with(
    tuning::compact_policy<small_compact>{.kept_min_bytes = 0, .kept_percent = 10'000, .kept_warp_bytes = 0});
const auto in_ranges = gpu{}.with(tuning::compact_policy<>{.kept_min_bytes = 0});
const auto by_sample = gpu{}.with(tuning::compact_policy<small_compact>{
    .persistent_min_bytes = 0, .kept_min_bytes = 0, .kept_percent = 0, .kept_warp_bytes = 0});

// The results are `expected`, and nothing behind them is written.
template <class T>
void expect_results(const on_device<T>& out, const std::vector<T>& expected, const std::string& what) {
    const std::vector<T> got = out.read();
    ASSERT_TRUE(begins_with(got, expected)) << what;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(got.data());
    for (std::size_t k = expected.size() * sizeof(T); k < got.size() * sizeof(T); ++k) {
        ASSERT_EQ(bytes[k], 0x77) << what << ": byte " << k;
    }
}

} // namespace warpfold::tests
