// SPDX-License-Identifier: MIT
// Exact sums on a GPU of which a thread gets more terms than its window takes, which ordinary launches only see with
// 2^29 elements and more: exits with 1 where they differ from the host's.
#include "warpfold/exact_sum.cuh"

#include <cstdio>
#include <cstdlib>

#include "tests/library/cases.hpp"
#include "tests/library/device_array.hpp"
#include "tests/library/exact_reference.hpp"
#include "tests/library/policy_target.hpp"

using namespace warpfold;

namespace {

// One block of 128 threads has all terms.
constexpr tuning::exact_sum_kernels kernels{.max_block_threads = 128, .resident_blocks = 1};
constexpr tuning::exact_sum_policy<kernels> one_block{.one_block_max_vectors = 1u << 20,
                                                      .one_block_max_elements = 1u << 20};
using gpu = tests::gpu_with<one_block>;

template <class T>
void same(T got, T expected, const char* what) {
    if (!tests::same_bits(got, expected)) {
        std::fprintf(stderr, "%s: %a, not %a\n", what, static_cast<double>(got), static_cast<double>(expected));
        std::exit(1);
    }
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

} // namespace

int main() {
    full<float>(600001);
    full<double>(560003);
}
