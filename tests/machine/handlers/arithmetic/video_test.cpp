// SPDX-License-Identifier: MIT
// Video instructions, and forms of integer instructions that the intrinsics do not use: lop3 with a predicate, min and
// max of three, redux of floats.
#include <gtest/gtest.h>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

int128 operated(const std::string& op, int128 a, int128 b) {
    return op == "add"       ? a + b
           : op == "sub"     ? a - b
           : op == "absdiff" ? (a > b ? a - b : b - a)
           : op == "min"     ? (a < b ? a : b)
           : op == "max"     ? (a > b ? a : b)
           : op == "avrg"    ? (a + b + (a + b >= 0 ? 1 : 0)) >> 1
                             : 0;
}
int_type with_bits(const int_type& t, unsigned bits) { return {t.name, bits, t.is_signed}; }

const std::vector<int_type> words{u32, s32};

TEST(Video, OnePart) {
    const std::vector<row> rows =
        cross({thinned(int_edges(32), 2), thinned(int_edges(32), 2), {0, 0x80000001, 0x12345678}});
    for (const std::string op : {"add", "sub", "absdiff", "min", "max"}) {
        for (const int_type& d : words) {
            for (const int_type& a : words) {
                for (const int_type& b : words) {
                    const std::string types = "." + d.name + "." + a.name + "." + b.name;
                    // A byte of a with a half of b.
                    const auto exact = [&](const row& r) {
                        return operated(op, with_bits(a, 8).number(r[0] >> 16), with_bits(b, 16).number(r[1] >> 16));
                    };
                    check({"v" + op + types + " %d, %a.b2, %b.h1;", {"b32", "b32", "b32"}, {"b32"}}, rows,
                          [&](const row& r) { return row{d.pattern(exact(r))}; });
                    check({"v" + op + types + ".sat.add %d, %a.b2, %b.h1, %c;", {"b32", "b32", "b32"}, {"b32"}}, rows,
                          [&](const row& r) {
                              return row{u32.pattern(d.clamped(exact(r)) + static_cast<int128>(r[2]))};
                          });
                    check({"v" + op + types + ".max %d, %a.b2, %b.h1, %c;", {"b32", "b32", "b32"}, {"b32"}}, rows,
                          [&](const row& r) {
                              return row{d.pattern(std::max(d.number(d.pattern(exact(r))), d.number(r[2])))};
                          });
                    check({"v" + op + types + ".sat %d.h1, %a.b2, %b.h1, %c;", {"b32", "b32", "b32"}, {"b32"}}, rows,
                          [&](const row& r) {
                              const int_type half = with_bits(d, 16);
                              return row{half.pattern(half.clamped(exact(r))) << 16 | (r[2] & 0xFFFF)};
                          });
                }
            }
        }
    }
}

TEST(Video, ShiftsComparisonsAndMultiplyAdd) {
    const std::vector<row> rows = cross({thinned(int_edges(32), 2), int_edges(32), {0, 0xFFFFFFFF, 0x12345678}});
    check(
        {"vshl.u32.u32.u32.clamp %d, %a, %b; vshr.u32.u32.u32.wrap %f, %a, %b;", {"b32", "b32", "b32"}, {"b32", "b32"}},
        rows, [](const row& r) {
            return row{r[1] >= 32 ? 0 : (r[0] << r[1]) & 0xFFFFFFFF, r[0] >> (r[1] & 31)};
        });
    check({"vset.s32.s32.lt %d, %a.b0, %b; vset.u32.u32.ge.add %f, %a, %b, %c;", {"b32", "b32", "b32"}, {"b32", "b32"}},
          rows, [](const row& r) {
              return row{s8.number(r[0]) < s32.number(r[1]) ? 1u : 0u, (r[2] + (r[0] >= r[1] ? 1 : 0)) & 0xFFFFFFFF};
          });
    for (const bool sat : {false, true}) {
        for (const unsigned shift : {0u, 7u, 15u}) {
            const std::string modes =
                std::string(sat ? ".sat" : "") + (shift != 0 ? ".shr" + std::to_string(shift) : "");
            check({"vmad.s32.s32.s32" + modes + " %d, %a.h0, %b.h1, %c;", {"b32", "b32", "b32"}, {"b32"}}, rows,
                  [&](const row& r) {
                      const int128 t = (s16.number(r[0]) * s16.number(r[1] >> 16) + s32.number(r[2])) >> shift;
                      return row{s32.pattern(sat ? s32.clamped(t) : t)};
                  });
            check({"vmad.u32.u32.u32" + modes + " %d, %a, %b, %c;", {"b32", "b32", "b32"}, {"b32"}}, rows,
                  [&](const row& r) {
                      const int128 t = (u32.number(r[0]) * u32.number(r[1]) + u32.number(r[2])) >> shift;
                      return row{u32.pattern(sat ? u32.clamped(t) : t)};
                  });
        }
    }
}

TEST(Video, AllParts) {
    const std::vector<row> rows = cross({thinned(int_edges(32), 2), int_edges(32), {0, 0x89ABCDEF}});
    for (const unsigned parts : {2u, 4u}) {
        const unsigned bits = 32 / parts;
        for (const std::string op : {"add", "sub", "absdiff", "min", "max", "avrg"}) {
            for (const int_type& d : words) {
                for (const int_type& a : words) {
                    const std::string name =
                        "v" + op + std::to_string(parts) + "." + d.name + "." + a.name + "." + a.name;
                    const auto part = [&](const row& r, unsigned k) {
                        const int_type p = with_bits(a, bits);
                        return operated(op, p.number(r[0] >> (bits * k)), p.number(r[1] >> (bits * k)));
                    };
                    const auto joined = [&](const row& r, bool sat, bool upper_only) {
                        std::uint64_t word = upper_only ? r[2] : 0;
                        for (unsigned k = upper_only ? parts / 2 : 0; k < parts; ++k) {
                            const int_type p = with_bits(d, bits);
                            const std::uint64_t inside = ((1ull << bits) - 1) << (bits * k);
                            const int128 v = part(r, k);
                            word = (word & ~inside) | p.pattern(sat ? p.clamped(v) : v) << (bits * k);
                        }
                        return row{word};
                    };
                    const std::vector<std::string> in{"b32", "b32", "b32"};
                    check({name + " %d, %a, %b, %c;", in, {"b32"}}, rows,
                          [&](const row& r) { return joined(r, false, false); });
                    check({name + ".sat %d, %a, %b, %c;", in, {"b32"}}, rows,
                          [&](const row& r) { return joined(r, true, false); });
                    check({name + " %d." + (parts == 2 ? "h1" : "b32") + ", %a, %b, %c;", in, {"b32"}}, rows,
                          [&](const row& r) { return joined(r, false, true); });
                    check({name + ".add %d, %a, %b, %c;", in, {"b32"}}, rows, [&](const row& r) {
                        int128 sum = static_cast<int128>(r[2]);
                        for (unsigned k = 0; k < parts; ++k) {
                            sum += part(r, k);
                        }
                        return row{u32.pattern(sum)};
                    });
                }
            }
        }
    }
    // Parts of either operand, in any order.
    check({"vadd2.u32.u32.u32 %d, %a.h01, %b.h20, %c;", {"b32", "b32", "b32"}, {"b32"}}, {{0x00010002, 0x00100020, 0}},
          [](const row&) { return row{0x00220003ull}; });
    check({"vset4.u32.u32.lt.add %d, %a, %b, %c;", {"b32", "b32", "b32"}, {"b32"}},
          {{0x01020304, 0x02020404, 5}, {0, 0, 7}}, [](const row& r) { return row{r[2] + (r[2] == 5 ? 2 : 0)}; });
}

TEST(Bits, LookUpWithPredicate) {
    const std::vector<row> rows =
        cross({{0, 1, 0xF0F0F0F0, 0xFFFFFFFF}, {0, 0x0F0F0F0F, 0xFFFFFFFF}, {0, 0xF}, {0, 1}});
    check({"lop3.or.b32 %d|%f, %a, %b, %c, 0x80, %e;", {"b32", "b32", "b32", "pred"}, {"b32", "pred"}}, rows,
          [](const row& r) {
              const std::uint64_t v = r[0] & r[1] & r[2];
              return row{v, v != 0 || r[3] != 0 ? 1u : 0u};
          });
    check({"lop3.and.b32 %d|%f, %a, %b, %c, 0xFE, !%e;", {"b32", "b32", "b32", "pred"}, {"b32", "pred"}}, rows,
          [](const row& r) {
              const std::uint64_t v = r[0] | r[1] | r[2];
              return row{v, v != 0 && r[3] == 0 ? 1u : 0u};
          });
}

// Of compute capability 10: not for the hardware at hand.
TEST(Extremes, OfThreeAndAcrossAWarp) {
    if (on_hardware()) {
        GTEST_SKIP();
    }
    const std::vector<std::uint64_t> some = thinned(float_edges(), 3);
    check({"max.f32 %d, %a, %b, %c; min.NaN.f32 %f, %a, %b, %c; max.abs.f32 %g, %a, %b, %c;",
           {"b32", "b32", "b32"},
           {"b32", "b32", "b32"}},
          cross({some, some, some}), [](const row& r) {
              const float a = as_float(r[0]);
              const float b = as_float(r[1]);
              const float c = as_float(r[2]);
              const auto larger = [](float x, float y) {
                  return std::isnan(x) ? y : std::isnan(y) ? x : x > y || (x == y && !std::signbit(x)) ? x : y;
              };
              const auto smaller = [](float x, float y) { return x < y || (x == y && std::signbit(x)) ? x : y; };
              const auto pattern = [](float x) { return std::isnan(x) ? 0x7FFFFFFFull : bits_of(x); };
              const bool nan = std::isnan(a) || std::isnan(b) || std::isnan(c);
              return row{pattern(larger(larger(a, b), c)), nan ? 0x7FFFFFFFull : bits_of(smaller(smaller(a, b), c)),
                         pattern(larger(larger(std::abs(a), std::abs(b)), std::abs(c)))};
          });
    launch_options how;
    const auto r = run_threads("cvt.rn.f32.u32 %f0, %i; sub.f32 %f0, %f0, 0f41A00000; setp.eq.u32 %q0, %i, 7;\n"
                               "@%q0 mov.f32 %f0, 0f7FC00001;\n"
                               "redux.sync.min.f32 %f1, %f0, -1; st.global.f32 [%rd0], %f1;\n"
                               "redux.sync.max.abs.f32 %f1, %f0, -1; st.global.f32 [%rd0+4], %f1;\n"
                               "redux.sync.max.NaN.f32 %f1, %f0, -1; st.global.f32 [%rd0+8], %f1;",
                               how, 3);
    for (std::size_t t = 0; t < 32; ++t) {
        EXPECT_EQ(r.words[3 * t], bits_of(-20.0F));
        EXPECT_EQ(r.words[3 * t + 1], bits_of(20.0F));
        EXPECT_EQ(r.words[3 * t + 2], 0x7FFFFFFFu);
    }
}

} // namespace
} // namespace softgpu::test
