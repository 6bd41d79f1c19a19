// SPDX-License-Identifier: MIT
// Exact sums on a GPU of which a thread gets more terms than its window takes, which ordinary launches only see with
// 2^29 elements and more.
#include "warpfold/exact_sum.cuh"

#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/exact_sum/exact_reference.hpp"
#include "tests/library/gpu_test.hpp"
#include "tests/library/policy/policy_target.hpp"

using namespace warpfold;

namespace {

// One block of 128 threads has all terms.
constexpr tuning::exact_sum_kernels kernels{.max_block_threads = 128, .resident_blocks = 1};
constexpr tuning::exact_sum_policy<kernels> one_block{.one_block_max_vectors = 1u << 20,
                                                      .one_block_max_elements = 1u << 20};
using gpu = tests::gpu_with<one_block>;

template <class T>
void same(T got, T expected, const char* what) {
    EXPECT_TRUE(tests::same_bits(got, expected))
        << what << ": " << std::hexfloat << static_cast<double>(got) << ", not " << static_cast<double>(expected);
}

template <class T>
void full(std::uint64_t n) {
    const auto a = tests::spread<T>(n, -12, 1, 5), b = tests::spread<T>(n, -9, 0, 6);
    const tests::on_device<T> a_there(a), b_there(b), b_askew(b, 1);
    same(exact_sum(gpu{}, a_there.data(), n), exact_sum(host{1}, a), "sum");
    const T dot = exact_dot(host{1}, a, b);
    same(exact_dot(gpu{}, a_there.data(), b_there.data(), n), dot, "dot");
    same(exact_dot(gpu{}, a_there.data(), b_askew.data(), n), dot, "dot of arrays askew");
}

// Numbers that fit no window come when windows have been full.
template <class T>
void full_then_large(std::uint64_t n) {
    auto a = tests::spread<T>(n, -12, 1, 5);
    a[n - 40000] = std::ldexp(T{3}, 90);
    a[n - 7] = -std::ldexp(T{5}, 88);
    const tests::on_device<T> there(a);
    same(exact_sum(gpu{}, there.data(), n), exact_sum(host{1}, a), "sum");
    a[n - 1] = std::numeric_limits<T>::infinity();
    const tests::on_device<T> infinite(a);
    same(exact_sum(gpu{}, infinite.data(), n), a[n - 1], "an infinite sum");
}

TEST(exact_sum, full_windows_of_float) { full<float>(600001); }
TEST(exact_sum, full_windows_of_double) { full<double>(560003); }
TEST(exact_sum, large_numbers_behind_full_windows_of_float) { full_then_large<float>(1100001); }
TEST(exact_sum, large_numbers_behind_full_windows_of_double) { full_then_large<double>(560003); }

} // namespace
