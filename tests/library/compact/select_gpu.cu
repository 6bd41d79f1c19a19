// SPDX-License-Identifier: MIT
// Compactions on a GPU, the software one or a real one.
#include "warpfold/select.cuh"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>

#include "tests/library/compact/compact_gpu.hpp"

using namespace warpfold;

namespace {

using tests::expect_results;
using tests::in_long_tiles;
using tests::in_ranges;
using tests::in_short_tiles;
using tests::in_small_long_tiles;
using tests::in_small_ranges;
using tests::in_small_tiles;
using tests::in_usual_tiles;
using tests::on_device;

template <class T>
T read_one(const on_device<T>& number) {
    return number.read()[0];
}

// Arrays begin `shift` elements behind an aligned address, some flags as many bytes.
template <class T, class On>
void partitions_on(const On& on, const std::vector<std::uint64_t>& sizes) {
    for (const std::uint64_t n : sizes) {
        const std::uint64_t shift = n % 5;
        const auto data = tests::numbered<T>(n);
        const on_device<T> in(data, shift), out(n + 1), rejected(n + 1);
        const on_device<std::uint32_t> count(1);
        for (const auto& one : tests::flag_cases(n)) {
            const on_device<std::uint8_t> flags(one.flags, n % 3 == 0 ? shift % (16 / sizeof(T)) : n % 3);
            CUDA(cudaMemset(out.base, 0x77, (n + 1) * sizeof(T)));
            CUDA(cudaMemset(rejected.base, 0x77, (n + 1) * sizeof(T)));
            partition(on, in.data(), n, out.data() + n % 2, rejected.data(), count.data(), where(flags.data()));
            auto expected = tests::partitioned(data, one.flags);
            EXPECT_EQ(read_one(count), expected.first.size()) << one.name;
            if (n % 2 != 0) {
                expected.first.insert(expected.first.begin(), out.read()[0]);
            }
            expect_results(out, expected.first, one.name);
            expect_results(rejected, expected.second, one.name);
        }
    }
}
// By all kernels.
template <class T>
void partitions(const std::vector<std::uint64_t>& sizes) {
    partitions_on<T>(gpu{}, sizes);
    partitions_on<T>(in_usual_tiles, sizes);
    partitions_on<T>(in_long_tiles, sizes);
}
TEST(select, bytes) { partitions<std::uint8_t>({0, 1, 31, 1021, 4096, 16383, 16384, 40002}); }
TEST(select, two_bytes) { partitions<std::uint16_t>({1, 8191, 8193, 20010}); }
TEST(select, four_bytes) { partitions<std::uint32_t>({1, 4095, 4096, 4097, 20010, 40001}); }
TEST(select, eight_bytes) { partitions<std::uint64_t>({1, 2047, 2049, 9001}); }
TEST(select, twelve_bytes) { partitions<tests::triple>({1, 1279, 1281, 9001}); }
TEST(select, sixteen_bytes) { partitions<tests::sixteen_bytes>({1, 1023, 1025, 5003}); }

// Written as words, elements and vectors.
template <class T>
void selects_in_ranges(const std::vector<std::uint64_t>& sizes) {
    for (const std::uint64_t n : sizes) {
        const auto data = tests::numbered<T>(n);
        const on_device<T> in(data, n % 5), out(n + 1);
        const on_device<std::uint32_t> count(1);
        for (const auto& one : tests::flag_cases(n)) {
            const on_device<std::uint8_t> flags(one.flags, n % 5 % (16 / sizeof(T)));
            CUDA(cudaMemset(out.base, 0x77, (n + 1) * sizeof(T)));
            select(in_ranges, in.data(), n, out.data() + n % 2, count.data(), where(flags.data()));
            auto expected = tests::partitioned(data, one.flags).first;
            EXPECT_EQ(read_one(count), expected.size()) << one.name;
            if (n % 2 != 0) {
                expected.insert(expected.begin(), out.read()[0]);
            }
            expect_results(out, expected, one.name);
        }
    }
}
TEST(select, bytes_in_ranges) { selects_in_ranges<std::uint8_t>({1, 31, 1021, 4096, 40002}); }
TEST(select, two_bytes_in_ranges) { selects_in_ranges<std::uint16_t>({1, 8193, 20010}); }
TEST(select, sixteen_bytes_in_ranges) { selects_in_ranges<tests::sixteen_bytes>({1, 1025, 5003}); }

// More tiles than a district of the tile prefix has.
template <class On>
void selects_from_many_tiles(On on, std::uint64_t most) {
    workspace memory(select_workspace<std::uint32_t>(most, on));
    on.memory = &memory;
    for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, most / 999, std::uint64_t{4097}, most}) {
        const auto data = tests::any_numbers<std::uint32_t>(n, 3);
        std::vector<std::uint8_t> flags(n);
        for (std::size_t k = 0; k < n; ++k) {
            flags[k] = tests::odd_after_index{}(data[k], k);
        }
        const auto expected = tests::partitioned(data, flags).first;
        const on_device<std::uint32_t> in(data, 1), out(n + 1), count(1);
        select(on, in.data(), n, out.data(), count.data(), tests::odd_after_index{});
        EXPECT_EQ(read_one(count), expected.size());
        expect_results(out, expected, "n = " + std::to_string(n));
        select(on, in.data(), n, in.data(), count.data(), tests::odd_after_index{});
        EXPECT_EQ(read_one(count), expected.size());
        EXPECT_TRUE(tests::begins_with(in.read(), expected)) << n << " in place";
        tests::expect_zero(memory);
    }
}
TEST(select, many_tiles) { selects_from_many_tiles(in_small_tiles, 140000); }
TEST(select, many_short_tiles) { selects_from_many_tiles(in_short_tiles, 32765); }
TEST(select, many_long_tiles) { selects_from_many_tiles(in_small_long_tiles, 100000); }
TEST(select, ranges) { selects_from_many_tiles(in_ranges, 100000); }
TEST(select, more_than_ranges_keep) { selects_from_many_tiles(in_small_ranges, 200000); }
// Numbers whose remainder is in a range.
struct remainder_between {
    __host__ __device__ bool operator()(std::uint32_t x) const { return x % of >= first && x % of < end; }

    std::uint32_t of, first, end;
};
// The warps of an H100's blocks keep 128 elements each, 67,584 in all.
TEST(select, by_sample) {
    const std::uint64_t n = 200001;
    std::vector<std::uint32_t> data(n);
    std::iota(data.begin(), data.end(), 0u);
    const on_device<std::uint32_t> in(data), out(n + 1), count(1);
    // All, many, few and none; and many that the sample does not find, since they are neighbours.
    for (const remainder_between test :
         {remainder_between{1, 0, 1}, remainder_between{2, 1, 2}, remainder_between{3, 2, 3},
          remainder_between{7, 0, 1}, remainder_between{1000, 999, 1000}, remainder_between{300000, 200001, 300000},
          remainder_between{200001, 0, 90000}}) {
        std::vector<std::uint32_t> expected;
        std::copy_if(data.begin(), data.end(), std::back_inserter(expected), test);
        CUDA(cudaMemset(out.base, 0x77, (n + 1) * sizeof(data[0])));
        select(tests::by_sample, in.data(), n, out.data(), count.data(), test);
        EXPECT_EQ(read_one(count), expected.size()) << test.of;
        expect_results(out, expected, "remainders by " + std::to_string(test.of));
    }
}

std::uint64_t above_two(const gpu& on, const float* in, std::uint64_t n, float* out) {
    return select(on, in, n, out, [] __device__(float x) { return x > 2; });
}

TEST(select, returns_the_number) {
    const auto data = tests::small_numbers<float>(30011, 4);
    const auto number =
        static_cast<std::uint64_t>(std::count_if(data.begin(), data.end(), [](float x) { return x > 2; }));
    const on_device<float> in(data), out(data.size());
    EXPECT_EQ(above_two(gpu{}, in.data(), data.size(), out.data()), number);
    workspace memory(select_workspace<float>(data.size()));
    EXPECT_EQ(above_two(gpu{nullptr, &memory}, in.data(), data.size(), out.data()), number);
    EXPECT_EQ(above_two(gpu{nullptr, &memory}, in.data(), 0, out.data()), 0u);
    tests::expect_zero(memory);
    tests::expect_invalid_argument(
        [&] {
            (void)above_two(gpu{nullptr, &memory}, in.data(), 1 << 28, in.data());
        },
        "the workspace has ");
}

template <class On>
void finds_heads(const On& on) {
    for (const std::uint64_t n : {0, 1, 129, 5003}) {
        auto data = tests::floats_in_runs(n);
        const auto expected = tests::partitioned(data, tests::heads_of(data, std::equal_to<>{})).first;
        const on_device<float> in(data, n % 4), out(n + 1);
        const on_device<std::uint64_t> count(1);
        unique(on, in.data(), n, out.data(), count.data());
        EXPECT_EQ(read_one(count), expected.size());
        expect_results(out, expected, "n = " + std::to_string(n));
        unique(on, in.data(), n, in.data(), count.data());
        EXPECT_EQ(read_one(count), expected.size());
        EXPECT_TRUE(tests::begins_with(in.read(), expected)) << n << " in place";
    }
}
TEST(select, unique) { finds_heads(in_small_tiles); }
TEST(select, unique_in_short_arrays) { finds_heads(in_short_tiles); }
TEST(select, unique_in_long_tiles) { finds_heads(in_small_long_tiles); }
TEST(select, unique_in_ranges) { finds_heads(in_small_ranges); }

// A chain of calls in which each takes the number of the last one from the device.
template <class On>
void takes_numbers_on_the_device(On on) {
    const std::uint64_t n = 9001;
    for (const auto& keys : tests::key_cases(n, 3000)) {
        const on_device<std::uint32_t> in(keys), out(n), last(1), number(std::vector<std::uint32_t>{0});
        std::vector<std::uint8_t> flags(n);
        for (std::size_t k = 0; k < n; ++k) {
            flags[k] = tests::odd_after_index{}(keys[k], k);
        }
        const auto odd = tests::partitioned(keys, flags).first;
        const auto expected = tests::partitioned(odd, tests::heads_of(odd, tests::low_bits_equal{})).first;
        workspace memory(select_workspace<std::uint32_t>(n, on));
        on.memory = &memory;
        const auto equal = tests::low_bits_equal{};
        unique(on, in.data(), count_at(number.data(), n), out.data(), last.data(), equal);
        EXPECT_EQ(read_one(last), 0u);
        select(on, in.data(), n, out.data(), number.data(), tests::odd_after_index{});
        unique(on, out.data(), count_at(number.data(), n), out.data(), last.data(), equal);
        EXPECT_EQ(read_one(last), expected.size());
        tests::expect_invalid_argument(
            [&] { unique(on, out.data(), count_at(last.data(), n), out.data(), last.data(), equal); },
            "the place of the number");
        EXPECT_TRUE(tests::begins_with(out.read(), expected));
        tests::expect_zero(memory);
    }
}
TEST(select, numbers_on_the_device) { takes_numbers_on_the_device(in_small_tiles); }
TEST(select, numbers_on_the_device_in_short_arrays) { takes_numbers_on_the_device(in_short_tiles); }
TEST(select, numbers_on_the_device_in_long_tiles) { takes_numbers_on_the_device(in_small_long_tiles); }
TEST(select, numbers_on_the_device_in_ranges) { takes_numbers_on_the_device(in_small_ranges); }

// So many elements as there may be take counts of 64 bits.
struct low_bytes {
    __host__ __device__ std::uint8_t operator[](std::uint64_t k) const { return static_cast<std::uint8_t>(k); }
};
struct is_odd {
    __host__ __device__ bool operator()(std::uint8_t x) const { return x % 2 != 0; }
};
TEST(select, up_to_two_to_the_31) {
    const std::uint32_t n = 40'001;
    std::vector<std::uint8_t> expected;
    for (std::uint32_t k = 1; k < n; k += 2) {
        expected.push_back(static_cast<std::uint8_t>(k));
    }
    const on_device<std::uint32_t> number(std::vector<std::uint32_t>{n}), count(1);
    const on_device<std::uint8_t> out(n);
    select(gpu{}, low_bytes{}, count_at(number.data(), std::uint64_t{1} << 31), out.data(), count.data(), is_odd{});
    EXPECT_EQ(read_one(count), expected.size());
    expect_results(out, expected, "2^31");
}

} // namespace
