// SPDX-License-Identifier: MIT
// What holds of scans and histograms of streams, for any target.
#pragma once

#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "tests/library/chunked/chunked_cases.hpp"

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

// A call that is refused and leaves the file as it was.
template <class T, class Call>
void expect_refused(const scratch_file& file, const std::vector<T>& data, const Call& call) {
    EXPECT_EQ(message_of<invalid_argument>(call).substr(0, 78),
              "warpfold: chunked_inclusive_scan: source and sink overlap in one file; results");
    EXPECT_EQ(file.read<T>(), data);
}

// Source and sink in one file, under any of its names.
template <class On>
void one_file(const On& on) {
    const chunked_options options = chunks_of_bytes(4096, 2);
    const auto data = any_numbers<std::int32_t>(30001, 8);
    const scratch_file file(data), hard, symbolic;
    ASSERT_EQ(std::remove(hard.path().c_str()), 0);
    ASSERT_EQ(std::remove(symbolic.path().c_str()), 0);
    std::filesystem::create_hard_link(file.path(), hard.path());
    std::filesystem::create_symlink(file.path(), symbolic.path());
    using from = file_source<std::int32_t>;
    using wide = file_sink<std::int64_t>;
    using same = file_sink<std::int32_t>;
    for (const scratch_file* const name : {&file, &hard, &symbolic}) {
        const auto scan = [&](const auto& source, const auto& sink) {
            expect_refused(file, data, [&] { chunked_inclusive_scan(on, source, sink, sum{}, options); });
        };
        scan(from(file.path()), wide(name->path()));
        scan(from(file.path()), wide(name->path(), 120000));
        scan(from(file.path(), 4), same(name->path()));
        scan(from(file.path()), same(name->path(), 4));
        expect_refused(file, data, [&] {
            chunked_inclusive_scan(on, from(file.path()), wide(name->path()), sum{}, options, reversed);
        });
    }
    const int descriptor = ::open(hard.path().c_str(), O_RDWR);
    ASSERT_TRUE(descriptor >= 0);
    expect_refused(file, data, [&] {
        chunked_inclusive_scan(on, descriptor_source<std::int32_t>(descriptor), wide(file.path()), sum{}, options);
    });
    expect_refused(file, data, [&] { // what it appends would be read
        chunked_inclusive_scan(on, descriptor_source<std::int32_t>(descriptor), wide(file.path(), 120008), sum{},
                               options);
    });

    // In place, and apart.
    std::vector<std::int32_t> right(data.size());
    inclusive_scan(host{1}, data, right);
    chunked_inclusive_scan(on, descriptor_source<std::int32_t>(descriptor), same(file.path()), sum{}, options);
    EXPECT_EQ(::close(descriptor), 0);
    EXPECT_EQ(file.read<std::int32_t>(), right);
    file.write(data);
    chunked_inclusive_scan(on, from(file.path()), same(symbolic.path()), sum{}, options);
    EXPECT_EQ(file.read<std::int32_t>(), right);
    file.write(data);
    inclusive_scan(host{1}, data, right, sum{}, reversed);
    chunked_inclusive_scan(on, from(file.path()), same(hard.path()), sum{}, options, reversed);
    EXPECT_EQ(file.read<std::int32_t>(), right);
    file.write(data);
    inclusive_scan(host{1}, data, right);
    chunked_inclusive_scan(on, from(file.path()), same(hard.path(), 4 * data.size()), sum{}, options);
    const auto both = file.read<std::int32_t>();
    EXPECT_EQ(std::vector<std::int32_t>(both.begin() + 30001, both.end()), right);
}

// Source and sink in one range of memory.
template <class On>
void one_range(const On& on) {
    std::vector<std::int64_t> room(20000, 1);
    const auto before = room;
    auto* const ints = reinterpret_cast<std::int32_t*>(room.data());
    const chunked_options options = chunks_of_bytes(4096);
    const auto refused = [&](const auto& source, const auto& sink, const auto&... how) {
        EXPECT_TRUE(message_of<invalid_argument>([&] {
                        chunked_inclusive_scan(on, source, sink, sum{}, options, how...);
                    }).find("input and output overlap") != std::string::npos);
        EXPECT_EQ(room, before);
    };
    refused(std::span(ints, 10000), std::span(room));
    refused(std::span(ints, 10000), std::span(room), reversed);
    refused(std::span(room).first(9999), std::span(room).subspan(1));
    refused(std::span(room).subspan(1), std::span(room).first(19999), reversed);
    refused(std::span(room), std::span(ints, 20000));
    std::vector<std::int64_t> right(10000);
    inclusive_scan(host{1}, std::span(room).first(10000), right);
    chunked_inclusive_scan(on, std::span(room).first(10000), std::span(room).subspan(10000), sum{}, options);
    EXPECT_TRUE(std::equal(right.begin(), right.end(), room.begin() + 10000));
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
