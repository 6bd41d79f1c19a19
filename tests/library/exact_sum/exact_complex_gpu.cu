// SPDX-License-Identifier: MIT
#include "warpfold/exact_moments.cuh"
#include "warpfold/exact_sum.cuh"
#include "warpfold/exact_sum_along.cuh"
#include "warpfold/segmented_exact_sum.cuh"

#include <complex>

#include <cuComplex.h>

#include "tests/library/device_array.hpp"
#include "tests/library/exact_sum/exact_complex.hpp"

using namespace warpfold;

namespace {

template <class C>
using there = tests::on_device<C>;

TEST(exact_complex, of_float) { tests::complex_calls<std::complex<float>, there>(gpu{}); }
TEST(exact_complex, of_double) { tests::complex_calls<std::complex<double>, there>(gpu{}); }
TEST(exact_complex, of_cuComplex) { tests::complex_calls<cuComplex, there>(gpu{}); }

TEST(exact_complex, dots_with_real) {
    tests::all_dots_with_real<std::complex<float>, std::complex<double>, there>(gpu{});
    tests::dots_with_real<cuComplex, double, there>(gpu{});
}

// Within the workspace of real numbers; the same bits as on the host.
TEST(exact_complex, workspace_and_host) {
    const std::uint64_t n = 100003;
    const auto a = tests::complex_numbers<std::complex<double>>(n, 5);
    const tests::on_device<std::complex<double>> in(a), out(2);
    workspace memory(exact_sum_workspace());
    const gpu on{nullptr, &memory};
    EXPECT_EQ(exact_sum(on, in.data(), n), exact_sum(host{}, a));
    EXPECT_EQ(exact_dot(on, in.data(), in.data(), n), exact_dot(host{}, a, a));
    exact_vdot(on, in.data(), in.data(), n, out.data());
    EXPECT_EQ(out.read()[0], exact_vdot(host{}, a, a));
    tests::expect_zero(memory);
}

} // namespace
