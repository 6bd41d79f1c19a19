// SPDX-License-Identifier: MIT
#include "tests/library/exact_sum/exact_complex.hpp"

#include <complex>
#include <vector>

#include "tests/library/in_memory.hpp"

using namespace warpfold;

namespace {

using tests::in_memory;

// As cuComplex is.
struct alignas(8) pair {
    float x, y;
};

TEST(exact_complex, of_float) { tests::complex_calls<std::complex<float>, in_memory>(host{}); }
TEST(exact_complex, of_double) { tests::complex_calls<std::complex<double>, in_memory>(host{3}); }
TEST(exact_complex, of_pairs) { tests::complex_calls<pair, in_memory>(host{1}); }

TEST(exact_complex, dots_with_real) {
    tests::all_dots_with_real<std::complex<float>, std::complex<double>, in_memory>(host{2});
    const std::vector<double> real{1, 2};
    const std::vector<std::complex<float>> complex{{1, 2}, {3, 4}};
    static_assert(std::is_same_v<decltype(exact_dot(host{}, real, complex)), std::complex<double>>);
    EXPECT_EQ(exact_dot(host{}, real, complex), (std::complex<double>(7, 10)));
    EXPECT_EQ(exact_dot(host{}, complex, real), (std::complex<double>(7, 10)));
    EXPECT_THROW((void)exact_dot(host{}, complex.data(), static_cast<const float*>(nullptr), 2), invalid_argument);
}
TEST(exact_complex, ranges_objects_and_mixed_types) {
    using complex = std::complex<float>;
    const auto a = tests::complex_numbers<complex>(1001, 4);
    const std::vector<std::complex<double>> wide(a.begin(), a.end());
    const auto sum = exact_sum(host{}, a);
    EXPECT_EQ(exact_sum(host{}, a.begin(), 1001u), sum);
    struct computed {
        complex operator[](std::uint64_t k) const { return of[k]; }
        const complex* of;
    };
    EXPECT_EQ(exact_sum(host{}, computed{a.data()}, 1001), sum);
    const auto square = exact_vdot(host{}, a, a);
    EXPECT_EQ(exact_vdot(host{}, computed{a.data()}, a.data(), 1001), square);
    EXPECT_EQ(square.imag(), 0.0f);
    static_assert(std::is_same_v<decltype(exact_dot(host{}, a, wide)), std::complex<double>>);
    EXPECT_EQ(exact_dot(host{}, a, wide), exact_dot(host{}, wide, wide));
    EXPECT_EQ(exact_dot(host{}, wide, a), exact_dot(host{}, wide, wide));
    const complex some[3]{{1, 2}, {3, 4}, {5, 6}};
    EXPECT_EQ(exact_sum(host{}, some, 2), complex(4, 6));
    EXPECT_EQ(exact_dot(host{}, some, some, 1), complex(-3, 4));
    EXPECT_EQ(exact_vdot(host{}, some, some, 1), complex(5, 0));
    EXPECT_THROW((void)exact_vdot(host{}, a, some), invalid_argument);
}

} // namespace
