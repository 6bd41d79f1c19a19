// SPDX-License-Identifier: MIT
// Exact means, variances and norms, sums of 16-bit numbers and dot products of mixed types on a GPU, the software one or
// a real one, against the host's.
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/library/captured_calls.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/exact_sum/moments_reference.hpp"
#include "tests/library/gpu_test.hpp"
#include "warpfold/exact_moments.cuh"

using namespace warpfold;

namespace {

using tests::on_device;

// call(target, in, n) gives the same bits as on the host, and leaves the workspace zero.
template <class T, class Call>
void expect_like_host(const Call& call) {
    workspace memory(exact_moments_workspace());
    auto cases = tests::moment_cases<T>();
    cases.push_back({});
    cases.push_back({std::numeric_limits<T>::infinity(), 1});
    cases.push_back({std::numeric_limits<T>::quiet_NaN(), 1});
    cases.push_back(tests::spread<T>(20011, -5, 5, 9));
    cases.push_back(tests::spread<T>(9001, -60, 60, 9));
    for (std::size_t k = 0; k < cases.size(); ++k) {
        const on_device<T> there(cases[k], k % 4);
        const T right = call(host{1}, cases[k].data(), cases[k].size());
        const T got = call(gpu{nullptr, k % 2 == 0 ? &memory : nullptr}, there.data(), cases[k].size());
        ASSERT_TRUE(tests::same_bits(got, right)) << k << ": " << got << ", not " << right;
    }
    tests::expect_zero(memory);
}

TEST(Moments, Mean) {
    expect_like_host<float>([](const auto& on, const float* in, std::uint64_t n) { return exact_mean(on, in, n); });
}
TEST(Moments, Variance) {
    expect_like_host<double>(
        [](const auto& on, const double* in, std::uint64_t n) { return exact_variance(on, in, n, ddof{1}); });
}
TEST(Moments, Norm) {
    expect_like_host<float>([](const auto& on, const float* in, std::uint64_t n) { return exact_norm(on, in, n); });
}

TEST(Moments, InACapturedStream) {
    const std::vector<float> data = tests::spread<float>(5000, -5, 5, 2);
    const on_device<float> in(data), out(1);
    workspace memory(exact_moments_workspace());
    const tests::captured_calls captured([&](cudaStream_t stream) {
        exact_mean(gpu{stream, &memory}, in.data(), data.size(), out.data());
    });
    for (unsigned run = 0; run < 2; ++run) {
        CUDA(cudaMemset(out.data(), 0x77, sizeof(float)));
        captured.run();
        EXPECT_TRUE(tests::same_bits(out.read()[0], exact_mean(host{}, data)));
    }
    workspace little(16);
    tests::expect_invalid_argument(
        [&] {
            exact_mean(gpu{nullptr, &little}, in.data(), 4, out.data());
        },
        "exact_mean: the workspace has");
    tests::expect_invalid_argument([&] { exact_mean(gpu{}, in.data(), 4, static_cast<float*>(nullptr)); },
                                   "exact_mean: a null pointer");
}

TEST(ExactSum, Halves) {
    workspace memory(exact_sum_workspace());
    const std::vector<std::vector<float>> cases{{1, 0x1p-11f, 0x1p-24f}, {65504, 65504, -65504}, {65504, 65504}, {}};
    for (const auto& one : cases) {
        std::vector<half> data;
        data.reserve(one.size());
        for (const float x : one) {
            data.emplace_back(x);
        }
        const on_device<half> there(data);
        EXPECT_EQ(exact_sum(gpu{nullptr, &memory}, there.data(), data.size()).bits, exact_sum(host{}, data).bits);
    }
    tests::expect_zero(memory);
}

// Of both 16-bit formats; as on the host.
template <class H>
void short_moments() {
    workspace memory(exact_moments_workspace());
    for (const std::uint64_t n : {0u, 1u, 2u, 1023u, 1024u, 1025u, 40009u}) {
        std::vector<H> data;
        for (const float x : tests::spread<float>(n, -8, 6, 3)) {
            data.push_back(H(x));
        }
        const std::vector<double> wide = tests::spread<double>(n, -8, 6, 4);
        const on_device<H> there(data, n % 4);
        const on_device<double> wide_there(wide, n % 2);
        const gpu on{nullptr, n % 2 == 0 ? &memory : nullptr};
        EXPECT_EQ(exact_mean(on, there.data(), n).bits, exact_mean(host{}, data).bits) << n;
        EXPECT_EQ(exact_variance(on, there.data(), n).bits, exact_variance(host{}, data).bits) << n;
        EXPECT_EQ(exact_norm(on, there.data(), n).bits, exact_norm(host{}, data).bits) << n;
        EXPECT_EQ(exact_dot(gpu{}, there.data(), there.data(), n), exact_dot(host{}, data, data)) << n;
        EXPECT_EQ(exact_dot(gpu{}, there.data(), wide_there.data(), n), exact_dot(host{}, data, wide)) << n;
    }
    tests::expect_zero(memory);
}
TEST(Moments, OfHalves) { short_moments<half>(); }
TEST(Moments, OfBfloats) { short_moments<bfloat16>(); }

TEST(ExactSum, DotsOfMixedTypes) {
    const auto a = tests::spread<float>(5001, -40, 40, 1);
    const auto b = tests::spread<double>(5001, -30, 20, 2);
    const on_device<float> a_there(a);
    const on_device<double> b_there(b);
    EXPECT_EQ(exact_dot(gpu{}, a_there.data(), b_there.data(), a.size()), exact_dot(host{}, a, b));
}

} // namespace
