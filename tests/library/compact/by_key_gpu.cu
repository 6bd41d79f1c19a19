// SPDX-License-Identifier: MIT
// Reductions and scans by key on a GPU, the software one or a real one.
#include "warpfold/by_key.cuh"

#include <functional>
#include <vector>

#include "tests/library/compact/keyed_gpu.hpp"

using namespace warpfold;

namespace {

using tests::as_keys;
using tests::encodes;
using tests::expect_results;
using tests::in_short_tiles;
using tests::in_small_tiles;
using tests::in_usual_tiles;
using tests::on_device;
using tests::reduces;

TEST(by_key, sums_of_bytes) {
    for (const std::uint64_t n : {0, 1, 4095, 4097, 20011}) {
        for (const auto& keys : tests::key_cases(n, 9000)) {
            const auto bytes = as_keys<std::uint8_t>(keys);
            const auto values = tests::any_numbers<std::int8_t>(n, 1);
            reduces<std::int64_t>(gpu{}, bytes, values, sum{}, equals{});
            reduces<std::int64_t>(in_usual_tiles, bytes, values, sum{}, equals{});
        }
    }
}
TEST(by_key, floats) {
    for (const std::uint64_t n : {1, 4095, 4096, 9001}) {
        for (const auto& keys : tests::key_cases(n, 9000)) {
            reduces<float>(gpu{}, keys, tests::small_numbers<float>(n, 2), std::plus<>{}, equals{});
        }
    }
}

// By an operation that has an order and no identity, in more tiles than a district of the tile prefix has.
template <class On>
void reduces_in_order(On on) {
    workspace memory(reduce_by_key_workspace<std::uint32_t, tests::affine, tests::then>(66001, on));
    on.memory = &memory;
    for (const std::uint64_t n : {0u, 1u, 63u, 64u, 65u, 2049u, 66001u}) {
        std::vector<tests::affine> maps;
        for (std::uint32_t k = 0; k < n; ++k) {
            maps.push_back({2 * k + 1, k * k + 1});
        }
        const auto cases = tests::key_cases(n, 9000);
        for (std::size_t c = n > 60000 ? 3 : 0; c < cases.size(); ++c) {
            reduces<tests::affine>(on, cases[c], maps, tests::then{}, equals{});
        }
    }
    tests::expect_zero(memory);
}
TEST(by_key, in_order) { reduces_in_order(in_small_tiles); }
TEST(by_key, in_order_in_short_arrays) { reduces_in_order(in_short_tiles); }

TEST(by_key, keys_of_twelve_bytes) {
    for (const std::uint64_t n : {1, 1279, 5003}) {
        std::vector<tests::triple> keys(n);
        for (std::size_t k = 0; k < n; ++k) {
            keys[k] = {static_cast<std::int32_t>(k / 7 % 5), static_cast<std::int32_t>(k), 1};
        }
        reduces<double>(gpu{}, keys, tests::small_numbers<double>(n, 3), maximum{}, tests::equal_x{});
    }
}

TEST(by_key, run_lengths_across_tiles) {
    for (const std::uint64_t n : {1u, 31u, 2049u, 66001u}) {
        const auto cases = tests::key_cases(n, 9000);
        for (std::size_t c = 0; c < cases.size(); ++c) {
            encodes<std::uint32_t, std::uint32_t>(in_small_tiles, cases[c], c % 4);
            encodes<std::uint64_t, std::uint8_t>(gpu{}, cases[c], c);
            encodes<std::uint64_t, std::uint8_t>(in_usual_tiles, cases[c], c);
        }
    }
    encodes<std::uint32_t, std::uint64_t>(gpu{}, std::vector<std::uint32_t>(20'000, 7), 1);
}

TEST(by_key, run_lengths) {
    for (const std::uint64_t n : {0, 1, 255, 257, 9001}) {
        const auto data = tests::floats_in_runs(n);
        const auto heads = tests::heads_of(data, std::equal_to<>{});
        const auto lengths = tests::folded_runs<std::uint16_t>(heads, std::vector<std::uint16_t>(n, 1), sum{});
        const on_device<float> in(data, 1), out(n + 1);
        const on_device<std::uint16_t> got(n + 1);
        const on_device<std::uint64_t> number(std::vector<std::uint64_t>{n});
        EXPECT_EQ(
            run_length_encode(in_small_tiles, in.data(), count_at(number.data(), n + 1000), out.data(), got.data()),
            lengths.size());
        expect_results(out, tests::partitioned(data, heads).first, "elements");
        expect_results(got, lengths, "lengths");
    }
}

TEST(by_key, scans) {
    for (const std::uint64_t n : {1, 4099, 20012}) {
        for (const auto& keys : tests::key_cases(n, 9000)) {
            const auto values = tests::any_numbers<std::uint32_t>(n, 2);
            const on_device<std::uint32_t> keys_in(keys, n % 4), in(values), out(n);
            std::vector<std::uint32_t> expected(n);
            inclusive_scan_by_key(gpu{}, keys_in.data(), n, in.data(), out.data());
            inclusive_scan_by_key(host{1}, keys, values, expected);
            EXPECT_EQ(out.read(), expected) << n;
            exclusive_scan_by_key(gpu{}, keys_in.data(), n, in.data(), in.data(), sum{}, tests::low_bits_equal{}, 9u,
                                  reversed);
            exclusive_scan_by_key(host{1}, keys, values, expected, sum{}, tests::low_bits_equal{}, 9u, reversed);
            EXPECT_EQ(in.read(), expected) << n;
        }
    }
}

} // namespace
