// SPDX-License-Identifier: MIT
// What holds of scans and histograms of streams, for any target.
#pragma once

#include "tests/library/chunked_cases.hpp"

namespace warpfold::tests {

// A sink that is filled in order.
template <class T>
auto append_to(std::vector<T>& data) {
    return to_function<T>([&data](const T* from, std::uint64_t count) { data.insert(data.end(), from, from + count); });
}

template <class On>
void running_sums(const On& on) {
    const chunked_options options = chunks_of_bytes(4096);
    for (const std::uint64_t n : stream_lengths) {
        const auto data = any_numbers<std::int32_t>(n, static_cast<unsigned>(n + 9));
        std::vector<std::int64_t> right(n), got(n);
        inclusive_scan(host{1}, data, right);
        chunked_inclusive_scan(on, data, got, sum{}, options);
        EXPECT_EQ(got, right);
        const scratch_file from(data), to(std::vector<char>(17));
        chunked_inclusive_scan(on, file_source<std::int32_t>(from.path()), file_sink<std::int64_t>(to.path()), sum{},
                               options);
        EXPECT_EQ(to.read<std::int64_t>(), right);
        std::vector<std::int64_t> appended;
        chunked_inclusive_scan(on, in_portions(data), append_to(appended), sum{}, options);
        EXPECT_EQ(appended, right);
        exclusive_scan(host{1}, data, right, sum{}, std::int64_t{-3}, reversed);
        chunked_exclusive_scan(on, data, got, sum{}, reversed, options, std::int64_t{-3});
        EXPECT_EQ(got, right);
        chunked_exclusive_scan(on, file_source<std::int32_t>(from.path()), file_sink<std::int64_t>(to.path(), 17),
                               sum{}, std::int64_t{-3}, options, reversed);
        EXPECT_EQ(std::filesystem::file_size(to.path()), 17 + 8 * n);
    }
}

// In place, and in order: affine maps do not commute, and have no identity.
template <class On>
void running_compositions(const On& on) {
    for (const std::uint64_t n : {0u, 1u, 128u, 1000u, 3001u}) {
        std::vector<affine> maps(n);
        for (std::uint64_t k = 0; k < n; ++k) {
            maps[k] = {static_cast<std::uint32_t>(2 * k + 1), static_cast<std::uint32_t>(k * k + 1)};
        }
        std::vector<affine> right(n), got(n);
        inclusive_scan(host{1}, maps, right, then{});
        chunked_inclusive_scan(on, maps, got, then{}, chunks_of_bytes(1000));
        EXPECT_EQ(got, right);
        exclusive_scan(host{1}, maps, right, then{}, affine{3, 4});
        chunked_exclusive_scan(on, in_portions(maps), got, then{}, affine{3, 4}, chunks_of_bytes(1000));
        EXPECT_EQ(got, right);
        inclusive_scan(host{1}, maps, right, then{}, reversed);
        chunked_inclusive_scan(on, maps, maps, then{}, chunks_of_bytes(1000), reversed);
        EXPECT_EQ(maps, right);
    }
}

template <class On>
void failing_scans(const On& on) {
    const chunked_options options = chunks_of_bytes(4096);
    const std::vector<int> data(30000, 1);
    std::vector<std::int64_t> few(29999), many(30000);
    EXPECT_TRUE(message_of<invalid_argument>([&] {
                    chunked_inclusive_scan(on, data, few, sum{}, options);
                }).find("the sink has room for 29999 elements") != std::string::npos);
    EXPECT_TRUE(message_of<invalid_argument>([&] {
                    chunked_inclusive_scan(on, in_portions(data), few, sum{}, options);
                }).find("the sink has room for 29999 elements") != std::string::npos);
    EXPECT_EQ(message_of<std::out_of_range>(
                  [&] { chunked_inclusive_scan(on, failing_source{70000}, append_to(few), sum{}, options); }),
              "element 70000");
    for (const std::uint64_t bad : {0u, 5000u, 29999u}) {
        std::uint64_t seen = 0;
        const auto sink = [&] {
            return to_function<std::int64_t>([&](const std::int64_t*, std::uint64_t count) {
                seen += count;
                if (seen > bad) {
                    throw std::length_error("full");
                }
            });
        };
        EXPECT_EQ(message_of<std::length_error>([&] { chunked_inclusive_scan(on, data, sink(), sum{}, options); }),
                  "full");
    }
    chunked_inclusive_scan(on, data, many, sum{}, options);
    EXPECT_EQ(many.back(), 30000);
    EXPECT_EQ(message_of<file_error>(
                  [&] { chunked_inclusive_scan(on, data, file_sink<std::int64_t>("/no/such/file"), sum{}, options); }),
              "warpfold: /no/such/file: No such file or directory");
}

template <class On>
void histograms(const On& on) {
    for (const std::uint64_t n : stream_lengths) {
        const auto data = any_numbers<std::uint8_t>(n, static_cast<unsigned>(n + 2));
        const even_bins<int> bins(10, 250, 60);
        const auto right = histogram(host{1}, data, bins);
        EXPECT_EQ(chunked_histogram(on, data, bins, chunks_of_bytes(1000)), right);
        EXPECT_EQ(chunked_histogram(on, in_portions(data), bins, chunks_of_bytes(4096)), right);
    }
    const auto data = any_numbers<std::int32_t>(20011, 4);
    const auto bins = even_bins<std::int32_t>::whole_range(20000);
    EXPECT_EQ(chunked_histogram(on, data, bins, chunks_of_bytes(30000)), histogram(host{1}, data, bins));
}

} // namespace warpfold::tests
