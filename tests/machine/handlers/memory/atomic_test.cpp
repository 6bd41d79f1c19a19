// SPDX-License-Identifier: MIT
// atom and red: every operation on edge values in every space, and many threads at one address.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/machine/half_values.hpp"

namespace softgpu::test {
namespace {

// Code that makes %at the address of 8 bytes of the thread's own.
struct place {
    std::string space;
    std::string before;
};
const std::vector<place>& every_place() {
    static const std::string shared = ".shared .align 8 .b8 s[768]; .reg .b32 %narrow; mov.u32 %narrow, %tid.x;\n";
    static const std::vector<place> list{
        {".global", ".reg .b64 %at; mov.b64 %at, %own;\n"},
        {".shared", shared + ".reg .b32 %at; mov.u32 %at, s; mad.lo.u32 %at, %narrow, 8, %at;\n"},
        {"", ".reg .b64 %at; mov.b64 %at, %own;\n"},
        {"", shared + ".reg .b64 %at; mov.u64 %at, s; mad.wide.u32 %at, %narrow, 8, %at; cvta.shared.u64 %at, %at;\n"},
    };
    return list;
}

// `fresh` is what memory holds afterwards; atom gives the old value. red does the same without a result.
void check_update(const std::string& op, const int_type& t, const std::vector<row>& rows, bool has_red,
                  const std::function<std::uint64_t(const row&)>& fresh) {
    const std::string reg = t.reg();
    const std::string raw = ".b" + std::to_string(t.bits);
    for (const place& where : every_place()) {
        const std::string s = where.space;
        const std::string store = "st" + s + raw + " [%at], %a;";
        const bool three = rows[0].size() == 3;
        operation what{store + "atom" + s + "." + op + "." + t.name + " %d, [%at], %b" + (three ? ", %c" : "") + ";ld" +
                           s + raw + " %f, [%at];",
                       {reg, reg},
                       {reg, reg},
                       where.before};
        if (three) {
            what.in.push_back(reg);
        }
        check(what, rows, [&](const row& r) { return row{r[0], fresh(r)}; });
        if (has_red) {
            check({store + "red" + s + "." + op + "." + t.name + " [%at], %b;ld" + s + raw + " %d, [%at];",
                   {reg, reg},
                   {reg},
                   where.before},
                  rows, [&](const row& r) { return row{fresh(r)}; });
        }
    }
}
std::vector<row> pairs(unsigned bits) { return cross({thinned(int_edges(bits), 2), thinned(int_edges(bits), 2)}); }

TEST(Atomic, Integers) {
    for (const int_type& t : {u32, s32, u64, s64}) {
        if (t.name != "s64") {
            check_update("add", t, pairs(t.bits), true, [&](const row& r) { return t.truncated(r[0] + r[1]); });
        }
        check_update("min", t, pairs(t.bits), true,
                     [&](const row& r) { return t.number(r[0]) < t.number(r[1]) ? r[0] : r[1]; });
        check_update("max", t, pairs(t.bits), true,
                     [&](const row& r) { return t.number(r[0]) > t.number(r[1]) ? r[0] : r[1]; });
    }
    check_update("inc", u32, pairs(32), true, [](const row& r) { return r[0] >= r[1] ? 0 : r[0] + 1; });
    check_update("dec", u32, pairs(32), true, [](const row& r) { return r[0] == 0 || r[0] > r[1] ? r[1] : r[0] - 1; });
}

TEST(Atomic, Bits) {
    for (const unsigned bits : {32u, 64u}) {
        const int_type t{"b" + std::to_string(bits), bits, false};
        check_update("and", t, pairs(bits), true, [](const row& r) { return r[0] & r[1]; });
        check_update("or", t, pairs(bits), true, [](const row& r) { return r[0] | r[1]; });
        check_update("xor", t, pairs(bits), true, [](const row& r) { return r[0] ^ r[1]; });
        check_update("exch", t, pairs(bits), false, [](const row& r) { return r[1]; });
    }
    for (const unsigned bits : {16u, 32u, 64u}) {
        const int_type t{"b" + std::to_string(bits), bits, false};
        const std::vector<std::uint64_t> v = thinned(int_edges(bits), 4);
        check_update("cas", t, cross({v, v, {3, 4}}), false, [](const row& r) { return r[0] == r[1] ? r[2] : r[0]; });
    }
}

TEST(Atomic, Floats) {
    for (const place& where : every_place()) {
        const std::string s = where.space;
        // Without subnormals, which some hardware flushes here, and without NaN.
        std::vector<std::uint64_t> singles = float_edges();
        std::erase_if(singles,
                      [](std::uint64_t v) { return std::isnan(as_float(v)) || std::abs(as_float(v)) < 0x1p-100F; });
        check({"st" + s + ".f32 [%at], %a; atom" + s + ".add.f32 %d, [%at], %b; ld" + s + ".f32 %f, [%at];",
               {"f32", "f32"},
               {"f32", "f32"},
               where.before},
              cross({singles, singles}), [](const row& r) -> std::optional<row> {
                  const float sum = as_float(r[0]) + as_float(r[1]);
                  return std::isnan(sum) ? std::nullopt : std::optional(row{r[0], bits_of(sum)});
              });
        std::vector<std::uint64_t> doubles = double_edges();
        std::erase_if(doubles, [](std::uint64_t v) { return std::isnan(as_double(v)); });
        check({"st" + s + ".f64 [%at], %a; red" + s + ".add.f64 [%at], %b; ld" + s + ".f64 %d, [%at];",
               {"f64", "f64"},
               {"f64"},
               where.before},
              cross({doubles, doubles}), [](const row& r) -> std::optional<row> {
                  const double sum = as_double(r[0]) + as_double(r[1]);
                  return std::isnan(sum) ? std::nullopt : std::optional(row{bits_of(sum)});
              });
    }
}

TEST(Atomic, ScopesAndOrders) {
    for (const std::string how :
         {".relaxed.gpu", ".acquire.gpu", ".release.cta", ".acq_rel.sys", ".gpu", ".relaxed.cta"}) {
        check({"st.global.u32 [%own], %a; atom" + how + ".global.add.u32 %d, [%own], %b; ld.global.u32 %f, [%own];",
               {"b32", "b32"},
               {"b32", "b32"}},
              pairs(32), [](const row& r) {
                  return row{r[0], u32.truncated(r[0] + r[1])};
              });
    }
    check({"st.global.u32 [%own+8], %a; atom.global.cas.b32 %d, [%own+8], 7, 9; ld.global.u32 %f, [%own+8];",
           {"b32"},
           {"b32", "b32"}},
          {{7}, {8}, {9}}, [](const row& r) {
              return row{r[0], r[0] == 7 ? 9 : r[0]};
          });
    check({"st.global.u32 [%own], %a; atom.global.add.u32 _, [%own], -1; ld.global.u32 %d, [%own];", {"b32"}, {"b32"}},
          cross({int_edges(32)}), [](const row& r) { return row{u32.truncated(r[0] - 1)}; });
}

// The threads of several blocks on several of the host's threads.
constexpr unsigned blocks = 12;
constexpr unsigned threads = 96;
constexpr unsigned everybody = blocks * threads;
const launch_options crowd{.grid = {blocks}, .block = {threads}, .workers = 4};

TEST(Atomic, TicketsAreAPermutation) {
    program p(kernel("atom.global.add.u32 %r3, [%p0], 1; mul.wide.u32 %rd0, %i, 4; add.u64 %rd0, %rd0, %p1; "
                     "st.global.u32 [%rd0], %r3; ret;"));
    const std::uint64_t counter = p.buffer<std::uint32_t>(1);
    const std::uint64_t tickets = p.buffer<std::uint32_t>(everybody);
    p.run(crowd, {counter, tickets});
    auto drawn = p.contents<std::uint32_t>(tickets, everybody);
    std::sort(drawn.begin(), drawn.end());
    std::vector<std::uint32_t> expected(everybody);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(drawn, expected);
}

TEST(Atomic, SumsAreExact) {
    program p(kernel("cvt.u64.u32 %rd0, %i; red.global.add.u64 [%p0], %rd0; cvt.rn.f64.u32 %fd0, %i; "
                     "red.global.add.f64 [%p0+8], %fd0;\n"
                     "red.global.max.u32 [%p0+16], %i; not.b32 %r3, %i; red.global.min.u32 [%p0+20], %r3; "
                     "red.global.add.f32 [%p0+24], 0f3F800000;\n"
                     "atom.global.inc.u32 %r4, [%p0+28], 6; red.global.xor.b32 [%p0+32], %i; ret;"));
    const std::uint64_t at = p.buffer<std::uint32_t>({0, 0, 0, 0, 0, 0xFFFFFFFF, 0, 0, 0, 0});
    p.run(crowd, {at});
    const std::uint64_t sum = std::uint64_t{everybody} * (everybody - 1) / 2;
    EXPECT_EQ(p.contents<std::uint64_t>(at, 1)[0], sum);
    EXPECT_EQ(p.contents<double>(at + 8, 1)[0], static_cast<double>(sum));
    const auto words = p.contents<std::uint32_t>(at, 9);
    EXPECT_EQ(words[4], everybody - 1);
    EXPECT_EQ(words[5], ~(everybody - 1));
    EXPECT_EQ(words[6], bits_of(static_cast<float>(everybody)));
    EXPECT_EQ(words[7], everybody % 7);
    std::uint32_t parity = 0;
    for (std::uint32_t t = 0; t < everybody; ++t) {
        parity ^= t;
    }
    EXPECT_EQ(words[8], parity);
}

// What was put in comes out, once each.
TEST(Atomic, ExchangesLoseNothing) {
    program p(kernel(
        "add.u32 %r3, %i, 1; cvt.u64.u32 %rd1, %r3; atom.global.exch.b64 %rd2, [%p0], %rd1; mul.wide.u32 %rd0, %i, 8;\n"
        "add.u64 %rd0, %rd0, %p1; st.global.u64 [%rd0], %rd2; ret;"));
    const std::uint64_t cell = p.buffer<std::uint64_t>(1);
    const std::uint64_t out = p.buffer<std::uint64_t>(everybody);
    p.run(crowd, {cell, out});
    auto seen = p.contents<std::uint64_t>(out, everybody);
    seen.push_back(p.contents<std::uint64_t>(cell, 1)[0]);
    std::sort(seen.begin(), seen.end());
    std::vector<std::uint64_t> expected(everybody + 1);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(seen, expected);
}

// Each thread multiplies or adds by a loop of compare-and-swap, as code for missing operations does.
TEST(Atomic, CompareAndSwapLoops) {
    program p(kernel("ld.global.u32 %r3, [%p0];\nagain: mov.u32 %r4, %r3; mad.lo.u32 %r5, %r4, 3, 1;\n"
                     "atom.global.cas.b32 %r3, [%p0], %r4, %r5; setp.ne.u32 %q0, %r3, %r4; @%q0 bra again; ret;"));
    const std::uint64_t cell = p.buffer<std::uint32_t>(1, 1);
    p.run(crowd, {cell});
    std::uint32_t expected = 1;
    for (unsigned t = 0; t < everybody; ++t) {
        expected = expected * 3 + 1;
    }
    EXPECT_EQ(p.contents<std::uint32_t>(cell, 1)[0], expected);
}

TEST(Atomic, SharedHistogram) {
    const threads_result r =
        run_threads(".shared .align 4 .b8 bins[64]; mov.u32 %r3, bins; mov.u32 %r4, %tid.x; and.b32 %r5, %r4, 15; "
                    "mad.lo.u32 %r6, %r5, 4, %r3;\n"
                    "st.shared.u32 [%r6], 0; bar.sync 0; mul.lo.u32 %r7, %r4, %r4; and.b32 %r7, %r7, 15; mad.lo.u32 "
                    "%r8, %r7, 4, %r3;\n"
                    "red.shared.add.u32 [%r8], 1; bar.sync 0; ld.shared.u32 %r9, [%r6]; st.global.u32 [%rd0], %r9;",
                    {.grid = {4}, .block = {200}, .workers = 2});
    std::uint32_t bins[16] = {};
    for (std::uint32_t t = 0; t < 200; ++t) {
        ++bins[t * t % 16];
    }
    for (std::uint32_t t = 0; t < r.words.size(); ++t) {
        EXPECT_EQ(r.words[t], bins[t % 200 % 16]) << "thread " << t;
    }
}

// One half and two; of a NaN only that it is one.
TEST(Atomic, Halves) {
    for (const small_format& f : {f16, bf16}) {
        const auto sum = [&](std::uint64_t a, std::uint64_t b) {
            return f.rounded(static_cast<quad>(f.value(a)) + f.value(b), direction::nearest, 0,
                             std::signbit(f.value(a)) && std::signbit(f.value(b)));
        };
        const auto alike = [&](std::uint64_t expected, std::uint64_t actual) {
            for (unsigned k = 0; k < 32; k += 16) {
                const std::uint64_t x = expected >> k & 0xFFFF;
                const std::uint64_t y = actual >> k & 0xFFFF;
                if (x != y && !(f.is_nan(x) && f.is_nan(y))) {
                    return false;
                }
            }
            return true;
        };
        const std::vector<row> rows = cross({thinned(half_edges(f), 3), thinned(half_edges(f), 2)});
        std::vector<row> twice;
        for (std::size_t n = 0; n < rows.size(); ++n) {
            const row& other = rows[rows.size() - 1 - n];
            twice.push_back({rows[n][0] << 16 | other[0], rows[n][1] << 16 | other[1]});
        }
        for (const place& where : every_place()) {
            const std::string s = where.space;
            check(
                {"st" + s + ".b16 [%at], %a;atom" + s + ".add.noftz." + f.name + " %d, [%at], %b;ld" + s +
                     ".b16 %f, [%at];",
                 {"b16", "b16"},
                 {"b16", "b16"},
                 where.before},
                rows,
                [&](const row& r) {
                    return row{r[0], sum(r[0], r[1])};
                },
                alike);
            check(
                {"st" + s + ".b32 [%at], %a;red" + s + ".add.noftz." + f.name + "x2 [%at], %b;ld" + s +
                     ".b32 %d, [%at];",
                 {"b32", "b32"},
                 {"b32"},
                 where.before},
                twice,
                [&](const row& r) {
                    return row{std::uint64_t{sum(r[0] >> 16, r[1] >> 16)} << 16 | sum(r[0] & 0xFFFF, r[1] & 0xFFFF)};
                },
                alike);
        }
    }
}

TEST(Atomic, Vectors) {
    const std::vector<row> rows{{bits_of(1.5F), bits_of(2.0F), bits_of(-0.5F), bits_of(100.0F)}};
    check({"st.global.v4.b32 [%own], {%a, %b, %c, %e};"
           "atom.global.v4.f32.add {%d, _, %f, %g}, [%own], {%b, %b, %b, %b};"
           "ld.global.b32 %k, [%own+12];",
           {"b32", "b32", "b32", "b32"},
           {"b32", "b32", "b32", "b32"}},
          rows, [](const row& r) {
              return row{r[0], r[2], r[3], bits_of(102.0F)};
          });
    check({"st.global.v2.b32 [%own], {%a, %b};red.global.v2.f32.add [%own], {%c, %c};"
           "ld.global.v2.b32 {%d, %f}, [%own];",
           {"b32", "b32", "b32", "b32"},
           {"b32", "b32"}},
          rows, [](const row&) {
              return row{bits_of(1.0F), bits_of(1.5F)};
          });
    check({"st.global.v2.b16 [%own], {%a, %b};atom.global.v2.f16.add.noftz {%d, %f}, [%own], {%b, %a};"
           "ld.global.b16 %g, [%own+2];",
           {"b16", "b16"},
           {"b16", "b16", "b16"}},
          {{0x3C00, 0x4000}}, [](const row& r) {
              return row{r[0], r[1], 0x4200};
          });
}

TEST(Atomic, ExtremesOfVectorsOfHalves) {
    for (const small_format& f : {f16, bf16}) {
        const std::vector<std::uint64_t> edges = half_edges(f);
        const std::vector<row> halves = cross({edges, thinned(edges, 3)});
        for (const bool max : {false, true}) {
            const auto one = [&](std::uint64_t a, std::uint64_t b) -> std::uint64_t {
                const double x = f.value(a);
                const double y = f.value(b);
                if (f.is_nan(a) || f.is_nan(b)) {
                    return !f.is_nan(a) ? a : !f.is_nan(b) ? b : f.nan;
                }
                const bool a_less = x < y || (x == y && std::signbit(x));
                return a_less != max ? a : b;
            };
            const std::string op = max ? ".max.noftz" : ".min.noftz";
            check({"st.global.v2.b16 [%own], {%a, %b}; atom.global.v2." + f.name + op +
                       " {%d, %f}, [%own], {%b, %a}; ld.global.v2.b16 {%g, %k}, [%own];",
                   {"b16", "b16"},
                   {"b16", "b16", "b16", "b16"}},
                  halves, [&](const row& r) {
                      return row{r[0], r[1], one(r[0], r[1]), one(r[1], r[0])};
                  });
            std::vector<row> pairs;
            for (const row& r : halves) {
                pairs.push_back({r[0] << 16 | r[1], r[1] << 16 | r[0]});
            }
            const auto both = [&](std::uint64_t a, std::uint64_t b) {
                return one(a >> 16, b >> 16) << 16 | one(a & 0xFFFF, b & 0xFFFF);
            };
            check({"st.global.v2.b32 [%own], {%a, %b}; red.global.v2." + f.name + "x2" + op +
                       " [%own], {%b, %a}; ld.global.v2.b32 {%d, %f}, [%own];",
                   {"b32", "b32"},
                   {"b32", "b32"}},
                  pairs, [&](const row& r) {
                      return row{both(r[0], r[1]), both(r[1], r[0])};
                  });
        }
    }
}

// The policy is 64 bits wide, whatever the type is.
TEST(Atomic, WithCachePolicies) {
    check({"st.global.v4.b32 [%own], {%a, %b, %c, %e};red.global.add.L2::cache_hint.u32 [%own], %b, %policy;"
           "atom.global.cas.L2::cache_hint.b32 %d, [%own+4], %b, %c, %policy;"
           "red.global.add.noftz.L2::cache_hint.f16x2 [%own+8], 0, %policy;"
           "red.global.v2.f32.add.L2::cache_hint [%own+8], {%z, %z}, %policy;"
           "ld.global.v4.b32 {%f, %g, %k, _}, [%own];",
           {"b32", "b32", "b32", "b32"},
           {"b32", "b32", "b32", "b32"},
           ".reg .b64 %policy; .reg .f32 %z; mov.f32 %z, 0f00000000;\n"
           "createpolicy.fractional.L2::evict_last.b64 %policy, 1.0;\n"},
          {{1, 2, 3, 4}, {~0u, 7, 8, 9}}, [](const row& r) {
              return row{r[1], (r[0] + r[1]) & 0xFFFFFFFF, r[2], r[2]};
          });
}

TEST(Atomic, SixteenBytes) {
    for (const place& where : every_place()) {
        if (where.space == ".shared" || where.before.find(" s[") != std::string::npos) {
            continue; // 8 bytes a thread there
        }
        const std::string s = where.space;
        const std::string before = where.before + ".reg .b128 %x, %y, %z;\n";
        check({"st" + s +
                   ".v2.b64 [%at], {%a, %b};mov.b128 %x, {%a, %b};mov.b128 %y, {%c, %e};"
                   "atom" +
                   s + ".cas.b128 %z, [%at], %y, %x;atom" + s +
                   ".cas.b128 %z, [%at], %x, %y;"
                   "mov.b128 {%d, %f}, %z;ld" +
                   s + ".v2.b64 {%g, %k}, [%at];",
               {"b64", "b64", "b64", "b64"},
               {"b64", "b64", "b64", "b64"},
               before},
              {{1, 2, 3, 4}, {~0ull, 0, 5, ~0ull}}, [](const row& r) { return r; });
        check({"st" + s + ".v2.b64 [%at], {%a, %b};mov.b128 %y, {%b, %a};atom" + s +
                   ".exch.b128 %z, [%at], %y;"
                   "mov.b128 {%d, %f}, %z;ld" +
                   s + ".v2.b64 {%g, %k}, [%at];",
               {"b64", "b64"},
               {"b64", "b64", "b64", "b64"},
               before},
              {{1, 2}, {~0ull, 7}}, [](const row& r) {
                  return row{r[0], r[1], r[1], r[0]};
              });
    }
}

} // namespace
} // namespace softgpu::test
