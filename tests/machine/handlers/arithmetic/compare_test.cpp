// SPDX-License-Identifier: MIT
// setp, set, selp, slct, testp, copysign.
#include <gtest/gtest.h>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

struct relation {
    std::string name;
    std::function<bool(int128, int128)> of_ints;
};
const std::vector<relation> relations{
    {"eq", [](int128 a, int128 b) { return a == b; }}, {"ne", [](int128 a, int128 b) { return a != b; }},
    {"lt", [](int128 a, int128 b) { return a < b; }},  {"le", [](int128 a, int128 b) { return a <= b; }},
    {"gt", [](int128 a, int128 b) { return a > b; }},  {"ge", [](int128 a, int128 b) { return a >= b; }}};

double value_of(std::uint64_t pattern, bool wide, bool flush = false) {
    const double v = wide ? as_double(pattern) : static_cast<double>(as_float(pattern));
    return flush && std::abs(v) < 0x1p-126 ? std::copysign(0.0, v) : v;
}

TEST(Compare, SetpOfIntegers) {
    for (const int_type& t : arithmetic_types) {
        const std::vector<row> rows = cross({int_edges(t.bits), int_edges(t.bits)});
        for (const relation& x : relations) {
            check({"setp." + x.name + "." + t.name + " %d, %a, %b;", {t.reg(), t.reg()}, {"pred"}}, rows,
                  [&](const row& r) { return row{x.of_ints(t.number(r[0]), t.number(r[1])) ? 1ull : 0ull}; });
        }
        if (!t.is_signed) {
            const std::vector<std::pair<std::string, std::size_t>> others{{"lo", 2}, {"ls", 3}, {"hi", 4}, {"hs", 5}};
            for (const auto& [name, same] : others) {
                check({"setp." + name + "." + t.name + " %d, %a, %b;", {t.reg(), t.reg()}, {"pred"}}, rows,
                      [&, k = same](const row& r) {
                          return row{relations[k].of_ints(t.number(r[0]), t.number(r[1])) ? 1ull : 0ull};
                      });
            }
            for (std::size_t k = 0; k < 2; ++k) {
                check({"setp." + relations[k].name + ".b" + std::to_string(t.bits) + " %d, %a, %b;",
                       {t.reg(), t.reg()},
                       {"pred"}},
                      rows, [&](const row& r) {
                          return row{relations[k].of_ints(t.number(r[0]), t.number(r[1])) ? 1ull : 0ull};
                      });
            }
        }
    }
    check({"setp.gt.s32 %d, %a, -1;", {"b32"}, {"pred"}}, cross({int_edges(32)}),
          [](const row& r) { return row{s32.number(r[0]) > -1 ? 1ull : 0ull}; });
    check({"setp.lt.s64 %d, %a, -5;", {"b64"}, {"pred"}}, cross({int_edges(64)}),
          [](const row& r) { return row{s64.number(r[0]) < -5 ? 1ull : 0ull}; });
}

TEST(Compare, SetpOfFloats) {
    const std::vector<std::uint64_t> f = float_edges();
    const std::vector<std::uint64_t> d = double_edges();
    for (const std::string& x : float_relations) {
        for (const bool flush : {false, true}) {
            check({"setp." + x + (flush ? ".ftz" : "") + ".f32 %d, %a, %b;", {"f32", "f32"}, {"pred"}}, cross({f, f}),
                  [&](const row& r) {
                      return row{float_holds(x, value_of(r[0], false, flush), value_of(r[1], false, flush)) ? 1ull
                                                                                                            : 0ull};
                  });
        }
        check({"setp." + x + ".f64 %d, %a, %b;", {"f64", "f64"}, {"pred"}}, cross({d, d}),
              [&](const row& r) { return row{float_holds(x, as_double(r[0]), as_double(r[1])) ? 1ull : 0ull}; });
    }
}

// p = (a < b) with c, q = !(a < b) with c.
TEST(Compare, SetpCombinesPredicates) {
    const std::vector<row> rows = cross({{1, 2, 3}, {2}, {0, 1}});
    for (const std::string with : {"and", "or", "xor"}) {
        for (const bool negated : {false, true}) {
            for (const bool pair : {false, true}) {
                operation what{"setp.lt." + with + ".u32 %d" + (pair ? "|%f" : "") + ", %a, %b, " +
                                   (negated ? "!" : "") + "%c;",
                               {"b32", "b32", "pred"},
                               {"pred"}};
                if (pair) {
                    what.out.emplace_back("pred");
                }
                check(what, rows, [&](const row& r) {
                    const bool c = (r[2] != 0) != negated;
                    const auto combined = [&](bool x) {
                        return (with == "and" ? x && c : with == "or" ? x || c : x != c) ? 1ull : 0ull;
                    };
                    row result{combined(r[0] < r[1])};
                    if (pair) {
                        result.push_back(combined(!(r[0] < r[1])));
                    }
                    return result;
                });
            }
        }
    }
    check({"setp.lt.u32 %d|%f, %a, %b;", {"b32", "b32"}, {"pred", "pred"}}, cross({{1, 2, 3}, {2}}), [](const row& r) {
        return row{r[0] < r[1] ? 1ull : 0ull, r[0] < r[1] ? 0ull : 1ull};
    });
}

TEST(Compare, Set) {
    const std::vector<row> ints = cross({int_edges(32), int_edges(32)});
    for (const std::string d : {"u32", "s32", "f32"}) {
        const std::uint64_t yes = d == "f32" ? 0x3F800000 : 0xFFFFFFFF;
        for (const relation& x : relations) {
            check({"set." + x.name + "." + d + ".s32 %d, %a, %b;", {"b32", "b32"}, {"b32"}}, ints,
                  [&](const row& r) { return row{x.of_ints(s32.number(r[0]), s32.number(r[1])) ? yes : 0}; });
        }
        for (const std::string& x : float_relations) {
            check({"set." + x + "." + d + ".f64 %d, %a, %b;", {"f64", "f64"}, {"b32"}},
                  cross({double_edges(), thinned(double_edges(), 3)}),
                  [&](const row& r) { return row{float_holds(x, as_double(r[0]), as_double(r[1])) ? yes : 0}; });
        }
        check({"set.lt.and." + d + ".u16 %d, %a, %b, !%c;", {"b16", "b16", "pred"}, {"b32"}},
              cross({int_edges(16), int_edges(16), {0, 1}}),
              [&](const row& r) { return row{r[0] < r[1] && r[2] == 0 ? yes : 0}; });
    }
}

TEST(Compare, Select) {
    for (const unsigned bits : {16u, 32u, 64u}) {
        const std::string b = "b" + std::to_string(bits);
        check({"selp." + b + " %d, %a, %b, %c;", {b, b, "pred"}, {b}},
              cross({thinned(int_edges(bits), 3), thinned(int_edges(bits), 3), {0, 1}}),
              [](const row& r) { return row{r[2] != 0 ? r[0] : r[1]}; });
        check({"slct." + b + ".s32 %d, %a, %b, %c;", {b, b, "b32"}, {b}},
              cross({thinned(int_edges(bits), 3), thinned(int_edges(bits), 3), int_edges(32)}),
              [](const row& r) { return row{s32.number(r[2]) >= 0 ? r[0] : r[1]}; });
        for (const bool flush : {false, true}) {
            check({std::string("slct") + (flush ? ".ftz." : ".") + b + ".f32 %d, %a, %b, %c;", {b, b, "f32"}, {b}},
                  cross({thinned(int_edges(bits), 4), thinned(int_edges(bits), 4), float_edges()}),
                  [&](const row& r) { return row{value_of(r[2], false, flush) >= 0 ? r[0] : r[1]}; });
        }
    }
    check({"selp.f64 %d, 0d3FF0000000000000, %a, %b;", {"f64", "pred"}, {"f64"}}, cross({{5, 6}, {0, 1}}),
          [](const row& r) { return row{r[1] != 0 ? bits_of(1.0) : r[0]}; });
}

TEST(Compare, TestpAndCopysign) {
    for (const bool wide : {false, true}) {
        const std::string t = wide ? "f64" : "f32";
        const std::vector<std::uint64_t> edges = wide ? double_edges() : float_edges();
        const unsigned digits = wide ? 52 : 23;
        const std::uint64_t most = wide ? 0x7FF : 0xFF;
        const std::uint64_t sign = 1ull << (wide ? 63 : 31);
        for (const std::string x : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
            check({"testp." + x + "." + t + " %d, %a;", {t}, {"pred"}}, cross({edges}), [&](const row& r) {
                const std::uint64_t exponent = r[0] >> digits & most;
                const std::uint64_t fraction = r[0] & ((1ull << digits) - 1);
                const bool nan = exponent == most && fraction != 0;
                const bool hit = x == "finite"       ? exponent != most
                                 : x == "infinite"   ? exponent == most && fraction == 0
                                 : x == "number"     ? !nan
                                 : x == "notanumber" ? nan
                                 : x == "normal"
                                     ? (exponent != 0 && exponent != most) || (exponent == 0 && fraction == 0)
                                     : exponent == 0 && fraction != 0;
                return row{hit ? 1ull : 0ull};
            });
        }
        check({"copysign." + t + " %d, %a, %b;", {t, t}, {t}}, cross({edges, edges}),
              [&](const row& r) { return row{(r[0] & sign) | (r[1] & ~sign)}; });
    }
}

} // namespace
} // namespace softgpu::test
