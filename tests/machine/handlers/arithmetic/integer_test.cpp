// SPDX-License-Identifier: MIT
// Integer arithmetic against 128-bit arithmetic on the host.
#include <gtest/gtest.h>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

operation binary(const std::string& name, const int_type& t) {
    return {name + "." + t.name + " %d, %a, %b;", {t.reg(), t.reg()}, {t.reg()}};
}
operation ternary(const std::string& name, const int_type& t) {
    return {name + "." + t.name + " %d, %a, %b, %c;", {t.reg(), t.reg(), t.reg()}, {t.reg()}};
}
std::vector<row> pairs(unsigned bits) { return cross({int_edges(bits), int_edges(bits)}); }
std::vector<row> triples(unsigned bits) {
    return cross({thinned(int_edges(bits), 2), thinned(int_edges(bits), 2), thinned(int_edges(bits), 3)});
}

// The product of two numbers of type t as 128 bits; unsigned 64-bit factors fill all of them.
uint128 product(const int_type& t, std::uint64_t a, std::uint64_t b) {
    return static_cast<uint128>(t.number(a)) * static_cast<uint128>(t.number(b));
}
std::uint64_t high_half(const int_type& t, std::uint64_t a, std::uint64_t b) {
    return t.truncated(static_cast<std::uint64_t>(product(t, a, b) >> t.bits));
}

TEST(Integer, AddSub) {
    for (const int_type& t : arithmetic_types) {
        check(binary("add", t), pairs(t.bits),
              [&](const row& r) { return row{t.pattern(t.number(r[0]) + t.number(r[1]))}; });
        check(binary("sub", t), pairs(t.bits),
              [&](const row& r) { return row{t.pattern(t.number(r[0]) - t.number(r[1]))}; });
    }
    check(binary("add.sat", s32), pairs(32),
          [](const row& r) { return row{s32.pattern(s32.clamped(s32.number(r[0]) + s32.number(r[1])))}; });
    check(binary("sub.sat", s32), pairs(32),
          [](const row& r) { return row{s32.pattern(s32.clamped(s32.number(r[0]) - s32.number(r[1])))}; });
}

TEST(Integer, MulLowAndHigh) {
    for (const int_type& t : arithmetic_types) {
        check(binary("mul.lo", t), pairs(t.bits),
              [&](const row& r) { return row{t.truncated(static_cast<std::uint64_t>(product(t, r[0], r[1])))}; });
        check(binary("mul.hi", t), pairs(t.bits), [&](const row& r) { return row{high_half(t, r[0], r[1])}; });
    }
}

TEST(Integer, MadLowAndHigh) {
    for (const int_type& t : arithmetic_types) {
        check(ternary("mad.lo", t), triples(t.bits), [&](const row& r) {
            return row{t.truncated(static_cast<std::uint64_t>(product(t, r[0], r[1])) + r[2])};
        });
        check(ternary("mad.hi", t), triples(t.bits),
              [&](const row& r) { return row{t.truncated(high_half(t, r[0], r[1]) + r[2])}; });
    }
    check(ternary("mad.hi.sat", s32), triples(32), [](const row& r) {
        return row{s32.pattern(s32.clamped(s32.number(high_half(s32, r[0], r[1])) + s32.number(r[2])))};
    });
}

TEST(Integer, Wide) {
    for (const int_type& t : {u16, s16, u32, s32}) {
        const int_type wide{"", 2 * t.bits, t.is_signed};
        check({"mul.wide." + t.name + " %d, %a, %b;", {t.reg(), t.reg()}, {wide.reg()}}, pairs(t.bits),
              [&](const row& r) { return row{wide.pattern(t.number(r[0]) * t.number(r[1]))}; });
        check({"mad.wide." + t.name + " %d, %a, %b, %c;", {t.reg(), t.reg(), wide.reg()}, {wide.reg()}},
              cross({thinned(int_edges(t.bits), 2), thinned(int_edges(t.bits), 2), thinned(int_edges(2 * t.bits), 3)}),
              [&](const row& r) { return row{wide.pattern(t.number(r[0]) * t.number(r[1]) + wide.number(r[2]))}; });
    }
}

TEST(Integer, DivRem) {
    for (const int_type& t : arithmetic_types) {
        const auto defined = [&](const row& r) {
            return t.number(r[1]) != 0 && !(t.is_signed && t.number(r[0]) == t.least() && t.number(r[1]) == -1);
        };
        check(binary("div", t), pairs(t.bits), [&](const row& r) -> std::optional<row> {
            if (!defined(r)) {
                return std::nullopt; // open in PTX; it must not end the process
            }
            return row{t.pattern(t.number(r[0]) / t.number(r[1]))};
        });
        check(binary("rem", t), pairs(t.bits), [&](const row& r) -> std::optional<row> {
            if (!defined(r)) {
                return std::nullopt;
            }
            return row{t.pattern(t.number(r[0]) % t.number(r[1]))};
        });
    }
}

TEST(Integer, AbsNegMinMaxSad) {
    for (const int_type& t : arithmetic_types) {
        check(binary("min", t), pairs(t.bits),
              [&](const row& r) { return row{t.number(r[0]) < t.number(r[1]) ? r[0] : r[1]}; });
        check(binary("max", t), pairs(t.bits),
              [&](const row& r) { return row{t.number(r[0]) > t.number(r[1]) ? r[0] : r[1]}; });
        check(ternary("sad", t), triples(t.bits), [&](const row& r) {
            const int128 d = t.number(r[0]) - t.number(r[1]);
            return row{t.pattern((d < 0 ? -d : d) + t.number(r[2]))};
        });
        if (t.is_signed) {
            const std::vector<row> all = cross({int_edges(t.bits, 40)});
            check({"abs." + t.name + " %d, %a;", {t.reg()}, {t.reg()}}, all,
                  [&](const row& r) { return row{t.pattern(t.number(r[0]) < 0 ? -t.number(r[0]) : t.number(r[0]))}; });
            check({"neg." + t.name + " %d, %a;", {t.reg()}, {t.reg()}}, all,
                  [&](const row& r) { return row{t.pattern(-t.number(r[0]))}; });
        }
    }
    for (const bool least : {true, false}) {
        check(binary(least ? "min.relu" : "max.relu", s32), pairs(32), [&](const row& r) {
            const int128 a = s32.number(r[0]);
            const int128 b = s32.number(r[1]);
            const int128 chosen = (a < b) == least ? a : b;
            return row{s32.pattern(chosen < 0 ? 0 : chosen)};
        });
    }
}

// Factors are the low 24 bits; lo is the low 32 bits of the 48-bit product, hi its bits 47 to 16.
TEST(Integer, Mul24Mad24) {
    for (const int_type& t : {u32, s32}) {
        const int_type narrow{"", 24, t.is_signed};
        const auto part = [&](const row& r, bool high) {
            const int128 whole = narrow.number(r[0]) * narrow.number(r[1]);
            return t.number(t.pattern(high ? whole >> 16 : whole));
        };
        for (const bool high : {false, true}) {
            const std::string which = high ? ".hi" : ".lo";
            check(binary("mul24" + which, t), pairs(32), [&](const row& r) { return row{t.pattern(part(r, high))}; });
            check(ternary("mad24" + which, t), triples(32),
                  [&](const row& r) { return row{t.pattern(part(r, high) + t.number(r[2]))}; });
        }
        if (t.is_signed) {
            check(ternary("mad24.hi.sat", t), triples(32),
                  [&](const row& r) { return row{t.pattern(t.clamped(part(r, true) + t.number(r[2])))}; });
        }
    }
}

TEST(Integer, DotProducts) {
    const std::vector<row> rows = triples(32);
    const auto element = [](const int_type& t, std::uint64_t from, unsigned n) {
        return t.number(from >> (t.bits * n));
    };
    for (const bool a_signed : {false, true}) {
        for (const bool b_signed : {false, true}) {
            const std::string types = std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
            check({"dp4a" + types + " %d, %a, %b, %c;", {"b32", "b32", "b32"}, {"b32"}}, rows, [&](const row& r) {
                int128 sum = u32.number(r[2]);
                for (unsigned k = 0; k < 4; ++k) {
                    sum += element(a_signed ? s8 : u8, r[0], k) * element(b_signed ? s8 : u8, r[1], k);
                }
                return row{u32.pattern(sum)};
            });
            for (const bool high : {false, true}) {
                check({std::string("dp2a") + (high ? ".hi" : ".lo") + types + " %d, %a, %b, %c;",
                       {"b32", "b32", "b32"},
                       {"b32"}},
                      rows, [&](const row& r) {
                          int128 sum = u32.number(r[2]);
                          for (unsigned k = 0; k < 2; ++k) {
                              sum += element(a_signed ? s16 : u16, r[0], k) *
                                     element(b_signed ? s8 : u8, r[1], high ? k + 2 : k);
                          }
                          return row{u32.pattern(sum)};
                      });
            }
        }
    }
}

TEST(Integer, ImmediateOperands) {
    for (const int_type& t : arithmetic_types) {
        for (const int value : {-1, 0, 7}) {
            if (value < 0 && !t.is_signed) {
                continue;
            }
            const std::string text = std::to_string(value);
            check({"add." + t.name + " %d, %a, " + text + ";", {t.reg()}, {t.reg()}}, cross({int_edges(t.bits)}),
                  [&](const row& r) { return row{t.pattern(t.number(r[0]) + value)}; });
            check({"sub." + t.name + " %d, " + text + ", %a;", {t.reg()}, {t.reg()}}, cross({int_edges(t.bits)}),
                  [&](const row& r) { return row{t.pattern(value - t.number(r[0]))}; });
            check({"mad.lo." + t.name + " %d, %a, 3, " + text + ";", {t.reg()}, {t.reg()}}, cross({int_edges(t.bits)}),
                  [&](const row& r) { return row{t.pattern(t.number(r[0]) * 3 + value)}; });
        }
    }
    check({"mad.wide.s32 %d, %a, -3, -9;", {"b32"}, {"b64"}}, cross({int_edges(32)}),
          [](const row& r) { return row{s64.pattern(s32.number(r[0]) * -3 - 9)}; });
    check({"mul.wide.u16 %d, %a, 65535;", {"b16"}, {"b32"}}, cross({int_edges(16)}),
          [](const row& r) { return row{u32.pattern(u16.number(r[0]) * 65535)}; });
}

// Half-word pairs, each half on its own.
TEST(Integer, PackedHalves) {
    const std::vector<row> rows = pairs(32);
    for (const int_type& t : {u16, s16}) {
        const auto halves = [&](const row& r, auto&& f) {
            std::uint64_t d = 0;
            for (unsigned k = 0; k < 2; ++k) {
                d |= t.pattern(f(t.number(r[0] >> (16 * k)), t.number(r[1] >> (16 * k)))) << (16 * k);
            }
            return row{d};
        };
        const auto text = [&](const std::string& name) {
            return operation{name + "." + t.name + "x2 %d, %a, %b;", {"b32", "b32"}, {"b32"}};
        };
        check(text("add"), rows, [&](const row& r) { return halves(r, [](int128 a, int128 b) { return a + b; }); });
        check(text("min"), rows,
              [&](const row& r) { return halves(r, [](int128 a, int128 b) { return a < b ? a : b; }); });
        check(text("max"), rows,
              [&](const row& r) { return halves(r, [](int128 a, int128 b) { return a > b ? a : b; }); });
        if (t.is_signed) {
            check(text("min.relu"), rows, [&](const row& r) {
                return halves(r, [](int128 a, int128 b) { return std::max<int128>(0, a < b ? a : b); });
            });
            check(text("max.relu"), rows, [&](const row& r) {
                return halves(r, [](int128 a, int128 b) { return std::max<int128>(0, a > b ? a : b); });
            });
        }
    }
}

} // namespace
} // namespace softgpu::test
