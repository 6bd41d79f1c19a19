// SPDX-License-Identifier: MIT
// Scans on a GPU, the software one or a real one, against the definition.
#include "warpfold/scan.cuh"

#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/library/captured_calls.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/scan/scan_cases.hpp"

using namespace warpfold;
using tests::on_device;
using tests::scanned;

namespace {

// Output of n elements with a guard on either side.
template <class T>
struct guarded {
    explicit guarded(std::uint64_t n, std::size_t skipped = 0)
        : whole(std::vector<T>(n + 2 * around + skipped)), skip(skipped) {
        CUDA(cudaMemset(whole.base, 0x5a, whole.count * sizeof(T)));
    }
    [[nodiscard]] T* data() const { return whole.data() + around + skip; }
    [[nodiscard]] std::vector<T> read() const {
        const std::vector<T> all = whole.read();
        const auto untouched = [](const T& x) {
            unsigned char bytes[sizeof(T)];
            std::memcpy(bytes, &x, sizeof(T));
            for (const unsigned char b : bytes) {
                if (b != 0x5a) {
                    return false;
                }
            }
            return true;
        };
        for (std::size_t k = 0; k < around; ++k) {
            EXPECT_TRUE(untouched(all[k]) && untouched(all[all.size() - 1 - k]));
        }
        std::vector<T> inner(all.size() - 2 * around - skip);
        for (std::size_t k = 0; k < inner.size(); ++k) {
            inner[k] = all[around + skip + k];
        }
        return inner;
    }

    static constexpr std::size_t around = 16;
    on_device<T> whole;
    std::size_t skip;
};

// The last one has several groups of tiles.
constexpr std::uint64_t many_tiles = 600011;
constexpr std::uint64_t lengths[] = {1, 2, 31, 33, 127, 1000, 4095, 4096, 4097, 16384, 40003, 130001, many_tiles};

template <class T, class U>
void numbers() {
    workspace memory(scan_workspace<std::uint64_t>(many_tiles, gpu{}));
    for (const std::uint64_t n : lengths) {
        for (const std::size_t skip : {0u, 1u, 3u}) {
            if (n > 20000 && (skip != 0 || (n == many_tiles && !std::is_same_v<U, std::int32_t>))) {
                continue;
            }
            const auto x = tests::small_numbers<T>(n, static_cast<unsigned>(n + skip));
            const on_device<T> in(x, skip);
            const gpu with{nullptr, &memory};
            const guarded<U> a(n, skip), b(n);
            inclusive_scan(with, in.data(), n, a.data());
            EXPECT_TRUE(tests::same_bits(a.read(), scanned<U, U>(x, sum{}, true)));
            exclusive_scan(gpu{}, std::span<const T>(in.data(), n), b.data(), sum{}, 5, reversed);
            EXPECT_TRUE(tests::same_bits(b.read(), scanned<U, U>(x, sum{}, false, U(5), true)));
        }
    }
}

// Any operation of the library's in the elements' own type, in place.
template <class T>
void in_place() {
    workspace memory(scan_workspace<std::uint64_t>(many_tiles, gpu{}));
    for (const std::uint64_t n : {std::uint64_t{777}, std::uint64_t{50021}}) {
        for (const std::size_t skip : {0u, 1u}) {
            const auto x = tests::any_numbers<T>(n, static_cast<unsigned>(n));
            const on_device<T> a(x, skip), b(x, skip);
            inclusive_scan(gpu{nullptr, &memory}, a.data(), n, a.data(), maximum{}, reversed);
            EXPECT_TRUE(tests::same_bits(a.read(), scanned<T, T>(x, maximum{}, true, {}, true)));
            exclusive_scan(gpu{}, b.data(), n, b.data(), minimum{});
            EXPECT_TRUE(tests::same_bits(b.read(), scanned<T, T>(x, minimum{}, false, minimum::identity<T>())));
        }
    }
}

TEST(scan, order) {
    for (const std::uint64_t n : {1u, 5u, 33u, 4097u, 70001u, 300007u}) {
        std::vector<tests::affine> maps(n);
        for (std::uint64_t k = 0; k < n; ++k) {
            maps[k] = {static_cast<std::uint32_t>(2 * k + 1), static_cast<std::uint32_t>(k * k + 1)};
        }
        const on_device<tests::affine> in(maps);
        const guarded<tests::affine> a(n), b(n, 1);
        inclusive_scan(gpu{}, in.data(), n, a.data(), tests::then{});
        EXPECT_EQ(a.read(), (scanned<tests::affine, tests::affine>(maps, tests::then{}, true)));
        exclusive_scan(gpu{}, in.data(), n, b.data(), tests::then{}, tests::affine{3, 4});
        EXPECT_EQ(b.read(), (scanned<tests::affine, tests::affine>(maps, tests::then{}, false, tests::affine{3, 4})));
    }
    std::vector<tests::triple> data(30011);
    for (std::uint64_t k = 0; k < data.size(); ++k) {
        data[k] = {static_cast<int>(k % 1000), -static_cast<int>(k % 1000), 1};
    }
    const on_device<tests::triple> in(data);
    const guarded<tests::triple> out(data.size());
    exclusive_scan(gpu{}, in.data(), data.size(), out.data(), tests::add_triples{});
    EXPECT_EQ(out.read(),
              (scanned<tests::triple, tests::triple>(data, tests::add_triples{}, false, tests::triple{0, 0, 0})));
}

TEST(scan, large_elements) {
    std::vector<tests::large> data(1500);
    for (std::size_t k = 0; k < data.size(); ++k) {
        for (int j = 0; j < 50; ++j) {
            data[k].x[j] = static_cast<int>(k) * j;
        }
    }
    const on_device<tests::large> in(data);
    inclusive_scan(gpu{}, in.data(), data.size(), in.data(), tests::add_large{});
    EXPECT_EQ(in.read(), (scanned<tests::large, tests::large>(data, tests::add_large{}, true)));
}

template <class T>
void segmented() {
    workspace memory(scan_workspace<std::uint64_t>(many_tiles, gpu{}));
    for (const std::uint64_t n :
         {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{4097}, std::uint64_t{60013}, many_tiles}) {
        for (const std::uint64_t mean :
             {std::uint64_t{1}, std::uint64_t{50}, std::uint64_t{9000}, std::uint64_t{1} << 40}) {
            for (const std::size_t skip : {0u, 1u}) {
                if (n == many_tiles && (mean != 9000 || skip == 0 || sizeof(T) != 4)) {
                    continue;
                }
                const auto x = tests::any_numbers<T>(n, static_cast<unsigned>(n + mean));
                const tests::segments cut(n, mean, static_cast<unsigned>(mean + skip));
                const on_device<T> in(x, skip);
                const on_device<std::uint8_t> flags(cut.heads, skip);
                const on_device<std::uint64_t> begins(cut.begins);
                const guarded<T> a(n), b(n, skip);
                const gpu with{nullptr, &memory};
                const std::uint64_t count = cut.begins.size();
                inclusive_scan(with, in.data(), n, a.data(), sum{}, heads(flags.data()));
                EXPECT_EQ(a.read(), (scanned<T, T>(x, sum{}, true, {}, false, cut.heads)));
                exclusive_scan(with, in.data(), n, b.data(), sum{}, offsets(begins.data(), count), T(9));
                EXPECT_EQ(b.read(), (scanned<T, T>(x, sum{}, false, T(9), false, cut.heads)));
                inclusive_scan(gpu{}, in.data(), n, a.data(), sum{}, T(3), reversed, offsets(begins.data(), count));
                EXPECT_EQ(a.read(), (scanned<T, T>(x, sum{}, true, T(3), true, cut.heads)));
                exclusive_scan(gpu{}, in.data(), n, b.data(), sum{}, reversed, heads(flags.data()));
                EXPECT_EQ(b.read(), (scanned<T, T>(x, sum{}, false, T(0), true, cut.heads)));
            }
        }
    }
}

TEST(scan, segments_of_one_length) {
    for (const std::uint64_t n : {std::uint64_t{100}, std::uint64_t{60013}}) {
        for (const std::uint64_t length :
             {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{5000}, ~std::uint64_t{0}}) {
            const auto x = tests::any_numbers<std::int32_t>(n, static_cast<unsigned>(n));
            const auto cut = tests::heads_of_length(n, length);
            const on_device<std::int32_t> in(x, 1);
            const guarded<std::int32_t> a(n);
            inclusive_scan(gpu{}, in.data(), n, a.data(), sum{}, equal_segments{length});
            EXPECT_EQ(a.read(), (scanned<int, int>(x, sum{}, true, {}, false, cut)));
            exclusive_scan(gpu{}, in.data(), n, a.data(), sum{}, reversed, equal_segments{length}, 9);
            EXPECT_EQ(a.read(), (scanned<int, int>(x, sum{}, false, 9, true, cut)));
        }
    }
    const on_device<int> some(3);
    tests::expect_invalid_argument(
        [&] { inclusive_scan(gpu{}, some.data(), 3, some.data(), sum{}, equal_segments{0}); },
        "inclusive_scan: the segments of a scan have a length of 0");
}

struct odd_numbers {
    __host__ __device__ std::uint32_t operator[](std::uint64_t k) const {
        return static_cast<std::uint32_t>(2 * k + 1);
    }
};

TEST(scan, objects_and_maps) {
    const std::uint64_t n = 20001;
    const guarded<std::uint32_t> a(n);
    inclusive_scan(gpu{}, odd_numbers{}, n, a.data()); // squares
    const auto squares = a.read();
    for (std::uint64_t k = 0; k < n; ++k) {
        EXPECT_EQ(squares[k], static_cast<std::uint32_t>((k + 1) * (k + 1)));
    }
    const auto x = tests::small_numbers<std::int32_t>(n, 3);
    const on_device<std::int32_t> in(x);
    const guarded<std::uint64_t> b(n);
    transform_exclusive_scan(gpu{}, in.data(), n, b.data(), tests::times_index{});
    std::vector<std::uint64_t> mapped(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        mapped[k] = tests::times_index{}(x[k], k);
    }
    EXPECT_EQ(b.read(), (scanned<std::uint64_t, std::uint64_t>(mapped, sum{}, false, 0)));
}

// The difference to the element before, or behind: their scan gives the elements back.
template <class T>
struct less_neighbour {
    const T* in;
    std::uint64_t n;
    bool behind;

    __host__ __device__ T operator()(T x, std::uint64_t k) const {
        return k == (behind ? n - 1 : 0) ? x : static_cast<T>(x - in[behind ? k + 1 : k - 1]);
    }
};

template <class T>
void differences(std::uint64_t n) {
    const auto x = tests::small_numbers<T>(n, static_cast<unsigned>(n));
    for (const std::size_t skip : {0u, 1u}) {
        const on_device<T> in(x, skip), out(std::vector<T>(n, T{})), reverse(std::vector<T>(n, T{}), 1);
        transform_inclusive_scan(gpu{}, in.data(), n, out.data(), less_neighbour<T>{in.data(), n, false});
        EXPECT_TRUE(tests::same_bits(out.read(), x)) << n;
        transform_inclusive_scan(gpu{}, in.data(), n, reverse.data(), less_neighbour<T>{in.data(), n, true}, sum{},
                                 reversed);
        EXPECT_TRUE(tests::same_bits(reverse.read(), x)) << n;
    }
}
TEST(scan, maps_that_load_other_elements) {
    for (const std::uint64_t n : {1u, 31u, 1000u, 2500u, 20001u}) {
        differences<std::int32_t>(n);
        differences<std::int64_t>(n);
        differences<std::uint8_t>(n);
    }
}

// The same bits in every run, and not far from the truth: sums of floating-point numbers that are not exact.
TEST(scan, floating) {
    const std::uint64_t n = 100003;
    const auto x = tests::any_numbers<float>(n, 11);
    std::vector<float> scaled(n);
    for (std::uint64_t k = 0; k < n; ++k) {
        int exponent = 0;
        scaled[k] = std::frexp(x[k], &exponent);
        scaled[k] = scaled[k] == scaled[k] && std::isfinite(scaled[k]) ? scaled[k] : 0.25f;
    }
    const on_device<float> in(scaled);
    const guarded<float> out(n);
    inclusive_scan(gpu{}, in.data(), n, out.data());
    const auto once = out.read();
    double sum = 0, size = 0;
    for (std::uint64_t k = 0; k < n; ++k) {
        sum += scaled[k];
        size += std::fabs(static_cast<double>(scaled[k]));
        EXPECT_TRUE(std::fabs(once[k] - sum) <= 64 * 6e-8 * size);
    }
    for (unsigned again = 0; again < 3; ++again) {
        inclusive_scan(gpu{}, in.data(), n, out.data());
        EXPECT_TRUE(tests::same_bits(out.read(), once));
    }
}

// A captured call runs again and again on what its memory holds by then, with a workspace and without.
TEST(scan, captured) {
    const std::uint64_t n = 50000;
    auto data = tests::small_numbers<std::int32_t>(n, 1);
    const on_device<std::int32_t> in(data), a(data), b(data);
    workspace memory(scan_workspace<std::int32_t>(n, gpu{}));
    const tests::captured_calls captured([&](cudaStream_t stream) {
        inclusive_scan(gpu{stream, &memory}, in.data(), n, a.data());
        inclusive_scan(gpu{stream}, in.data(), n, b.data());
    });
    for (unsigned k = 0; k < 3; ++k) {
        data = tests::small_numbers<std::int32_t>(n, 10 + k);
        CUDA(cudaMemcpy(in.base, data.data(), n * sizeof(std::int32_t), cudaMemcpyHostToDevice));
        captured.run();
        EXPECT_TRUE((a.read() == scanned<std::int32_t, std::int32_t>(data, sum{}, true)) && a.read() == b.read());
    }
    tests::expect_zero(memory);
}

TEST(scan, bad_arguments) {
    const on_device<int> in(std::vector<int>(500000, 1)), out(std::vector<int>(500000, 0));
    const int* const askew = reinterpret_cast<const int*>(reinterpret_cast<const char*>(in.data()) + 2);
    tests::expect_invalid_argument([&] { inclusive_scan(gpu{}, askew, 10, out.data()); },
                                   "inclusive_scan: the array is not aligned to the 4 bytes");
    tests::expect_invalid_argument([&] { inclusive_scan(gpu{}, in.data(), 10, in.data() + 5); },
                                   "input and output overlap");
    tests::expect_invalid_argument([&] { exclusive_scan(gpu{}, in.data(), 10, std::span<int>(out.data(), 9)); },
                                   "room for 9 of 10");
    workspace little(16);
    tests::expect_invalid_argument(
        [&] {
            inclusive_scan(gpu{nullptr, &little}, in.data(), 500000, out.data());
        },
        "workspace has 256 bytes");
    inclusive_scan(gpu{}, in.data(), 0, out.data());
    EXPECT_EQ(out.read()[0], 0);
    inclusive_scan(gpu{}, in.data(), 500000, out.data());
    EXPECT_EQ(out.read()[499999], 500000);
}

TEST(scan, numbers_of_8_bits) { numbers<std::uint8_t, std::uint8_t>(); }
TEST(scan, numbers_of_32_bits) { numbers<std::int32_t, std::int32_t>(); }
TEST(scan, numbers_of_32_bits_into_64) { numbers<std::int32_t, std::int64_t>(); }
TEST(scan, numbers_of_float) { numbers<float, float>(); }
TEST(scan, in_place) {
    in_place<double>();
    in_place<std::int16_t>();
}
TEST(scan, segments_of_32_bits) { segmented<std::int32_t>(); }
TEST(scan, segments_of_8_bits) { segmented<std::uint8_t>(); }

} // namespace
