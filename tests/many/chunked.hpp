// SPDX-License-Identifier: MIT
// Calls on chunked data over ranks against the host's call on the whole array. Each rank runs these.
#pragma once

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/library/cases.hpp"
#include "tests/many/split.hpp"
#include "tests/message_of.hpp"
#include "warpfold/chunked.hpp"
#include "warpfold/ranks.hpp"

namespace warpfold::tests {

// Chunks of a few elements.
inline chunked_options small_chunks(unsigned seed) { return {.chunk_bytes = 4 + 60 * (seed % 7), .threads = 1}; }

// A user's type with a member of that name.
struct numbered {
    double value;
    std::uint64_t index;
};
struct add_numbered {
    WARPFOLD_HD numbered operator()(const numbered& a, const numbered& b) const {
        return {a.value + b.value, a.index + b.index};
    }
};

template <class On>
void check_chunked_folds(const On& on, const std::vector<std::uint64_t>& split, unsigned seed) {
    const std::uint64_t n = split.back();
    const auto whole = small_numbers<std::int32_t>(n, seed);
    const auto part = part_of(whole, split, on.comm->rank());
    const chunked_options how = small_chunks(seed);
    EXPECT_EQ(chunked_reduce(on, part, how), reduce(host{1}, whole));
    EXPECT_EQ(chunked_reduce(on, part, maximum{}, std::int32_t{-3}, how), reduce(host{1}, whole, maximum{}, -3));
    EXPECT_EQ(chunked_transform_reduce(on, part, times_index{}, sum{}, how),
              transform_reduce(host{1}, whole.data(), n, times_index{}));
    EXPECT_EQ(chunked_count_if(on, part, is_multiple_of_three{}, how),
              count_if(host{1}, whole.data(), n, is_multiple_of_three{}));
    if (n != 0) {
        const auto least = chunked_arg_min(on, part, how), expected = arg_min(host{1}, whole);
        EXPECT_EQ(least.index, expected.index);
        EXPECT_EQ(least.value, expected.value);
        const auto both = chunked_min_max(on, part, how), expected_both = min_max(host{1}, whole);
        EXPECT_EQ(both.smallest, expected_both.smallest);
        EXPECT_EQ(both.largest, expected_both.largest);
    } else {
        EXPECT_THROW((void)chunked_arg_max(on, part, how), invalid_argument);
        EXPECT_THROW((void)chunked_min_max(on, part, how), invalid_argument);
    }
    std::vector<affine> maps(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        maps[k] = {static_cast<std::uint32_t>(2 * k + seed * 4 + 1), static_cast<std::uint32_t>(k)};
    }
    EXPECT_EQ(chunked_reduce(on, part_of(maps, split, on.comm->rank()), then{}, affine{3, 5}, how),
              reduce(host{1}, maps, then{}, affine{3, 5}));

    const std::vector<numbered> ones(part.size(), numbered{1, 2});
    const numbered counted = chunked_reduce(on, ones, add_numbered{}, numbered{0, 0}, how);
    EXPECT_EQ(counted.value, static_cast<double>(n));
    EXPECT_EQ(counted.index, 2 * n);

    const auto floats = any_numbers<double>(n, seed);
    const auto my_floats = part_of(floats, split, on.comm->rank());
    EXPECT_TRUE(same_bits(chunked_exact_sum(on, my_floats, how), exact_sum(host{1}, floats)));
    const even_bins<std::int32_t> bins{-8, 8, 16};
    EXPECT_EQ(chunked_histogram(on, part, bins, how), histogram(host{1}, whole, bins));
    const int root = static_cast<int>(seed % static_cast<unsigned>(on.comm->size()));
    EXPECT_EQ(chunked_histogram(on.at_root(root), part, bins, how).size(), on.comm->rank() == root ? 16u : 0u);
}

template <class On>
void check_chunked_scans(const On& on, const std::vector<std::uint64_t>& split, unsigned seed) {
    const int rank = on.comm->rank();
    const std::uint64_t n = split.back();
    const chunked_options how = small_chunks(seed);
    const auto whole = any_numbers<std::uint32_t>(n, seed);
    const auto part = part_of(whole, split, rank);
    std::vector<std::uint32_t> out(part.size()), expected(n);
    const auto compare = [&] { EXPECT_EQ(out, part_of(expected, split, rank)); };
    inclusive_scan(host{1}, whole, expected);
    chunked_inclusive_scan(on, part, out, sum{}, how);
    compare();
    exclusive_scan(host{1}, whole, expected, maximum{}, 17u);
    chunked_exclusive_scan(on, part, out, maximum{}, 17u, how);
    compare();
    exclusive_scan(host{1}, whole, expected, sum{}, reversed);
    chunked_exclusive_scan(on, part, out, sum{}, reversed, how);
    compare();
    std::vector<affine> maps(n), scanned(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        maps[k] = {whole[k] | 1, static_cast<std::uint32_t>(k)};
    }
    auto my_maps = part_of(maps, split, rank);
    inclusive_scan(host{1}, maps, scanned, then{}, reversed);
    chunked_inclusive_scan(on, my_maps, my_maps, then{}, reversed, how); // in place
    EXPECT_EQ(my_maps, part_of(scanned, split, rank));

    const std::vector<float> zeros(n, -0.0f), my_zeros = part_of(zeros, split, rank);
    std::vector<float> scanned_zeros(my_zeros.size());
    chunked_inclusive_scan(on, my_zeros, scanned_zeros, sum{}, how);
    for (const float x : scanned_zeros) {
        EXPECT_TRUE(same_bits(x, -0.0f));
    }
}

template <class On>
void check_chunked(const On& on, std::uint64_t n, unsigned seed) {
    const auto split = random_split(n, on.comm->size(), seed);
    check_chunked_folds(on, split, seed);
    check_chunked_scans(on, split, seed);
}

template <class On>
void wait_for_all(const On& on) {
    const char mine = 0;
    std::vector<char> all(static_cast<std::size_t>(on.comm->size()));
    on.comm->all_gather(&mine, all.data(), 1, "wait_for_all");
}

// The ranks read parts of one file and write parts of another, which was longer before. `path` is the same at every rank.
template <class On>
void check_chunked_file(const On& on, const std::string& path) {
    const auto whole = any_numbers<std::int64_t>(10007, 9);
    const auto split = random_split(whole.size(), on.comm->size(), 8);
    const auto r = static_cast<std::size_t>(on.comm->rank());
    const std::uint64_t first = split[r] * sizeof(std::int64_t);
    const std::string from = path + ".in", to = path + ".out";
    if (r == 0) {
        for (const std::string& name : {from, to}) {
            std::FILE* const file = std::fopen(name.c_str(), "wb");
            ASSERT_NE(file, nullptr);
            EXPECT_EQ(std::fwrite(whole.data(), sizeof(std::int64_t), whole.size(), file), whole.size());
            EXPECT_EQ(std::fwrite("longer", 1, 6, file), 6u);
            EXPECT_EQ(std::fclose(file), 0);
        }
    }
    wait_for_all(on); // until rank 0 has written
    const chunked_options how{.chunk_bytes = 8192};
    chunked_inclusive_scan(on, file_source<std::int64_t>(from, first, split[r + 1] - split[r]),
                           file_sink<std::int64_t>(to, first), sum{}, how);
    wait_for_all(on);
    if (r == 0) {
        std::vector<std::int64_t> expected(whole.size()), written(whole.size() + 1);
        inclusive_scan(host{1}, whole, expected);
        std::FILE* const file = std::fopen(to.c_str(), "rb");
        ASSERT_NE(file, nullptr);
        EXPECT_EQ(std::fread(written.data(), sizeof(std::int64_t), written.size(), file), whole.size());
        EXPECT_EQ(std::fclose(file), 0);
        written.pop_back();
        EXPECT_EQ(written, expected);
        std::remove(from.c_str());
        std::remove(to.c_str());
    }
}

// A source that throws at one rank is an error at every rank.
template <class On>
void check_chunked_faults(const On& on) {
    const auto numbers = from_function<float>([&, done = false](float* to, std::uint64_t) mutable -> std::uint64_t {
        if (on.comm->rank() == 1) {
            throw std::runtime_error("the sensor is gone");
        }
        *to = 1;
        return std::exchange(done, true) ? 0 : 1;
    });
    std::string fault = message_of<std::exception>([&] {
        auto source = numbers;
        (void)chunked_exact_sum(on, source);
    });
    EXPECT_NE(fault.find("the sensor is gone"), std::string::npos) << fault;
    // The same behind the gather of the numbers of elements.
    const std::vector<std::int32_t> five(5, 1);
    chunked_options how;
    how.progress = [&](std::uint64_t, std::uint64_t) {
        if (on.comm->rank() == 1) {
            throw std::runtime_error("the user has gone");
        }
    };
    fault = message_of<std::exception>([&] { (void)chunked_transform_reduce(on, five, times_index{}, sum{}, how); });
    EXPECT_NE(fault.find("the user has gone"), std::string::npos) << fault; // no time limit: rank 1 has told the others
    auto three = from_function<float>([left = 3](float* to, std::uint64_t) mutable -> std::uint64_t {
        *to = 0.5f;
        return left-- > 0 ? 1 : 0;
    });
    EXPECT_EQ(chunked_exact_sum(on, three), 1.5f * static_cast<float>(on.comm->size()));
}

} // namespace warpfold::tests
