// SPDX-License-Identifier: MIT
// Exact sums on a GPU, the software one or a real one, to the last bit.
#include "warpfold/exact_sum.cuh"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/library/captured_calls.hpp"
#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/exact_sum/exact_reference.hpp"
#include "tests/library/gpu_test.hpp"

using namespace warpfold;

namespace {

using tests::on_device;

template <class T>
void same(T got, T expected, const std::string& what) {
    EXPECT_TRUE(tests::same_bits(got, expected))
        << what << ": " << std::hexfloat << static_cast<double>(got) << ", not " << static_cast<double>(expected);
}

// All of it zero, as every call has to leave it.
template <class T>
void sums() {
    workspace memory(exact_sum_workspace());
    using limits = std::numeric_limits<T>;
    const gpu with{nullptr, &memory};
    const int lowest = limits::min_exponent - limits::digits, highest = limits::max_exponent - 1;
    for (const std::uint64_t n : {0u, 1u, 2u, 31u, 33u, 1025u, 8193u, 65537u, 200003u}) {
        const auto data = tests::spread<T>(n, -10, 3, static_cast<unsigned>(n));
        const T expected = exact_sum(host{1}, data);
        for (const std::size_t skip : {0u, 1u, 3u}) {
            const on_device<T> there(data, skip);
            same(exact_sum(with, there.data(), n), expected,
                 "sum of " + std::to_string(n) + " from " + std::to_string(skip));
        }
        const on_device<T> there(data);
        same(exact_sum(gpu{}, there.data(), n), expected, "sum of " + std::to_string(n));
    }
    for (const std::uint64_t n : {500u, 20000u}) {
        const int ends[][2] = {{lowest, highest}, {lowest, lowest + 40}, {highest - 40, highest}, {-60, 60}, {-30, 90},
                               {39, 43}};
        for (const auto& end : ends) {
            const auto data = tests::spread<T>(n, end[0], end[1], 3);
            const on_device<T> there(data);
            same(exact_sum(with, there.data(), n), tests::expected_sum(data), "sum from 2^" + std::to_string(end[0]));
        }
        const auto data = tests::cancelling<T>(n, 8);
        const on_device<T> there(data);
        same(exact_sum(with, there.data(), data.size()), tests::expected_sum(data), "what cancels");
    }
    // One exponent alone: the borders of every level.
    for (int at = -125; at <= 50; ++at) {
        const auto data = tests::spread<T>(40, at, at, 11);
        const on_device<T> there(data);
        same(exact_sum(with, there.data(), data.size()), tests::expected_sum(data), "sum of 2^" + std::to_string(at));
    }
    // So many that windows for any number take over, with something in between that is none.
    for (const bool infinite : {false, true}) {
        auto data = tests::cancelling<T>(50000, 4);
        data[40000] = infinite ? limits::infinity() : data[40000];
        const on_device<T> there(data);
        same(exact_sum(gpu{}, there.data(), data.size()), infinite ? limits::infinity() : 3 * limits::denorm_min(),
             "any numbers");
    }
    // Small numbers first, then larger and larger ones: windows move.
    std::vector<T> rising = tests::spread<T>(60000, -3, 3, 7);
    for (std::size_t k = 0; k < rising.size(); ++k) {
        rising[k] = std::ldexp(rising[k],
                               lowest + 10 +
                                   static_cast<int>(k * static_cast<unsigned>(highest - 20 - lowest) / rising.size()));
    }
    const on_device<T> there(rising);
    same(exact_sum(with, there.data(), rising.size()), tests::expected_sum(rising), "rising");
    tests::expect_zero(memory);
}

// Half of a last bit more than a number, and a bit of a lower level beside it, which decides how the sum is rounded.
template <class T>
void ties() {
    for (const int at : {0, 3, -5, -20, -30}) {
        const T base = std::ldexp(T(1), at), half = std::ldexp(base, -std::numeric_limits<T>::digits);
        for (const int low : {at - 33, at - 45, -70, -74, -115}) {
            for (const T tiny : {T(0), std::ldexp(T(1), low), -std::ldexp(T(1), low)}) {
                for (const std::vector<T>& data : {std::vector<T>{base, half, tiny},
                                                   {-base, -half, tiny},
                                                   {base, 3 * half, tiny},
                                                   {-base, half, tiny}}) {
                    const on_device<T> there(data);
                    same(exact_sum(gpu{}, there.data(), data.size()), tests::expected_sum(data),
                         "a tie at 2^" + std::to_string(at) + " and 2^" + std::to_string(low));
                }
            }
        }
    }
}

template <class T>
void special() {
    workspace memory(exact_sum_workspace());
    const gpu with{nullptr, &memory};
    unsigned which = 0;
    for (const auto& data : tests::special_sums<T>()) {
        const T expected = tests::expected_sum(data);
        const std::string name = "case " + std::to_string(which);
        const on_device<T> alone(data);
        same(exact_sum(with, alone.data(), data.size()), expected, name);
        if (which++ % 3 == 0) { // by several blocks
            std::vector<T> more(20000, T(0));
            more.insert(more.begin() + 1 + which * 200, data.begin(), data.end());
            const on_device<T> among(more);
            same(exact_sum(with, among.data(), more.size()), expected, name + " among zeros");
        }
    }
    std::vector<T> large(20001, std::numeric_limits<T>::max());
    for (std::size_t k = 0; k < 20000; k += 2) {
        large[k] = -large[k];
    }
    large[20000] = T(1.5);
    const on_device<T> there(large);
    same(exact_sum(with, there.data(), large.size()), T(1.5), "the largest");
    same(exact_sum(with, there.data(), large.size() - 2), -std::numeric_limits<T>::max(), "the largest, one less");
    tests::expect_zero(memory);
}

template <class T>
void dots() {
    workspace memory(exact_sum_workspace());
    using limits = std::numeric_limits<T>;
    const gpu with{nullptr, &memory};
    const int lowest = limits::min_exponent - limits::digits, highest = limits::max_exponent - 1;
    for (const std::uint64_t n : {0u, 1u, 33u, 4099u, 70001u}) {
        const auto a = tests::spread<T>(n, -8, 3, 1), b = tests::spread<T>(n, -9, 2, 2);
        const T expected = exact_dot(host{1}, a, b);
        for (const std::size_t skip : {0u, 1u}) {
            const on_device<T> a_there(a, skip), b_there(b, 1);
            same(exact_dot(with, a_there.data(), b_there.data(), n), expected, "dot of " + std::to_string(n));
        }
    }
    const int ends[][4] = {{lowest, highest, lowest, highest},
                           {highest - 20, highest, highest - 20, highest},
                           {lowest, lowest + 9, lowest, lowest + 9},
                           {lowest / 2, lowest / 2 + 10, lowest / 2, lowest / 2 + 10},
                           {-30, 30, -30, 30}};
    for (const auto& end : ends) {
        const auto a = tests::spread<T>(9001, end[0], end[1], 3), b = tests::spread<T>(9001, end[2], end[3], 4);
        const on_device<T> a_there(a), b_there(b);
        same(exact_dot(with, a_there.data(), b_there.data(), a.size()), tests::expected_dot(a, b),
             "dot from 2^" + std::to_string(end[0]));
    }
    for (int at = -100; at <= 35; ++at) {
        const auto a = tests::spread<T>(40, at, at, 12), b = tests::spread<T>(40, 0, 0, 13);
        const on_device<T> a_there(a), b_there(b);
        same(exact_dot(with, a_there.data(), b_there.data(), a.size()), tests::expected_dot(a, b),
             "dot of 2^" + std::to_string(at));
    }
    const T infinity = limits::infinity(), tiny = limits::denorm_min(), nan = limits::quiet_NaN();
    const std::vector<std::vector<T>> cases[] = {{{tiny}, {T(-0.5)}},
                                                 {{3 * tiny, tiny}, {T(0.5), -tiny}},
                                                 {{infinity}, {T(0)}},
                                                 {{infinity}, {T(-2)}},
                                                 {{-infinity, T(1)}, {T(-2), -infinity}},
                                                 {{nan}, {T(0)}},
                                                 {{limits::max(), T(1)}, {T(2), -limits::max()}}};
    for (const auto& one : cases) {
        const on_device<T> a(one[0]), b(one[1]);
        same(exact_dot(with, a.data(), b.data(), one[0].size()), tests::expected_dot(one[0], one[1]),
             "dot of special values");
    }
    tests::expect_zero(memory);
}

struct squares {
    __host__ __device__ double operator[](std::uint64_t k) const {
        return static_cast<double>(k) * static_cast<double>(k);
    }
};

TEST(exact_sum, other_inputs_and_places) {
    const std::uint64_t n = 30000;
    same(exact_sum(gpu{}, squares{}, n), exact_sum(host{}, squares{}, n), "squares");
    same(exact_dot(gpu{}, squares{}, squares{}, n), exact_dot(host{}, squares{}, squares{}, n), "products of squares");
    const auto data = tests::spread<float>(n, -90, 90, 5);
    const on_device<float> there(data);
    const on_device<float> out(2);
    workspace memory(exact_sum_workspace());
    const tests::captured_calls captured([&](cudaStream_t stream) {
        exact_sum(gpu{stream, &memory}, there.data(), n, out.data());
        exact_dot(gpu{stream}, there.data(), there.data(), n, out.data() + 1);
    });
    for (unsigned k = 0; k < 2; ++k) {
        CUDA(cudaMemset(out.data(), 0xff, 2 * sizeof(float)));
        captured.run();
        const std::vector<float> got = out.read();
        same(got[0], exact_sum(host{}, data), "captured sum");
        same(got[1], exact_dot(host{}, data, data), "captured dot");
    }
}

TEST(exact_sum, bad_arguments) {
    const on_device<float> there(std::vector<float>(100000, 1.0f));
    const float* const askew = reinterpret_cast<const float*>(reinterpret_cast<const char*>(there.data()) + 2);
    tests::expect_invalid_argument([&] { (void)exact_sum(gpu{}, askew, 10); },
                                   "exact_sum: the array is not aligned to the 4 bytes");
    workspace little(16);
    tests::expect_invalid_argument(
        [&] {
            (void)exact_dot(gpu{nullptr, &little}, there.data(), there.data(), 100000);
        },
        "exact_dot: the workspace has");
    same(exact_sum(gpu{}, there.data(), 100000), 100000.0f, "afterwards");
}

__global__ void fill(float* data, std::uint64_t n, float first) {
    for (std::uint64_t k = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n;
         k += std::uint64_t{gridDim.x} * blockDim.x) {
        data[k] = k == 0 ? first : (k % 2 == 0 ? 0x1.fffffep-1f : -0x1.fffffcp-1f);
    }
}

// 2^31 floats, where asked for: needs a GPU with 8 GiB.
TEST(exact_sum, large) {
    if (std::getenv("WARPFOLD_TEST_LARGE") == nullptr) {
        GTEST_SKIP() << "WARPFOLD_TEST_LARGE is not set";
    }
    const std::uint64_t n = std::uint64_t{1} << 31;
    float* data = nullptr;
    CUDA(cudaMalloc(&data, n * sizeof(float)));
    for (const float first : {0.0f, 1e30f}) {
        fill<<<1024, 256>>>(data, n, first);
        const double evens = static_cast<double>((n + 1) / 2 - 1), odds = static_cast<double>(n / 2);
        same(exact_sum(gpu{}, data, n), static_cast<float>(first + (evens * 0x1.fffffep-1 - odds * 0x1.fffffcp-1)),
             "large");
    }
    CUDA(cudaFree(data));
}

TEST(exact_sum, sums_of_float) { sums<float>(); }
TEST(exact_sum, sums_of_double) { sums<double>(); }
TEST(exact_sum, ties_of_float) { ties<float>(); }
TEST(exact_sum, ties_of_double) { ties<double>(); }
TEST(exact_sum, special_of_float) { special<float>(); }
TEST(exact_sum, special_of_double) { special<double>(); }
TEST(exact_sum, dots_of_float) { dots<float>(); }
TEST(exact_sum, dots_of_double) { dots<double>(); }

} // namespace
