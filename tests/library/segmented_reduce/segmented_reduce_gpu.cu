// SPDX-License-Identifier: MIT
// Segmented reductions on a GPU, the software one or a real one, against the host's.
#include "warpfold/segmented_reduce.cuh"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/library/captured_calls.hpp"
#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/segmented_reduce/segment_cases.hpp"
#include "warpfold/reduce.cuh"

using namespace warpfold;

namespace {

using tests::on_device;

template <class T>
void same(const on_device<T>& got, const std::vector<T>& expected, const std::string& what) {
    std::vector<T> here(expected.size());
    CUDA(cudaMemcpy(here.data(), got.base, here.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (std::size_t s = 0; s < here.size(); ++s) {
        ASSERT_TRUE(tests::same_bits(here[s], expected[s])) << what << ": segment " << s << " of " << here.size();
    }
}

template <class T, class Offset, class Op, class A>
void check(std::uint64_t n, const std::vector<T>& data, const Op& op, const A& initial) {
    workspace memory(segmented_reduce_workspace(32, gpu{}));
    for (const auto& one : tests::segment_cases(n)) {
        EXPECT_TRUE(one.offsets.back() <= data.size());
        const on_device<T> there(data);
        const std::vector<Offset> offsets(one.offsets.begin(), one.offsets.end());
        const on_device<Offset> offsets_there(offsets);
        const std::uint64_t segments = offsets.size() - 1;
        std::vector<A> expected(segments);
        segmented_reduce(host{1}, data.data(), offsets.data(), segments, expected.data(), op, initial);
        const on_device<A> got(segments);
        segmented_reduce(gpu{nullptr, &memory}, there.data(), offsets_there.data(), segments, got.base, op, initial);
        same(got, expected, one.name);
    }
    tests::expect_zero(memory);
}

template <class T>
std::vector<T> numbers(std::uint64_t n) {
    return tests::small_numbers<T>(2 * n + 30000, 5);
}

struct last_but_zero {
    __host__ __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return b != 0 ? b : a; }
};

TEST(segmented_reduce, orders) {
    std::vector<std::uint32_t> mostly_zero(90000);
    for (std::uint32_t k = 0; k < mostly_zero.size(); ++k) {
        mostly_zero[k] = k % 7 == 3 ? k : 0;
    }
    check<std::uint32_t, std::uint32_t>(30000, mostly_zero, last_but_zero{}, std::uint32_t{0});
    std::vector<tests::affine> maps(80000);
    for (std::uint32_t k = 0; k < maps.size(); ++k) {
        maps[k] = {2 * k + 1, k * k + 1};
    }
    check<tests::affine, std::uint32_t>(20000, maps, tests::then{}, tests::affine{3, 4});
    std::vector<tests::triple> triples(80000);
    for (int k = 0; k < 80000; ++k) {
        triples[static_cast<std::size_t>(k)] = {k % 1000, -k % 777, 1};
    }
    check<tests::triple, std::int64_t>(9000, triples, tests::add_triples{}, tests::triple{1, 2, 3});
}

TEST(segmented_reduce, equal_lengths) {
    workspace memory(segmented_reduce_workspace(32, gpu{}));
    for (const std::uint64_t length : {0u, 1u, 6u, 16u, 100u, 3841u, 16000u, 50000u}) {
        const std::uint64_t segments = length == 0 ? 10000 : 60000 / length + 1;
        const auto data = tests::small_numbers<float>(segments * length, 4);
        const on_device<float> there(data);
        std::vector<float> expected(segments);
        segmented_reduce(host{1}, data.data(), equal_segments{length}, segments, expected.data());
        const on_device<float> got(segments);
        segmented_reduce(gpu{}, there.data(), equal_segments{length}, segments, got.base);
        same(got, expected, "equal segments of " + std::to_string(length));
        segmented_reduce(gpu{nullptr, &memory}, there.data(), equal_segments{length}, segments, got.base);
        same(got, expected, "equal segments of " + std::to_string(length) + ", workspace");
    }
    // Short ones, whose kernel is another, from every distance to a 16-byte boundary.
    for (const std::uint64_t length : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 11u, 15u, 16u, 17u}) {
        const std::uint64_t segments = 3000 / length + length;
        const auto data = tests::small_numbers<double>(segments * length + 3, 4);
        const on_device<double> there(data);
        for (const std::uint64_t skip : {0u, 1u, 2u}) {
            std::vector<double> expected(segments);
            segmented_reduce(host{1}, data.data() + skip, equal_segments{length}, segments, expected.data());
            const on_device<double> got(segments);
            segmented_reduce(gpu{}, there.data() + skip, equal_segments{length}, segments, got.base);
            same(got, expected, "short equal segments of " + std::to_string(length));
        }
    }
    // More of one element than run at the same time.
    const auto data = tests::small_numbers<double>(600001, 4);
    const on_device<double> there(data), got(data.size());
    segmented_reduce(gpu{}, there.data(), equal_segments{1}, data.size(), got.base);
    same(got, data, "many equal segments of 1");
    tests::expect_zero(memory);
}

// The same bits in every run, of sums that depend on the order.
TEST(segmented_reduce, determinism) {
    workspace memory(segmented_reduce_workspace(32, gpu{}));
    std::vector<float> data(150000);
    for (std::size_t k = 0; k < data.size(); ++k) {
        data[k] = 1.0f / static_cast<float>(k % 999 + 1);
    }
    const std::vector<std::uint32_t> offsets{0, 10, 90000, 90001, 150000};
    const on_device<float> there(data);
    const on_device<std::uint32_t> offsets_there(offsets);
    std::vector<float> first(4);
    for (unsigned run = 0; run < 3; ++run) {
        const on_device<float> got(4);
        segmented_reduce(gpu{nullptr, &memory}, there.data(), offsets_there.data(), 4, got.base);
        if (run == 0) {
            CUDA(cudaMemcpy(first.data(), got.base, 4 * sizeof(float), cudaMemcpyDeviceToHost));
        }
        same(got, first, "another run");
    }
}

TEST(segmented_reduce, captured_and_bad) {
    const auto data = numbers<float>(40000);
    const std::vector<std::int32_t> offsets{0, 3, 39999};
    const on_device<float> there(data);
    const on_device<std::int32_t> offsets_there(offsets);
    std::vector<float> expected(2);
    segmented_reduce(host{}, data.data(), offsets.data(), 2, expected.data());
    workspace memory(segmented_reduce_workspace(sizeof(float), gpu{}));
    const on_device<float> got(2);
    const tests::captured_calls captured([&](cudaStream_t stream) {
        segmented_reduce(gpu{stream, &memory}, there.data(), offsets_there.data(), 2, got.base);
    });
    for (unsigned k = 0; k < 2; ++k) {
        CUDA(cudaMemset(got.base, 0x77, 2 * sizeof(float)));
        captured.run();
        same(got, expected, "captured");
    }

    workspace little(16);
    const float* const askew = reinterpret_cast<const float*>(reinterpret_cast<const char*>(there.data()) + 2);
    const auto sums = [&](workspace& of, const float* in) {
        segmented_reduce(gpu{nullptr, &of}, in, offsets_there.data(), 2, got.base);
    };
    tests::expect_invalid_argument([&] { sums(little, there.data()); }, "segmented_reduce: the workspace has");
    tests::expect_invalid_argument([&] { sums(memory, askew); }, "not aligned");
    segmented_reduce(gpu{}, there.data(), offsets_there.data(), 0, got.base);
}

// They are no use, but do no harm: the call ends, and nothing outside of the arrays is touched, as the checks see.
TEST(segmented_reduce, decreasing) {
    const auto data = numbers<float>(20000);
    std::vector<std::vector<std::uint32_t>> all{{0, 100, 50, 60}, {10, 5}, {0, 4000000000u, 3, 20000}, {7, 0, 0, 0, 9}};
    all.emplace_back(40001);
    for (std::uint32_t k = 0; k < 40000; ++k) {
        all.back()[k] = (k * 2654435761u) >> (k % 3 == 0 ? 0 : 18);
    }
    all.back()[0] = 0;
    all.back()[40000] = 20000;
    for (const auto& offsets : all) {
        const std::size_t behind = offsets.back();
        float* exactly = nullptr;
        CUDA(cudaMalloc(&exactly, behind * sizeof(float)));
        CUDA(cudaMemcpy(exactly, data.data(), behind * sizeof(float), cudaMemcpyHostToDevice));
        const on_device<std::uint32_t> offsets_there(offsets);
        const on_device<float> got(offsets.size() - 1);
        segmented_reduce(gpu{}, static_cast<const float*>(exactly), offsets_there.data(), offsets.size() - 1, got.base);
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaFree(exactly));
    }
}

// Whether a segment's number of ones is not its length.
struct is_wrong {
    __host__ __device__ bool operator()(std::uint64_t ones, std::uint64_t s) const {
        return ones != offsets[s + 1] - offsets[s];
    }

    const std::uint64_t* offsets;
};

// Where asked for: needs a GPU with 8 GiB.
TEST(segmented_reduce, large) {
    if (std::getenv("WARPFOLD_TEST_LARGE") == nullptr) {
        GTEST_SKIP() << "WARPFOLD_TEST_LARGE is not set";
    }
    const std::uint64_t n = (std::uint64_t{1} << 32) + 5;
    std::uint8_t* ones = nullptr;
    CUDA(cudaMalloc(&ones, n));
    CUDA(cudaMemset(ones, 1, n));
    for (const std::uint64_t length : {std::uint64_t{30}, std::uint64_t{1000}, std::uint64_t{1000003}, n - 5}) {
        std::vector<std::uint64_t> offsets;
        for (std::uint64_t at = 2; at < n; at += length + (offsets.size() % 3 == 0 ? 1 : 0)) {
            offsets.push_back(at);
        }
        const on_device<std::uint64_t> there(offsets);
        const on_device<std::uint64_t> got(offsets.size());
        segmented_reduce(gpu{}, ones, there.data(), offsets.size() - 1, got.base);
        EXPECT_EQ(count_if(gpu{}, got.data(), offsets.size() - 1, is_wrong{there.data()}), 0);
    }
    CUDA(cudaFree(ones));
}

TEST(segmented_reduce, floats) { check<float, std::uint32_t>(30000, numbers<float>(30000), sum{}, 0.0f); }
TEST(segmented_reduce, doubles) { check<double, std::int64_t>(12000, numbers<double>(12000), sum{}, 0.5); }
TEST(segmented_reduce, bytes) {
    check<std::uint8_t, std::int32_t>(12000, numbers<std::uint8_t>(12000), sum{}, std::uint64_t{7});
}

} // namespace
