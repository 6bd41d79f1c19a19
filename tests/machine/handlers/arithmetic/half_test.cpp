// SPDX-License-Identifier: MIT
// Arithmetic and comparison of f16, bf16 and their pairs, bit for bit.
#include <gtest/gtest.h>

#include <functional>

#include "tests/machine/half_values.hpp"

namespace softgpu::test {
namespace {

const std::vector<small_format> halves{f16, bf16};

unsigned flushed(const small_format& f, std::uint64_t p) {
    return static_cast<unsigned>((p & (f.sign() - 1)) < (1u << f.fraction) ? p & f.sign() : p);
}
unsigned saturated(const small_format& f, unsigned p) {
    return f.is_nan(p) || (p & f.sign()) != 0 || f.value(p) == 0 ? 0 : f.value(p) > 1 ? f.rounded(1) : p;
}
unsigned clipped(const small_format& f, unsigned p) { return !f.is_nan(p) && (p & f.sign()) != 0 ? 0 : p; }

// op of exact values, rounded once.
unsigned computed(const small_format& f, const std::string& op, const row& r) {
    const double a = f.value(r[0]);
    const double b = f.value(r[1]);
    const double c = r.size() > 2 ? f.value(r[2]) : 0;
    if (op == "mul") {
        const quad p = static_cast<quad>(a) * b;
        return f.rounded(p, direction::nearest, 0, std::signbit(a) != std::signbit(b));
    }
    if (op == "fma") {
        const quad p = static_cast<quad>(a) * b;
        const quad s = p + c;
        const quad t = s - p;
        const quad lost = (p - (s - t)) + (c - t);
        const bool negative_zero = std::signbit(a) != std::signbit(b) && std::signbit(c);
        return f.rounded(s, direction::nearest, lost == lost ? lost : 0, negative_zero);
    }
    const double y = op == "sub" ? -b : b;
    const quad s = static_cast<quad>(a) + y;
    const quad t = s - a;
    const quad lost = (a - (s - t)) + (y - t);
    return f.rounded(s, direction::nearest, lost == lost ? lost : 0, std::signbit(a) && std::signbit(y));
}

// The same over pairs: the upper half takes the operands of the row, the lower half those in reverse.
std::vector<row> paired(const std::vector<row>& rows) {
    std::vector<row> pairs;
    for (std::size_t n = 0; n < rows.size(); ++n) {
        row r;
        for (std::size_t k = 0; k < rows[n].size(); ++k) {
            r.push_back(rows[n][k] << 16 | rows[rows.size() - 1 - n][k]);
        }
        pairs.push_back(r);
    }
    return pairs;
}
row half_of(const row& r, unsigned which) {
    row h;
    for (const std::uint64_t v : r) {
        h.push_back(v >> (16 * which) & 0xFFFF);
    }
    return h;
}

using half_reference = std::function<unsigned(const row&)>;

void check_both(const small_format& f, const std::string& op, const std::string& modes, unsigned operands,
                const std::vector<row>& rows, const half_reference& expected) {
    const std::string args = operands == 1 ? "%a" : operands == 2 ? "%a, %b" : "%a, %b, %c";
    check({op + modes + "." + f.name + " %d, " + args + ";", std::vector<std::string>(operands, "b16"), {"b16"}}, rows,
          [&](const row& r) { return row{expected(r)}; });
    check({op + modes + "." + f.name + "x2 %d, " + args + ";", std::vector<std::string>(operands, "b32"), {"b32"}},
          paired(rows),
          [&](const row& r) { return row{std::uint64_t{expected(half_of(r, 1))} << 16 | expected(half_of(r, 0))}; });
}

TEST(Half, AddSubMul) {
    for (const small_format& f : halves) {
        const std::vector<row> rows = cross({half_edges(f), half_edges(f)});
        for (const std::string op : {"add", "sub", "mul"}) {
            check_both(f, op, "", 2, rows, [&](const row& r) { return computed(f, op, r); });
            if (f.name != "f16") {
                continue;
            }
            check_both(f, op, ".rn.sat", 2, rows, [&](const row& r) { return saturated(f, computed(f, op, r)); });
            check_both(f, op, ".ftz", 2, rows, [&](const row& r) {
                return flushed(f, computed(f, op, {flushed(f, r[0]), flushed(f, r[1])}));
            });
        }
    }
}

TEST(Half, FusedMultiplyAdd) {
    for (const small_format& f : halves) {
        const std::vector<std::uint64_t> some = thinned(half_edges(f), 2);
        std::vector<row> rows = cross({half_edges(f), some, half_edges(f)});
        // A product that is a tie, and an addend far below it that decides.
        const std::uint64_t one = f.rounded(1);
        const std::uint64_t half_more = one + (1ull << (f.fraction / 2));
        for (const std::uint64_t tiny : {std::uint64_t{1}, std::uint64_t{1} | f.sign(), std::uint64_t{0}}) {
            for (std::uint64_t k = 0; k < 200; ++k) {
                rows.push_back({one + 2 * k + 1, half_more + k % 7, tiny});
                rows.push_back({(one + 2 * k + 1) | f.sign(), half_more, tiny});
            }
        }
        check_both(f, "fma", ".rn", 3, rows, [&](const row& r) { return computed(f, "fma", r); });
        check_both(f, "fma", ".rn.relu", 3, rows, [&](const row& r) { return clipped(f, computed(f, "fma", r)); });
        if (f.name == "f16") {
            check_both(f, "fma", ".rn.sat", 3, rows, [&](const row& r) { return saturated(f, computed(f, "fma", r)); });
            check_both(f, "fma", ".rn.ftz", 3, rows, [&](const row& r) {
                return flushed(f, computed(f, "fma", {flushed(f, r[0]), flushed(f, r[1]), flushed(f, r[2])}));
            });
        }
    }
}

// A product with the NaN that tensor copies fill with is 0, and so is its sum; that NaN as the addend is any NaN.
TEST(Half, FusedMultiplyAddOutOfBounds) {
    for (const small_format& f : halves) {
        std::vector<std::uint64_t> some = thinned(half_edges(f), 3);
        some.insert(some.end(), {0x7FF7, 0xFFF7, 0x7FF6, 0x7FFF});
        const auto zero = [](const row& r) { return (r[0] & 0x7FFF) == 0x7FF7 || (r[1] & 0x7FFF) == 0x7FF7; };
        check_both(f, "fma", ".rn.oob", 3, cross({some, some, some}),
                   [&](const row& r) { return zero(r) ? 0 : computed(f, "fma", r); });
        check_both(f, "fma", ".rn.oob.relu", 3, cross({some, some, some}),
                   [&](const row& r) { return zero(r) ? 0 : clipped(f, computed(f, "fma", r)); });
    }
}

// PTX leaves the NaN of abs and neg open.
TEST(Half, SignsOfEveryHalf) {
    for (const small_format& f : halves) {
        const auto alike = [&](std::uint64_t expected, std::uint64_t actual) {
            return f.is_nan(expected) ? f.is_nan(actual) : expected == actual;
        };
        check(
            {"abs." + f.name + " %d, %a;", {"b16"}, {"b16"}}, all_halves(),
            [](const row& r) { return row{r[0] & 0x7FFF}; }, alike);
        check(
            {"neg." + f.name + " %d, %a;", {"b16"}, {"b16"}}, all_halves(),
            [](const row& r) { return row{r[0] ^ 0x8000}; }, alike);
    }
    check({"neg.f16x2 %d, %a; abs.bf16x2 %f, %a;", {"b32"}, {"b32", "b32"}}, {{0x3C00C000}, {0x80010001}, {0xC1004200}},
          [](const row& r) {
              return row{r[0] ^ 0x80008000, r[0] & 0x7FFF7FFF};
          });
    check({"neg.ftz.f16 %d, %a; abs.ftz.f16 %f, %a;", {"b16"}, {"b16", "b16"}}, {{1}, {0x8001}, {0x400}, {0x83FF}},
          [](const row& r) {
              return row{flushed(f16, r[0]) ^ 0x8000, flushed(f16, r[0]) & 0x7FFF};
          });
}

unsigned extreme(const small_format& f, bool max, bool keeps_nan, std::uint64_t a, std::uint64_t b) {
    const double x = f.value(a);
    const double y = f.value(b);
    if (f.is_nan(a) || f.is_nan(b)) {
        return keeps_nan || (f.is_nan(a) && f.is_nan(b)) ? f.nan : static_cast<unsigned>(f.is_nan(a) ? b : a);
    }
    const bool a_less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
    return static_cast<unsigned>(a_less != max ? a : b);
}

TEST(Half, MinMax) {
    for (const small_format& f : halves) {
        const std::vector<row> rows = cross({half_edges(f), half_edges(f)});
        for (const bool max : {false, true}) {
            const std::string op = max ? "max" : "min";
            for (const bool nan : {false, true}) {
                check_both(f, op, nan ? ".NaN" : "", 2, rows,
                           [&](const row& r) { return extreme(f, max, nan, r[0], r[1]); });
                check_both(f, op, std::string(nan ? ".NaN" : "") + ".xorsign.abs", 2, rows, [&](const row& r) {
                    const unsigned m = extreme(f, max, nan, r[0] & 0x7FFF, r[1] & 0x7FFF);
                    return f.is_nan(m) ? m : m | static_cast<unsigned>((r[0] ^ r[1]) & 0x8000);
                });
            }
        }
    }
    check_both(f16, "max", ".ftz", 2, cross({half_edges(f16), half_edges(f16)}),
               [&](const row& r) { return extreme(f16, true, false, flushed(f16, r[0]), flushed(f16, r[1])); });
}

TEST(Half, Comparisons) {
    for (const small_format& f : halves) {
        const std::vector<row> rows = cross({thinned(half_edges(f), 2), half_edges(f)});
        for (const std::string& how : float_relations) {
            const auto yes = [&](const row& r) { return float_holds(how, f.value(r[0]), f.value(r[1])); };
            check({"setp." + how + "." + f.name + " %d|%f, %a, %b;", {"b16", "b16"}, {"pred", "pred"}}, rows,
                  [&](const row& r) {
                      return row{yes(r) ? 1u : 0u, yes(r) ? 0u : 1u};
                  });
            check({"setp." + how + "." + f.name + "x2 %d|%f, %a, %b;", {"b32", "b32"}, {"pred", "pred"}}, paired(rows),
                  [&](const row& r) {
                      return row{yes(half_of(r, 0)) ? 1u : 0u, yes(half_of(r, 1)) ? 1u : 0u};
                  });
            check({"set." + how + "." + f.name + "." + f.name + " %d, %a, %b;", {"b16", "b16"}, {"b16"}}, rows,
                  [&](const row& r) { return row{yes(r) ? f.rounded(1) : 0u}; });
            check({"set." + how + ".u32." + f.name + "x2 %d, %a, %b;", {"b32", "b32"}, {"b32"}}, paired(rows),
                  [&](const row& r) {
                      return row{(yes(half_of(r, 0)) ? 0xFFFFu : 0u) | (yes(half_of(r, 1)) ? 0xFFFF0000u : 0u)};
                  });
            check({"set." + how + "." + f.name + "x2." + f.name + "x2 %d, %a, %b;", {"b32", "b32"}, {"b32"}},
                  paired(rows), [&](const row& r) {
                      return row{(yes(half_of(r, 0)) ? f.rounded(1) : 0u) |
                                 (yes(half_of(r, 1)) ? f.rounded(1) << 16 : 0u)};
                  });
        }
        check({"set.lt.u32." + f.name + " %d, %a, %b; set.ge.u16." + f.name + " %f, %a, %b;",
               {"b16", "b16"},
               {"b32", "b16"}},
              rows, [&](const row& r) {
                  return row{float_holds("lt", f.value(r[0]), f.value(r[1])) ? 0xFFFFFFFFu : 0u,
                             float_holds("ge", f.value(r[0]), f.value(r[1])) ? 0xFFFFu : 0u};
              });
        check({"setp.gt.and." + f.name + " %d|%f, %a, %b, !%c;", {"b16", "b16", "pred"}, {"pred", "pred"}},
              cross({thinned(half_edges(f), 3), thinned(half_edges(f), 3), {0, 1}}), [&](const row& r) {
                  const bool yes = float_holds("gt", f.value(r[0]), f.value(r[1]));
                  return row{yes && r[2] == 0 ? 1u : 0u, !yes && r[2] == 0 ? 1u : 0u};
              });
    }
    check({"setp.eq.ftz.f16 %d, %a, %b;", {"b16", "b16"}, {"pred"}}, {{1, 0}, {0x8001, 3}, {0x400, 0}},
          [](const row& r) { return row{r[0] == 0x400 ? 0u : 1u}; });
    check({"set.gt.f16.f32 %d, %a, %b;", {"f32", "f32"}, {"b16"}}, {{0x3F800000, 0}, {0, 0x3F800000}},
          [](const row& r) { return row{r[0] != 0 ? 0x3C00u : 0u}; });
}

// Within the error that PTX states.
TEST(Half, Approximations) {
    struct approximation {
        std::string text;
        const small_format& format;
        double (*exact)(double);
        double relative, absolute;
    };
    const auto exp_two = [](double x) { return std::exp2(x); };
    const auto tanh = [](double x) { return std::tanh(x); };
    for (const approximation& a : {approximation{"ex2.approx.f16", f16, exp_two, 0x1p-9, 0x1p-24},
                                   approximation{"ex2.approx.ftz.bf16", bf16, exp_two, 0x1p-7, 0x1p-126},
                                   approximation{"tanh.approx.f16", f16, tanh, 0x1p-9, 0x1p-14},
                                   approximation{"tanh.approx.bf16", bf16, tanh, 0x1p-7, 0x1p-126}}) {
        check(
            {a.text + " %d, %a;", {"b16"}, {"b16"}}, all_halves(),
            [&](const row& r) { return row{a.format.rounded(a.exact(a.format.value(r[0])))}; },
            [&](std::uint64_t expected, std::uint64_t actual) {
                const double x = a.format.value(expected);
                const double y = a.format.value(actual);
                if (std::isnan(x) || std::isinf(x)) {
                    return std::isnan(x) ? std::isnan(y) : x == y;
                }
                return std::abs(x - y) <= a.absolute + a.relative * std::abs(x);
            });
    }
    check({"ex2.approx.f16x2 %d, %a; tanh.approx.bf16x2 %f, %c;", {"b32", "b32", "b32"}, {"b32", "b32"}},
          {{0x40003C00, 0, 0x00008000}}, [](const row&) {
              return row{0x44004000, 0x00008000};
          });
}

} // namespace
} // namespace softgpu::test
