// SPDX-License-Identifier: MIT
// Reductions on a GPU, the software one or a real one, against the host's.
#include "warpfold/reduce.cuh"

#include <cmath>
#include <span>
#include <vector>

#include "tests/library/captured_calls.hpp"
#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"

using namespace warpfold;

namespace {

using tests::on_device;

constexpr std::uint64_t lengths[] = {0, 1, 2, 31, 33, 255, 1024, 1025, 4099, 16385, 65536, 100003, 300007};

template <class T>
void numbers() {
    workspace memory(reduce_workspace(sizeof(located<double>) + 16));
    for (const std::uint64_t n : lengths) {
        for (const std::size_t skip : {0u, 1u, 3u}) {
            if (skip != 0 && n > 20000) {
                continue;
            }
            const auto small = tests::small_numbers<T>(n, static_cast<unsigned>(n + skip));
            const on_device<T> numbers(small, skip);
            EXPECT_EQ(reduce(gpu{}, numbers.data(), n), reduce(host{1}, small));
            EXPECT_EQ(reduce(gpu{nullptr, &memory}, std::span<const T>(numbers.data(), n), sum{}),
                      reduce(host{1}, small));
            if (n == 0) {
                continue;
            }
            const auto any = tests::any_numbers<T>(n, static_cast<unsigned>(n * 3 + skip));
            const on_device<T> there(any, skip);
            const gpu with{nullptr, &memory};
            EXPECT_TRUE(tests::same_bits(reduce(with, there.data(), n, maximum{}), reduce(host{1}, any, maximum{})));
            const auto a = arg_min(with, there.data(), n), b = arg_min(host{1}, any);
            EXPECT_TRUE(a.index == b.index && tests::same_bits(a.value, b.value));
            const auto c = min_max(with, there.data(), n), d = min_max(host{1}, any);
            EXPECT_TRUE(tests::same_bits(c.smallest, d.smallest) && tests::same_bits(c.largest, d.largest));
        }
    }
}

TEST(reduce, order) {
    for (const std::uint64_t n : {0u, 1u, 5u, 33u, 1000u, 4097u, 65537u}) {
        std::vector<tests::affine> maps(n);
        for (std::uint64_t k = 0; k < n; ++k) {
            maps[k] = {static_cast<std::uint32_t>(2 * k + 1), static_cast<std::uint32_t>(k * k + 1)};
        }
        const on_device<tests::affine> there(maps);
        const tests::affine first{3, 4};
        EXPECT_EQ(reduce(gpu{}, there.data(), n, tests::then{}, first), reduce(host{1}, maps, tests::then{}, first));
        std::vector<std::uint64_t> words(n);
        for (std::uint64_t k = 0; k < n; ++k) {
            words[k] = k << 32 | (k % 7);
        }
        const on_device<std::uint64_t> words_there(words);
        EXPECT_EQ(reduce(gpu{}, words_there.data(), n, tests::larger_low_half{}, std::uint64_t{0}),
                  reduce(host{1}, words, tests::larger_low_half{}, std::uint64_t{0}));
    }
}

struct map_of_byte {
    __host__ __device__ tests::affine operator()(std::uint8_t x, std::uint64_t index) const {
        return {2u * x + 1, static_cast<std::uint32_t>(index)};
    }
};

// Operations that keep the order read vectors of 16 bytes too, wherever the array begins.
TEST(reduce, order_of_bytes) {
    for (const std::uint64_t n : {1u, 15u, 16u, 17u, 2047u, 2048u, 2049u, 70001u}) {
        for (const std::size_t skip : {0u, 1u, 15u}) {
            const auto bytes = tests::small_numbers<std::uint8_t>(n, static_cast<unsigned>(n + skip));
            const on_device<std::uint8_t> there(bytes, skip);
            const tests::affine first{3, 4};
            EXPECT_EQ(transform_reduce(gpu{}, there.data(), n, map_of_byte{}, tests::then{}, first),
                      transform_reduce(host{1}, bytes, map_of_byte{}, tests::then{}, first));
        }
    }
}

TEST(reduce, structures) {
    for (const std::uint64_t n : {1u, 100u, 5000u, 70001u}) {
        std::vector<tests::triple> data(n);
        for (std::uint64_t k = 0; k < n; ++k) {
            data[k] = {static_cast<int>(k % 1000), -static_cast<int>(k % 1000), 1};
        }
        const on_device<tests::triple> there(data);
        EXPECT_EQ(reduce(gpu{}, there.data(), n, tests::add_triples{}), reduce(host{1}, data, tests::add_triples{}));
    }
}

TEST(reduce, not_a_number) {
    for (const std::size_t place : {0u, 1000u, 69999u}) {
        std::vector<float> data(70000, 2.0f);
        data[5] = -1.0f;
        data[place] = std::nanf("");
        const on_device<float> there(data);
        EXPECT_TRUE(std::isnan(reduce(gpu{}, there.data(), data.size(), minimum{})));
        EXPECT_TRUE(std::isnan(min_max(gpu{}, there.data(), data.size()).largest));
        EXPECT_EQ(arg_min(gpu{}, there.data(), data.size()).index, place);
        EXPECT_EQ(arg_max(gpu{}, there.data(), data.size()).index, place);
    }
    const std::vector<double> zeros{0.0, -0.0, 0.0};
    const on_device<double> there(zeros);
    EXPECT_TRUE(std::signbit(reduce(gpu{}, there.data(), 3, minimum{})) &&
                !std::signbit(reduce(gpu{}, there.data(), 3, maximum{})));
    EXPECT_TRUE(arg_min(gpu{}, there.data(), 3).index == 1 && arg_max(gpu{}, there.data(), 3).index == 0);
}

TEST(reduce, places_and_maps) {
    const auto data = tests::small_numbers<std::int32_t>(100003, 5);
    const on_device<std::int32_t> there(data);
    EXPECT_EQ(count_if(gpu{}, there.data(), data.size(), tests::is_multiple_of_three{}),
              count_if(host{1}, data, tests::is_multiple_of_three{}));
    EXPECT_EQ(transform_reduce(gpu{}, there.data(), data.size(), tests::times_index{}),
              transform_reduce(host{1}, data, tests::times_index{}));
    const on_device<std::int64_t> sums(2);
    const on_device<std::uint64_t> count(1);
    reduce(gpu{}, there.data(), data.size(), sums.data());
    reduce(gpu{}, there.data(), data.size(), sums.data() + 1, sum{}, std::int64_t{100});
    count_if(gpu{}, there.data(), data.size(), count.data(), tests::is_multiple_of_three{});
    const std::int64_t right = reduce(host{1}, data);
    EXPECT_EQ(sums.read(), (std::vector<std::int64_t>{right, right + 100}));
    EXPECT_EQ(count.read()[0], count_if(host{1}, data, tests::is_multiple_of_three{}));
}

// A captured call runs again and again on what its memory holds by then, with a workspace and without.
TEST(reduce, captured) {
    const std::uint64_t n = 50000;
    auto data = tests::small_numbers<float>(n, 1);
    const on_device<float> there(data);
    const on_device<float> out(2);
    workspace memory(reduce_workspace(sizeof(float)));
    const tests::captured_calls captured([&](cudaStream_t stream) {
        reduce(gpu{stream, &memory}, there.data(), n, out.data());
        reduce(gpu{stream}, there.data(), n, out.data() + 1);
    });
    for (unsigned k = 0; k < 3; ++k) {
        data = tests::small_numbers<float>(n, 10 + k);
        CUDA(cudaMemcpy(there.base, data.data(), n * sizeof(float), cudaMemcpyHostToDevice));
        captured.run();
        EXPECT_EQ(out.read(), std::vector<float>(2, reduce(host{1}, data)));
    }
}

TEST(reduce, bad_arguments) {
    const on_device<int> there(std::vector<int>(100000, 1));
    const int* const askew = reinterpret_cast<const int*>(reinterpret_cast<const char*>(there.data()) + 2);
    tests::expect_invalid_argument([&] { (void)reduce(gpu{}, askew, 10); }, "not aligned to the 4 bytes");
    tests::expect_invalid_argument([&] { (void)arg_max(gpu{}, there.data(), 0); }, "arg_max: there is no element");
    workspace little(16);
    tests::expect_invalid_argument(
        [&] {
            (void)reduce(gpu{nullptr, &little}, there.data(), 100000);
        },
        "workspace has 256 bytes");
    EXPECT_EQ(reduce(gpu{}, there.data(), 100000), 100000);
}

TEST(reduce, numbers_of_8_bits) { numbers<std::uint8_t>(); }
TEST(reduce, numbers_of_16_bits) { numbers<std::int16_t>(); }
TEST(reduce, numbers_of_32_bits) { numbers<std::int32_t>(); }
TEST(reduce, numbers_of_float) { numbers<float>(); }
TEST(reduce, numbers_of_double) { numbers<double>(); }

} // namespace
