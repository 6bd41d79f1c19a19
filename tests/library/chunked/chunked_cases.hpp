// SPDX-License-Identifier: MIT
// What holds of calls on streams, for any target.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/library/cases.hpp"
#include "tests/message_of.hpp"
#include "warpfold/chunked.hpp"

namespace warpfold::tests {

// A file of its own that is gone when the object is.
class scratch_file {
public:
    scratch_file() {
        std::string pattern = (std::filesystem::temp_directory_path() / "warpfold_chunked.XXXXXX").string();
        const int descriptor = ::mkstemp(pattern.data());
        EXPECT_TRUE(descriptor >= 0);
        ::close(descriptor);
        path_ = pattern;
    }
    template <class T>
    explicit scratch_file(const std::vector<T>& data) : scratch_file() {
        write(data);
    }
    scratch_file(const scratch_file&) = delete;
    scratch_file& operator=(const scratch_file&) = delete;
    ~scratch_file() { ::unlink(path_.c_str()); }

    template <class T>
    void write(const std::vector<T>& data) const {
        std::FILE* const file = std::fopen(path_.c_str(), "wb");
        EXPECT_TRUE(file != nullptr && std::fwrite(data.data(), sizeof(T), data.size(), file) == data.size());
        EXPECT_EQ(std::fclose(file), 0);
    }
    template <class T>
    [[nodiscard]] std::vector<T> read() const {
        std::vector<T> data(std::filesystem::file_size(path_) / sizeof(T) + 1);
        std::FILE* const file = std::fopen(path_.c_str(), "rb");
        EXPECT_TRUE(file != nullptr);
        data.resize(std::fread(data.data(), sizeof(T), data.size(), file));
        std::fclose(file);
        return data;
    }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

inline chunked_options chunks_of_bytes(std::size_t bytes, unsigned threads = 0) {
    chunked_options options;
    options.chunk_bytes = bytes;
    options.threads = threads;
    return options;
}

// The elements of `data`, handed out in portions of odd sizes.
template <class T>
auto in_portions(const std::vector<T>& data) {
    return from_function<T>([&data, at = std::size_t{0}, portion = std::size_t{1}](T* to, std::uint64_t most) mutable {
        portion = portion * 7 % 1009;
        const std::size_t count = std::min<std::size_t>({most, portion, data.size() - at});
        std::memcpy(static_cast<void*>(to), data.data() + at, count * sizeof(T));
        at += count;
        return count;
    });
}

// A source that throws when the element `bad` is read.
struct failing_source {
    using element = int;

    [[nodiscard]] std::uint64_t size() const { return 100000; }
    void read(std::uint64_t first, int* to, std::uint64_t count) const {
        for (std::uint64_t k = 0; k < count; ++k) {
            if (first + k == bad) {
                throw std::out_of_range("element " + std::to_string(bad));
            }
            to[k] = 1;
        }
    }

    std::uint64_t bad;
};

// Big-endian integers of 2 bytes, read as int64.
struct big_endian_view {
    WARPFOLD_HD std::int64_t operator[](std::uint64_t k) const {
        return static_cast<std::int16_t>(static_cast<std::uint16_t>(bytes[2 * k] << 8 | bytes[2 * k + 1]));
    }

    const unsigned char* bytes;
};
struct big_endian_source {
    using element = std::int64_t;

    [[nodiscard]] std::uint64_t size() const { return data.size() / 2; }
    [[nodiscard]] std::uint64_t stored_bytes() const { return 2; }
    [[nodiscard]] big_endian_view view(const void* chunk) const { return {static_cast<const unsigned char*>(chunk)}; }
    void read(std::uint64_t first, void* to, std::uint64_t count) const {
        std::memcpy(to, data.data() + 2 * first, 2 * count);
    }

    std::vector<unsigned char> data;
};

inline constexpr std::uint64_t stream_lengths[] = {0, 1, 2, 1023, 1024, 1025, 4099, 10007};

// Every kind of source has the same sum of integers.
template <class On>
void sums_of_integers(const On& on) {
    for (const std::uint64_t n : stream_lengths) {
        const auto data = any_numbers<std::int32_t>(n, static_cast<unsigned>(n));
        const std::int64_t right = reduce(host{1}, data);
        for (const std::size_t bytes : {1024u, 4096u, 5000u, 1u << 20}) {
            EXPECT_EQ(chunked_reduce(on, data, sum{}, chunks_of_bytes(bytes)), right);
        }
        const scratch_file file(data);
        EXPECT_EQ(chunked_reduce(on, file_source<std::int32_t>(file.path()), sum{}, chunks_of_bytes(4096)), right);
        EXPECT_EQ(chunked_reduce(on, file_source<std::int32_t>(file.path())), right);
        EXPECT_EQ(chunked_reduce(on, in_portions(data), sum{}, chunks_of_bytes(4096)), right);
        EXPECT_EQ(chunked_reduce(on, std::span(data), sum{}, std::int64_t{5}, chunks_of_bytes(4096)), right + 5);
    }
}

// Elements that fill no chunk, in order, by an operation without an identity.
template <class On>
void structures_in_order(const On& on) {
    for (const std::uint64_t n : {0u, 1u, 300u, 2001u}) {
        std::vector<triple> triples(n);
        std::vector<affine> maps(n);
        for (std::uint64_t k = 0; k < n; ++k) {
            triples[k] = {static_cast<int>(k % 1000), -static_cast<int>(k % 1000), 1};
            maps[k] = {static_cast<std::uint32_t>(2 * k + 1), static_cast<std::uint32_t>(k * k + 1)};
        }
        EXPECT_EQ(chunked_reduce(on, triples, add_triples{}, chunks_of_bytes(1000)),
                  reduce(host{1}, triples, add_triples{}));
        EXPECT_TRUE(chunked_reduce(on, triples, add_triples{}, chunks_of_bytes(1)) ==
                        reduce(host{1}, triples, add_triples{}) ||
                    n > 300);
        const affine first{3, 4};
        EXPECT_EQ(chunked_reduce(on, maps, then{}, first, chunks_of_bytes(1000)), reduce(host{1}, maps, then{}, first));
        EXPECT_EQ(chunked_reduce(on, in_portions(maps), then{}, first, chunks_of_bytes(800)),
                  reduce(host{1}, maps, then{}, first));
    }
}

template <class On>
void places_and_counts(const On& on) {
    for (const std::uint64_t n : {1u, 1024u, 9001u}) {
        auto data = any_numbers<float>(n, static_cast<unsigned>(n + 5));
        for (unsigned round = 0; round < 3; ++round) {
            const scratch_file file(data);
            const file_source<float> source(file.path());
            const chunked_options options = chunks_of_bytes(4096);
            const auto a = chunked_arg_min(on, source, options), b = arg_min(host{1}, data);
            EXPECT_TRUE(a.index == b.index && same_bits(a.value, b.value));
            const auto c = chunked_arg_max(on, data, options), d = arg_max(host{1}, data);
            EXPECT_TRUE(c.index == d.index && same_bits(c.value, d.value));
            const auto e = chunked_min_max(on, source, options), f = min_max(host{1}, data);
            EXPECT_TRUE((e.smallest == f.smallest && e.largest == f.largest) || (std::isnan(e.smallest) && round == 2));
            // Equal ones in several chunks, and then a NaN.
            data[n / 2] = data[n - 1] = round == 0 ? -std::numeric_limits<float>::infinity() : std::nanf("");
            data[n / 3] = round == 0 ? std::numeric_limits<float>::infinity() : data[n / 3];
        }
    }
    const auto data = small_numbers<std::int32_t>(10007, 5);
    EXPECT_EQ(chunked_count_if(on, data, is_multiple_of_three{}, chunks_of_bytes(4000)),
              count_if(host{1}, data, is_multiple_of_three{}));
    EXPECT_EQ(chunked_transform_reduce(on, data, times_index{}, sum{}, chunks_of_bytes(4000)),
              transform_reduce(host{1}, data, times_index{}));
    const std::vector<float> none;
    EXPECT_TRUE(!message_of<invalid_argument>([&] { (void)chunked_arg_min(on, none); }).empty());
    EXPECT_TRUE(!message_of<invalid_argument>([&] { (void)chunked_min_max(on, none); }).empty());
}

// Floating-point sums: the same each time, whatever threads read; as near as their error bound says.
template <class On>
void sums_of_numbers(const On& on) {
    std::vector<float> data(20011);
    double right = 0, magnitude = 0;
    for (std::size_t k = 0; k < data.size(); ++k) {
        data[k] = static_cast<float>(std::sin(static_cast<double>(k)) * 1000);
        right += static_cast<double>(data[k]);
        magnitude += std::abs(static_cast<double>(data[k]));
    }
    const float once = chunked_reduce(on, data, sum{}, chunks_of_bytes(4096, 1));
    EXPECT_TRUE(std::abs(static_cast<double>(once) - right) <= magnitude * 20011 * 0x1p-24);
    for (unsigned threads = 1; threads < 4; ++threads) {
        EXPECT_TRUE(same_bits(chunked_reduce(on, in_portions(data), sum{}, chunks_of_bytes(4096, threads)), once));
    }
}

template <class T, class On>
void exact_sums(const On& on) {
    for (const std::uint64_t n : stream_lengths) {
        auto data = any_numbers<T>(n, static_cast<unsigned>(n + 1));
        for (T& x : data) {
            x = std::isfinite(x) ? x : T(1);
        }
        for (std::uint64_t k = 0; k + 1 < n; k += 2) {
            data[k] = k % 6 == 0 ? T(-0.1) * T(k) : data[k]; // ordinary ones between
        }
        const T right = exact_sum(host{1}, data);
        EXPECT_TRUE(same_bits(chunked_exact_sum(on, data, chunks_of_bytes(4096)), right));
        EXPECT_TRUE(same_bits(chunked_exact_sum(on, in_portions(data), chunks_of_bytes(5000)), right));
        exact_accumulator<T> parts, rest;
        parts.add(host{1}, std::span(data).first(n / 3));
        for (std::uint64_t k = n / 3; k < n / 2; ++k) {
            rest.add(data[k]);
        }
        rest.add(host{2}, std::span(data).subspan(n / 2));
        parts.add(rest);
        EXPECT_TRUE(same_bits(parts.value(), right) && same_bits(parts.value(), right));
        if (n > 2) {
            data[n / 2] = std::numeric_limits<T>::infinity();
            EXPECT_EQ(chunked_exact_sum(on, data, chunks_of_bytes(4096)), data[n / 2]);
            data[n - 1] = -data[n / 2];
            EXPECT_TRUE(same_bits(chunked_exact_sum(on, data, chunks_of_bytes(4096)), exact_sum(host{1}, data)));
        }
    }
}

template <class On>
void stored_elements(const On& on) {
    big_endian_source source;
    std::int64_t total = 0;
    for (unsigned k = 0; k < 5003; ++k) {
        const auto x = static_cast<std::int16_t>(k * 40503);
        total += x;
        source.data.push_back(static_cast<unsigned char>(static_cast<std::uint16_t>(x) >> 8));
        source.data.push_back(static_cast<unsigned char>(x & 0xff));
    }
    EXPECT_EQ(chunked_reduce(on, source, sum{}, chunks_of_bytes(1000)), total);
}

// Whatever throws, the call throws it, and the next call works.
template <class On>
void failures(const On& on) {
    const chunked_options options = chunks_of_bytes(4096);
    for (const std::uint64_t bad : {0u, 1023u, 50000u, 99999u}) {
        EXPECT_EQ(message_of<std::out_of_range>([&] { (void)chunked_reduce(on, failing_source{bad}, sum{}, options); }),
                  "element " + std::to_string(bad));
    }
    EXPECT_EQ(chunked_reduce(on, failing_source{100000}, sum{}, options), 100000);
    const std::vector<int> data(50000, 1);
    chunked_options telling = options;
    std::uint64_t last = 0;
    telling.progress = [&](std::uint64_t done, std::uint64_t of) {
        EXPECT_TRUE(done > last && of == 50000);
        last = done;
        if (done > 20000) {
            throw std::overflow_error("enough");
        }
    };
    EXPECT_EQ(message_of<std::overflow_error>([&] { (void)chunked_reduce(on, data, sum{}, telling); }), "enough");
    telling.progress = [&](std::uint64_t done, std::uint64_t of) {
        EXPECT_EQ(of, 0);
        last = done;
    };
    EXPECT_TRUE(chunked_reduce(on, in_portions(data), sum{}, telling) == 50000 && last == 50000);

    EXPECT_EQ(message_of<file_error>([] { file_source<int>("/"); }), "warpfold: /: it is a directory");
    EXPECT_EQ(message_of<file_error>([] { file_source<int>("/no/such/file"); }),
              "warpfold: /no/such/file: No such file or directory");
    EXPECT_EQ(message_of<file_error>([] { file_source<int>("/dev/null"); }),
              "warpfold: /dev/null: it is no regular file");
    const scratch_file file(std::vector<char>(4001));
    EXPECT_EQ(message_of<file_error>([&] { file_source<int>(file.path()); }),
              "warpfold: " + file.path() + ": 4001 bytes are no whole number of elements of 4");
    EXPECT_EQ(message_of<file_error>([&] { file_source<int>(file.path(), 4, 1000); }),
              "warpfold: " + file.path() + ": it has 999 of 1000 elements");
    EXPECT_EQ(message_of<file_error>([&] { file_source<int>(file.path(), 4002); }),
              ("warpfold: " + file.path() + ": it has 4001 bytes, and elements begin behind 4002"));
    // A file that shrinks.
    file.write(data);
    const file_source<int> source(file.path());
    std::filesystem::resize_file(file.path(), 100002);
    EXPECT_EQ(message_of<file_error>([&] { (void)chunked_reduce(on, source, sum{}, options); }),
              "warpfold: " + file.path() +
                  ": it ends after 100002 of 200000 bytes: it became shorter while it was read");
}

} // namespace warpfold::tests
