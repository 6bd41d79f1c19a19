// SPDX-License-Identifier: MIT
// The approximations, within the errors that the PTX ISA documents, and their special values.
#include <gtest/gtest.h>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

std::vector<std::uint64_t> singles(double from, double to, unsigned count) {
    std::mt19937 engine(count);
    std::uniform_real_distribution<double> any(from, to);
    std::vector<std::uint64_t> v;
    for (unsigned k = 0; k < count; ++k) {
        v.push_back(bits_of(static_cast<float>(any(engine))));
    }
    return v;
}
// Every exponent, random fractions, positive.
std::vector<std::uint64_t> every_exponent() {
    random32 engine(9);
    std::vector<std::uint64_t> v;
    for (std::uint32_t e = 1; e < 255; ++e) {
        v.push_back(e << 23 | (engine() & 0x7FFFFFu));
    }
    return v;
}

double ulps(double expected, float actual) {
    int exponent = 0;
    std::frexp(expected, &exponent);
    const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
    return std::abs(static_cast<double>(actual) - expected) / ulp;
}

// Checks f(x) with an error measure that has to stay under a bound.
void check_error(const std::string& text, const std::vector<std::uint64_t>& inputs, double (*exact)(double),
                 const std::function<bool(double expected, float actual)>& close) {
    const std::vector<row> results = evaluate({text + " %d, %a;", {"f32"}, {"f32"}}, cross({inputs}));
    std::size_t wrong = 0;
    for (std::size_t n = 0; n < inputs.size(); ++n) {
        const double expected = exact(static_cast<double>(as_float(inputs[n])));
        const float actual = as_float(results[n][0]);
        if (!close(expected, actual) && ++wrong <= 3) {
            ADD_FAILURE() << text << "(" << as_float(inputs[n]) << ") = " << actual << ", exactly " << expected;
        }
    }
    EXPECT_EQ(wrong, 0u) << text;
}

auto within_ulps(double n) {
    return [n](double expected, float actual) { return ulps(expected, actual) <= n; };
}
auto within_relative(double e) {
    return [e](double expected, float actual) {
        return std::abs(static_cast<double>(actual) - expected) <= e * std::abs(expected);
    };
}
auto within_absolute(double e) {
    return [e](double expected, float actual) { return std::abs(static_cast<double>(actual) - expected) <= e; };
}

TEST(Approximation, Exponential) {
    check_error(
        "ex2.approx.f32", singles(-125, 127.9, 400), [](double x) { return std::exp2(x); }, within_ulps(2));
    check_error(
        "ex2.approx.ftz.f32", singles(-125, 127.9, 400), [](double x) { return std::exp2(x); }, within_ulps(2));
}

TEST(Approximation, Logarithm) {
    check_error(
        "lg2.approx.f32", every_exponent(), [](double x) { return std::log2(x); },
        [](double expected, float actual) {
            const double error = std::abs(static_cast<double>(actual) - expected);
            return std::abs(expected) <= 1 ? error <= 0x1p-22 : error <= 0x1p-22 * std::abs(expected);
        });
    check_error(
        "lg2.approx.ftz.f32", singles(0.5, 2, 400), [](double x) { return std::log2(x); }, within_absolute(0x1p-22));
}

TEST(Approximation, SineAndCosine) {
    check_error(
        "sin.approx.f32", singles(-6.2831, 6.2831, 400), [](double x) { return std::sin(x); },
        within_absolute(std::exp2(-20.5)));
    check_error(
        "cos.approx.f32", singles(-6.2831, 6.2831, 400), [](double x) { return std::cos(x); },
        within_absolute(std::exp2(-20.5)));
    check_error(
        "sin.approx.ftz.f32", singles(-300, 300, 400), [](double x) { return std::sin(x); },
        within_absolute(std::exp2(-14.7)));
    check_error(
        "cos.approx.ftz.f32", singles(-300, 300, 400), [](double x) { return std::cos(x); },
        within_absolute(std::exp2(-14.7)));
}

TEST(Approximation, RootsAndReciprocals) {
    std::vector<std::uint64_t> normal = every_exponent();
    check_error(
        "sqrt.approx.f32", normal, [](double x) { return std::sqrt(x); }, within_relative(0x1p-23));
    check_error(
        "sqrt.approx.ftz.f32", normal, [](double x) { return std::sqrt(x); }, within_relative(0x1p-23));
    check_error(
        "rsqrt.approx.f32", normal, [](double x) { return 1 / std::sqrt(x); }, within_relative(std::exp2(-22.9)));
    check_error(
        "rsqrt.approx.ftz.f32", normal, [](double x) { return 1 / std::sqrt(x); }, within_relative(std::exp2(-22.9)));
    normal.resize(252); // the reciprocals of the rest are subnormal
    check_error(
        "rcp.approx.f32", normal, [](double x) { return 1 / x; }, within_ulps(1));
    check_error(
        "rcp.approx.ftz.f32", normal, [](double x) { return 1 / x; }, within_ulps(1));
}

TEST(Approximation, HyperbolicTangent) {
    check_error(
        "tanh.approx.f32", singles(-9, 9, 400), [](double x) { return std::tanh(x); },
        within_relative(std::exp2(-10.987)));
}

TEST(Approximation, Division) {
    const std::vector<row> rows = cross({singles(-1e6, 1e6, 40), singles(-1e-3, 1e-3, 40)});
    for (const std::string form : {"approx", "approx.ftz", "full", "full.ftz"}) {
        const std::vector<row> results = evaluate({"div." + form + ".f32 %d, %a, %b;", {"f32", "f32"}, {"f32"}}, rows);
        for (std::size_t n = 0; n < rows.size(); ++n) {
            const double expected =
                static_cast<double>(as_float(rows[n][0])) / static_cast<double>(as_float(rows[n][1]));
            EXPECT_LE(ulps(expected, as_float(results[n][0])), 2)
                << form << ": " << as_float(rows[n][0]) << " / " << as_float(rows[n][1]);
        }
    }
}

// Of double precision there are coarse ones: the upper half of the bits counts.
TEST(Approximation, OfDoubles) {
    std::vector<std::uint64_t> inputs;
    std::mt19937_64 engine(5);
    for (std::uint64_t e = 100; e < 1900; e += 20) {
        inputs.push_back(e << 52 | engine() >> 12);
    }
    for (const std::string text : {"rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64", "rsqrt.approx.f64"}) {
        const std::vector<row> results = evaluate({text + " %d, %a;", {"f64"}, {"f64"}}, cross({inputs}));
        for (std::size_t n = 0; n < inputs.size(); ++n) {
            const double x = as_double(inputs[n]);
            const double expected = text[1] == 'c' ? 1 / x : 1 / std::sqrt(x);
            EXPECT_LE(std::abs(as_double(results[n][0]) - expected), 0x1p-19 * expected) << text << "(" << x << ")";
        }
    }
    // Subnormals count as zero.
    check({"rcp.approx.ftz.f64 %d, %a;", {"f64"}, {"f64"}},
          {{0},
           {1ull << 63},
           {1},
           {0x8008000000000000},
           {0x7FF0000000000000},
           {0xFFF0000000000000},
           {0x7FE8000000000000}},
          [](const row& r) {
              const bool negative = (r[0] >> 63) != 0;
              const bool small = std::abs(as_double(r[0])) < 0x1p-1000;
              return row{(small ? 0x7FF0000000000000ull : 0ull) | (negative ? 1ull << 63 : 0ull)};
          });
}

// The special values of the ISA's tables.
TEST(Approximation, SpecialValues) {
    constexpr std::uint64_t zero = 0, minus = 0x80000000, one = 0x3F800000, infinity = 0x7F800000, nan = 0x7FFFFFFF,
                            subnormal = 0x00000400;
    const std::vector<std::tuple<std::string, std::uint64_t, std::uint64_t>> table{
        {"ex2.approx.f32", zero, one},
        {"ex2.approx.f32", minus, one},
        {"ex2.approx.f32", infinity, infinity},
        {"ex2.approx.f32", minus | infinity, zero},
        {"ex2.approx.f32", nan, nan},
        {"ex2.approx.ftz.f32", subnormal, one},
        {"ex2.approx.f32", 0x43800000, infinity},
        {"ex2.approx.f32", 0xC3800000, zero},
        {"lg2.approx.f32", zero, minus | infinity},
        {"lg2.approx.f32", minus, minus | infinity},
        {"lg2.approx.f32", infinity, infinity},
        {"lg2.approx.f32", minus | infinity, nan},
        {"lg2.approx.f32", one, zero},
        {"lg2.approx.f32", minus | one, nan},
        {"lg2.approx.ftz.f32", subnormal, minus | infinity},
        {"sin.approx.f32", zero, zero},
        {"sin.approx.f32", minus, minus},
        {"sin.approx.f32", infinity, nan},
        {"sin.approx.ftz.f32", minus | subnormal, minus},
        {"cos.approx.f32", zero, one},
        {"cos.approx.f32", minus, one},
        {"cos.approx.f32", minus | infinity, nan},
        {"cos.approx.ftz.f32", subnormal, one},
        {"rcp.approx.f32", zero, infinity},
        {"rcp.approx.f32", minus, minus | infinity},
        {"rcp.approx.f32", infinity, zero},
        {"rcp.approx.f32", minus | infinity, minus},
        {"rcp.approx.f32", nan, nan},
        {"rcp.approx.ftz.f32", subnormal, infinity},
        {"rsqrt.approx.f32", zero, infinity},
        {"rsqrt.approx.f32", minus, minus | infinity},
        {"rsqrt.approx.f32", infinity, zero},
        {"rsqrt.approx.f32", minus | one, nan},
        {"rsqrt.approx.ftz.f32", subnormal, infinity},
        {"rsqrt.approx.ftz.f32", minus | subnormal, minus | infinity},
        {"sqrt.approx.f32", zero, zero},
        {"sqrt.approx.f32", minus, minus},
        {"sqrt.approx.f32", infinity, infinity},
        {"sqrt.approx.f32", minus | one, nan},
        {"sqrt.approx.ftz.f32", subnormal, zero},
        {"tanh.approx.f32", infinity, one},
        {"tanh.approx.f32", minus | infinity, minus | one},
        {"tanh.approx.f32", zero, zero},
        {"tanh.approx.f32", minus, minus},
        {"tanh.approx.f32", nan, nan}};
    for (const auto& [text, input, expected] : table) {
        check({text + " %d, %a;", {"f32"}, {"f32"}}, {{input}, {input}}, [e = expected](const row&) { return row{e}; });
    }
}

} // namespace
} // namespace softgpu::test
