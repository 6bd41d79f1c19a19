// SPDX-License-Identifier: MIT
// Float arithmetic in every rounding, with .ftz and .sat, bit for bit. Any operation on single precision that gives
// a NaN gives 0x7FFFFFFF (CUDA C++ Programming Guide, "Floating-Point Standard"); of a double NaN only that it is
// one.
#include <gtest/gtest.h>

#include <cfenv>

#include "tests/machine/half_values.hpp"

namespace softgpu::test {
namespace {

constexpr std::uint64_t canonical = 0x7FFFFFFF;

struct rounding {
    std::string name;
    int mode;
};
const std::vector<rounding> roundings{
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

// Computed with the host's rounding mode; this file is compiled so that the compiler leaves such code in place.
template <class T>
T computed(const std::string& op, int mode, T a, T b, T c) {
    volatile T x = a;
    volatile T y = b;
    volatile T z = c;
    volatile T r = 0;
    std::fesetround(mode);
    if (op == "add") {
        r = x + y;
    } else if (op == "sub") {
        r = x - y;
    } else if (op == "mul") {
        r = x * y;
    } else if (op == "div") {
        r = x / y;
    } else if (op == "fma" || op == "mad") {
        r = std::fma(T(x), T(y), T(z));
    } else if (op == "sqrt") {
        r = std::sqrt(T(x));
    } else if (op == "rcp") {
        r = T(1) / x;
    } else {
        ADD_FAILURE() << "no reference for " << op;
    }
    std::fesetround(FE_TONEAREST);
    return r;
}

// The result in more precision than any rounding of it can tell apart where it is near the least normal number.
quad precise(const std::string& op, quad a, quad b, quad c) {
    return op == "add"   ? a + b
           : op == "sub" ? a - b
           : op == "mul" ? a * b
           : op == "div" ? a / b
           : op == "rcp" ? 1 / a
                         : a * b + c;
}

// .ftz takes a result away that is less than 2^-126 when rounded to 24 bits as if exponents had no end.
bool is_tiny(quad exact, int mode) {
    const quad least = 0x1p-126;
    const quad magnitude = exact < 0 ? -exact : exact;
    if (magnitude >= least || magnitude <= least - 0x1p-150) {
        return magnitude < least;
    }
    return mode == FE_TONEAREST  ? magnitude < least - 0x1p-151
           : mode == FE_UPWARD   ? exact < 0
           : mode == FE_DOWNWARD ? exact > 0
                                 : true;
}

float flushed(float x) { return std::abs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }
// NaN and everything up to 0 give +0.
template <class T>
T saturated(T x) {
    return x > 0 ? std::min(x, T(1)) : T(0);
}

bool same_double(std::uint64_t expected, std::uint64_t actual) {
    return std::isnan(as_double(expected)) ? std::isnan(as_double(actual)) : expected == actual;
}
bool same_single(std::uint64_t expected, std::uint64_t actual) {
    return std::isnan(as_float(expected)) ? std::isnan(as_float(actual)) : expected == actual;
}

std::vector<row> operands_of(unsigned count, const std::vector<std::uint64_t>& edges) {
    return count == 1   ? cross({edges})
           : count == 2 ? cross({edges, edges})
                        : cross({thinned(edges, 3), thinned(edges, 3), thinned(edges, 2)});
}

std::string arguments(unsigned operands) { return operands == 1 ? "%a" : operands == 2 ? "%a, %b" : "%a, %b, %c"; }

std::uint64_t expected_single(const std::string& op, const rounding& how, bool flush, bool saturate, const row& r) {
    float v[3] = {};
    for (std::size_t k = 0; k < r.size(); ++k) {
        v[k] = flush ? flushed(as_float(r[k])) : as_float(r[k]);
    }
    float d = computed(op, how.mode, v[0], v[1], v[2]);
    if (flush && std::abs(d) == 0x1p-126F && is_tiny(precise(op, quad{v[0]}, quad{v[1]}, quad{v[2]}), how.mode)) {
        d = std::copysign(0.0F, d);
    }
    d = flush ? flushed(d) : d;
    if (saturate) {
        d = saturated(d);
    }
    return std::isnan(d) ? canonical : bits_of(d);
}

void check_single(const std::string& op, unsigned operands, const rounding& how, bool flush, bool saturate) {
    check({op + "." + how.name + (flush ? ".ftz" : "") + (saturate ? ".sat" : "") + ".f32 %d, " + arguments(operands) +
               ";",
           std::vector<std::string>(operands, "f32"),
           {"f32"}},
          operands_of(operands, float_edges()),
          [&](const row& r) { return row{expected_single(op, how, flush, saturate, r)}; });
}

// Two floats in each operand: the upper one of the row, the lower one of the row that stands as far from the end.
void check_pairs(const std::string& op, unsigned operands, const rounding& how, bool flush) {
    const std::vector<row> rows = operands_of(operands, float_edges());
    std::vector<row> pairs;
    for (std::size_t n = 0; n < rows.size(); ++n) {
        row r;
        for (std::size_t k = 0; k < operands; ++k) {
            r.push_back(rows[n][k] << 32 | rows[rows.size() - 1 - n][k]);
        }
        pairs.push_back(r);
    }
    const std::vector<std::string> types(operands, "b64");
    check({op + "." + how.name + (flush ? ".ftz" : "") + ".f32x2 %d, " + arguments(operands) + ";", types, {"b64"}},
          pairs, [&](const row& r) {
              row upper;
              row lower;
              for (const std::uint64_t v : r) {
                  upper.push_back(v >> 32);
                  lower.push_back(v & 0xFFFFFFFF);
              }
              return row{expected_single(op, how, flush, false, upper) << 32 |
                         expected_single(op, how, flush, false, lower)};
          });
}

// Halves and, as the last operand, floats.
void check_mixed(const std::string& op, unsigned operands, const rounding& how, bool saturate) {
    for (const small_format& f : {f16, bf16}) {
        const std::vector<std::uint64_t> some = thinned(half_edges(f), 2);
        const std::vector<row> rows = operands == 2 ? cross({half_edges(f), float_edges()})
                                                    : cross({some, thinned(half_edges(f), 3), float_edges()});
        std::vector<std::string> types(operands, "b16");
        types.back() = "f32";
        check({op + "." + how.name + (saturate ? ".sat" : "") + ".f32." + f.name + " %d, " + arguments(operands) + ";",
               types,
               {"f32"}},
              rows, [&](const row& r) {
                  row wide = r;
                  for (std::size_t k = 0; k + 1 < operands; ++k) {
                      wide[k] = bits_of(static_cast<float>(f.value(r[k])));
                  }
                  return row{expected_single(op, how, false, saturate, wide)};
              });
    }
}

void check_double(const std::string& op, unsigned operands, const rounding& how) {
    check(
        {op + "." + how.name + ".f64 %d, " + arguments(operands) + ";",
         std::vector<std::string>(operands, "f64"),
         {"f64"}},
        operands_of(operands, double_edges()),
        [&](const row& r) {
            double v[3] = {};
            for (unsigned k = 0; k < operands; ++k) {
                v[k] = as_double(r[k]);
            }
            return row{bits_of(computed(op, how.mode, v[0], v[1], v[2]))};
        },
        same_double);
}

class FloatRounding : public testing::TestWithParam<std::size_t> {};

TEST_P(FloatRounding, Single) {
    const rounding& how = roundings[GetParam()];
    for (const bool flush : {false, true}) {
        for (const std::string op : {"add", "sub", "mul"}) {
            check_single(op, 2, how, flush, false);
            check_single(op, 2, how, flush, true);
        }
        check_single("fma", 3, how, flush, false);
        check_single("fma", 3, how, flush, true);
        check_single("mad", 3, how, flush, false);
        check_single("div", 2, how, flush, false);
        check_single("sqrt", 1, how, flush, false);
        check_single("rcp", 1, how, flush, false);
    }
}

TEST_P(FloatRounding, Pairs) {
    const rounding& how = roundings[GetParam()];
    for (const bool flush : {false, true}) {
        for (const std::string op : {"add", "sub", "mul"}) {
            check_pairs(op, 2, how, flush);
        }
        check_pairs("fma", 3, how, flush);
    }
}

TEST_P(FloatRounding, Mixed) {
    const rounding& how = roundings[GetParam()];
    for (const bool saturate : {false, true}) {
        check_mixed("add", 2, how, saturate);
        check_mixed("sub", 2, how, saturate);
        check_mixed("fma", 3, how, saturate);
    }
}

TEST_P(FloatRounding, Double) {
    const rounding& how = roundings[GetParam()];
    for (const std::string op : {"add", "sub", "mul", "div"}) {
        check_double(op, 2, how);
    }
    check_double("fma", 3, how);
    check_double("mad", 3, how);
    check_double("sqrt", 1, how);
    check_double("rcp", 1, how);
}

INSTANTIATE_TEST_SUITE_P(Every, FloatRounding, testing::Range<std::size_t>(0, 4),
                         [](const auto& which) { return roundings[which.param].name; });

// Without a rounding it is .rn.
TEST(Float, DefaultRounding) {
    for (const std::string op : {"add", "sub", "mul"}) {
        check({op + ".f32 %d, %a, %b;", {"f32", "f32"}, {"f32"}}, operands_of(2, float_edges()), [&](const row& r) {
            const float d = computed(op, FE_TONEAREST, as_float(r[0]), as_float(r[1]), 0.0F);
            return row{std::isnan(d) ? canonical : bits_of(d)};
        });
        check(
            {op + ".f64 %d, %a, %b;", {"f64", "f64"}, {"f64"}}, operands_of(2, double_edges()),
            [&](const row& r) {
                return row{bits_of(computed(op, FE_TONEAREST, as_double(r[0]), as_double(r[1]), 0.0))};
            },
            same_double);
    }
    check({"add.f32 %d, %a, 0f3F800000;", {"f32"}, {"f32"}}, cross({float_edges()}), [](const row& r) {
        const float d = as_float(r[0]) + 1.0F;
        return row{std::isnan(d) ? canonical : bits_of(d)};
    });
    check(
        {"fma.rn.f64 %d, %a, 0d4000000000000000, 0dBFF0000000000000;", {"f64"}, {"f64"}}, cross({double_edges()}),
        [](const row& r) { return row{bits_of(std::fma(as_double(r[0]), 2.0, -1.0))}; }, same_double);
}

TEST(Float, AbsNeg) {
    const std::vector<row> singles = cross({float_edges()});
    for (const bool flush : {false, true}) {
        const std::string ftz = flush ? ".ftz" : "";
        const auto in = [&](const row& r) { return flush ? flushed(as_float(r[0])) : as_float(r[0]); };
        check(
            {"abs" + ftz + ".f32 %d, %a;", {"f32"}, {"f32"}}, singles,
            [&](const row& r) { return row{bits_of(std::abs(in(r)))}; }, same_single);
        check(
            {"neg" + ftz + ".f32 %d, %a;", {"f32"}, {"f32"}}, singles,
            [&](const row& r) { return row{bits_of(-in(r))}; }, same_single);
    }
    check(
        {"abs.f64 %d, %a;", {"f64"}, {"f64"}}, cross({double_edges()}),
        [](const row& r) { return row{bits_of(std::abs(as_double(r[0])))}; }, same_double);
    check(
        {"neg.f64 %d, %a;", {"f64"}, {"f64"}}, cross({double_edges()}),
        [](const row& r) { return row{bits_of(-as_double(r[0]))}; }, same_double);
}

// A number wins against a NaN, unless .NaN; -0 is less than +0.
template <class T>
T chosen(bool least, bool keep_nan, T a, T b) {
    if (std::isnan(a) || std::isnan(b)) {
        return keep_nan || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<T>::quiet_NaN()
               : std::isnan(a)                              ? b
                                                            : a;
    }
    const bool a_less = a < b || (a == b && std::signbit(a));
    return a_less == least ? a : b;
}

TEST(Float, MinMax) {
    for (const bool least : {true, false}) {
        const std::string op = least ? "min" : "max";
        for (const bool nan : {false, true}) {
            for (const bool flush : {false, true}) {
                check({op + (flush ? ".ftz" : "") + (nan ? ".NaN" : "") + ".f32 %d, %a, %b;", {"f32", "f32"}, {"f32"}},
                      operands_of(2, float_edges()), [&](const row& r) {
                          const float a = flush ? flushed(as_float(r[0])) : as_float(r[0]);
                          const float b = flush ? flushed(as_float(r[1])) : as_float(r[1]);
                          const float d = chosen(least, nan, a, b);
                          return row{std::isnan(d) ? canonical : bits_of(d)};
                      });
            }
            // The smaller or larger magnitude with the exclusive or of the signs.
            check(
                {op + (nan ? ".NaN" : "") + ".xorsign.abs.f32 %d, %a, %b;", {"f32", "f32"}, {"f32"}},
                operands_of(2, float_edges()),
                [&](const row& r) {
                    const float d = chosen(least, nan, std::abs(as_float(r[0])), std::abs(as_float(r[1])));
                    const bool negative = std::signbit(as_float(r[0])) != std::signbit(as_float(r[1]));
                    return row{std::isnan(d) ? canonical : bits_of(negative ? -d : d)};
                },
                same_single);
        }
        check(
            {op + ".f64 %d, %a, %b;", {"f64", "f64"}, {"f64"}}, operands_of(2, double_edges()),
            [&](const row& r) { return row{bits_of(chosen(least, false, as_double(r[0]), as_double(r[1])))}; },
            same_double);
    }
}

} // namespace
} // namespace softgpu::test
