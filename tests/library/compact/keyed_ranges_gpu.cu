// SPDX-License-Identifier: MIT
// Reductions by key and run-length encodings by the kernel of ranges (gpu/compact/keyed_ranges.cuh), on arrays of any length.
#include "warpfold/by_key.cuh"

#include <functional>
#include <vector>

#include "tests/library/compact/keyed_gpu.hpp"

using namespace warpfold;

namespace {

using tests::as_keys;
using tests::encodes;
using tests::expect_results;
using tests::on_device;
using tests::reduces;

// Tiles of 128 elements of 8 bytes and blocks of two warps, so that few elements have many ranges; and those of the default. Of
// the former a warp keeps where all runs begin, where the first few do, or nothing.
constexpr tuning::range_tiles short_tiles{.block_threads = 64, .bytes_per_thread = 32, .kept_run = 1};
constexpr tuning::compact_kernels small{.ranges = short_tiles, .lengths = short_tiles};
auto in_small_ranges_keeping(unsigned bytes) {
    return gpu{}.with(
        tuning::compact_policy<small>{.kept_warp_bytes = bytes, .ranges_min_bytes = 0, .ranges_min_key_bytes = 0});
}
const auto in_small_ranges = in_small_ranges_keeping(~0u);
const std::vector each_keeping{in_small_ranges, in_small_ranges_keeping(48), in_small_ranges_keeping(0)};
const auto in_ranges = gpu{}.with(tuning::compact_policy<>{.ranges_min_bytes = 0, .ranges_min_key_bytes = 0});

TEST(keyed_ranges, floats) {
    for (const std::uint64_t n : {0, 1, 127, 128, 129, 255, 257, 9001}) {
        unsigned offset = 0;
        for (const auto& keys : tests::key_cases(n, 9000)) {
            for (const auto& on : each_keeping) {
                reduces<float>(on, keys, tests::small_numbers<float>(n, 2), offset, std::plus<>{}, equals{});
            }
            ++offset;
        }
    }
    for (const auto& keys : tests::key_cases(30'000, 9000)) {
        reduces<double>(in_ranges, keys, tests::small_numbers<float>(30'000, 2), 1, sum{}, equals{});
    }
}

// By an operation that has an order and no identity; runs cross warps and blocks.
TEST(keyed_ranges, in_order) {
    workspace memory(reduce_by_key_workspace<std::uint64_t, tests::affine, tests::then>(66001, in_small_ranges));
    for (const std::uint64_t n : {1u, 63u, 64u, 65u, 2049u, 66001u}) {
        std::vector<tests::affine> maps;
        for (std::uint32_t k = 0; k < n; ++k) {
            maps.push_back({2 * k + 1, k * k + 1});
        }
        for (const unsigned longest : {700u, 9000u}) {
            for (const auto& keys : tests::key_cases(n, longest)) {
                for (auto on : each_keeping) {
                    on.memory = &memory;
                    reduces<tests::affine>(on, as_keys<std::uint64_t>(keys), maps, n % 2, tests::then{}, equals{});
                }
            }
        }
    }
    tests::expect_zero(memory);
}

TEST(keyed_ranges, elements_of_several_sizes) {
    for (const std::uint64_t n : {1, 4097, 20011}) {
        for (const auto& keys : tests::key_cases(n, 9000)) {
            reduces<std::int64_t>(in_ranges, as_keys<std::uint8_t>(keys), tests::any_numbers<std::int8_t>(n, 1), 16,
                                  sum{}, equals{});
            reduces<std::uint16_t>(in_small_ranges, as_keys<std::uint8_t>(keys),
                                   tests::any_numbers<std::uint16_t>(n, 1), 8, maximum{}, equals{});
            reduces<std::uint64_t>(in_small_ranges, as_keys<std::uint16_t>(keys),
                                   tests::any_numbers<std::uint64_t>(n, 1), 3, sum{}, equals{});
        }
    }
}

// Integer sums and products of 32 bits or fewer wrap as those of 64 bits do when they are written.
TEST(keyed_ranges, narrow_results) {
    const auto keys = tests::key_cases(5000, 900)[3];
    const auto values = tests::any_numbers<std::int32_t>(5000, 4);
    for (const unsigned offset : {0u, 3u}) {
        reduces<std::int32_t>(in_ranges, keys, values, offset, sum{}, equals{});
        reduces<std::uint8_t>(in_ranges, keys, values, offset, sum{}, equals{});
        reduces<std::int16_t>(gpu{}, keys, values, offset, product{}, equals{});
        reduces<std::uint64_t>(in_ranges, keys, values, offset, sum{}, equals{});
    }
}

TEST(keyed_ranges, run_lengths) {
    for (const std::uint64_t n : {1u, 31u, 256u, 2049u, 66001u}) {
        const auto cases = tests::key_cases(n, 9000);
        for (unsigned c = 0; c < cases.size(); ++c) {
            for (const auto& on : each_keeping) {
                encodes<std::uint32_t, std::uint32_t>(on, cases[c], c);
                encodes<std::uint16_t, std::uint64_t>(on, cases[c], c);
            }
            encodes<std::uint64_t, std::uint8_t>(in_ranges, cases[c], 5 * c);
        }
    }
}

TEST(keyed_ranges, number_of_elements_on_the_device) {
    const auto keys = tests::key_cases(66001, 300)[3];
    for (const std::uint64_t n : {0u, 1u, 129u, 5000u, 66001u}) {
        const std::vector<std::uint32_t> some(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n));
        const auto heads = tests::heads_of(some, equals{});
        const auto ones = std::vector<std::uint32_t>(n, 1);
        const on_device<std::uint32_t> in(keys, 1), values(std::vector<std::uint32_t>(66001, 1), 1), out(n + 1),
            folds(n + 1);
        const on_device<std::uint64_t> number(std::vector<std::uint64_t>{n});
        EXPECT_EQ(reduce_by_key(in_small_ranges, in.data(), count_at(number.data(), 66001), values.data(), out.data(),
                                folds.data()),
                  tests::folded_runs<std::uint32_t>(heads, ones, sum{}).size());
        expect_results(folds, tests::folded_runs<std::uint32_t>(heads, ones, sum{}), std::to_string(n));
    }
}

} // namespace
