// SPDX-License-Identifier: MIT
// cvt in all pairs of integer and f32/f64 types, and mov with its packing and unpacking.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>

#include "tests/machine/values.hpp"

namespace softgpu::test {
namespace {

TEST(Convert, PacksOfSaturatedIntegers) {
    const std::vector<row> rows =
        cross({{0, 1, 5, 0x7F, 0x80, 0xFFFFFFFF, 0xFFFFFF80, 0xFFFFFF7F, 70000, 0x80000000}, {0, 3, 300, 0xFFFFFFFE}});
    for (const unsigned bits : {2u, 4u, 8u, 16u}) {
        for (const bool is_signed : {false, true}) {
            const auto part = [&](std::uint64_t x) {
                const std::int64_t least = is_signed ? -(1 << (bits - 1)) : 0;
                const std::int64_t most = (1 << (is_signed ? bits - 1 : bits)) - 1;
                const auto v = static_cast<std::int64_t>(static_cast<std::int32_t>(x));
                return static_cast<std::uint64_t>(std::min(std::max(v, least), most)) & ((1u << bits) - 1);
            };
            const std::string type = std::string(is_signed ? ".s" : ".u") + std::to_string(bits) + ".s32";
            const bool more = bits < 16;
            check({"cvt.pack.sat" + type + (more ? ".b32 %d, %a, %b, 0x12345678;" : " %d, %a, %b;"),
                   {"b32", "b32"},
                   {"b32"}},
                  rows, [&](const row& r) {
                      const std::uint64_t above = more ? std::uint64_t{0x12345678} << (2 * bits) & 0xFFFFFFFF : 0;
                      return row{above | part(r[0]) << bits | part(r[1])};
                  });
        }
    }
}

struct rounding {
    std::string name;
    int mode;
};
const std::vector<rounding> roundings{
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

bool same_double(std::uint64_t expected, std::uint64_t actual) {
    return std::isnan(as_double(expected)) ? std::isnan(as_double(actual)) : expected == actual;
}
bool same_single(std::uint64_t expected, std::uint64_t actual) {
    return std::isnan(as_float(expected)) ? std::isnan(as_float(actual)) : expected == actual;
}
float flushed(float x) { return std::abs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }

// A number with `digits` binary digits at most, rounded as asked: the reference for conversions to float. `value` is
// exact.
double rounded_integer(int128 value, unsigned digits, int mode) {
    const bool negative = value < 0;
    uint128 magnitude = negative ? -static_cast<uint128>(value) : static_cast<uint128>(value);
    unsigned dropped = 0;
    while (magnitude >> dropped >> digits != 0) {
        ++dropped;
    }
    uint128 kept = magnitude >> dropped;
    const uint128 rest = magnitude - (kept << dropped);
    const uint128 half = dropped == 0 ? 0 : static_cast<uint128>(1) << (dropped - 1);
    const bool up = mode == FE_TONEAREST  ? dropped != 0 && (rest > half || (rest == half && (kept & 1) != 0))
                    : mode == FE_DOWNWARD ? negative && rest != 0
                    : mode == FE_UPWARD   ? !negative && rest != 0
                                          : false;
    kept += up ? 1 : 0;
    const double d = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(kept)), static_cast<int>(dropped));
    return negative ? -d : d;
}

// The destination's register is as wide as it has to be, and wider where `wide` is set.
std::string register_for(const int_type& t, bool wide) {
    return "b" + std::to_string(std::max(t.bits, wide ? 32u : 16u));
}
unsigned bits_of_register(const std::string& reg) { return static_cast<unsigned>(std::stoul(reg.substr(1))); }
// What a register holds after a result of type t was written: extended by t's sign.
std::uint64_t extended(const int_type& t, int128 value, const std::string& reg) {
    const int_type whole{"", bits_of_register(reg), false};
    return whole.pattern(t.number(t.pattern(value)));
}

TEST(Convert, IntegerToInteger) {
    for (const int_type& from : all_int_types) {
        for (const int_type& to : all_int_types) {
            for (const bool wide : {false, true}) {
                const std::string in = register_for(from, wide);
                const std::string out = register_for(to, wide);
                const std::vector<row> rows = cross({int_edges(bits_of_register(in))});
                check({"cvt." + to.name + "." + from.name + " %d, %a;", {in}, {out}}, rows,
                      [&](const row& r) { return row{extended(to, from.number(r[0]), out)}; });
                if (from.least() >= to.least() && from.most() <= to.most()) {
                    continue; // .sat belongs only where there is something to clamp
                }
                check({"cvt.sat." + to.name + "." + from.name + " %d, %a;", {in}, {out}}, rows,
                      [&](const row& r) { return row{extended(to, to.clamped(from.number(r[0])), out)}; });
            }
        }
    }
}

TEST(Convert, IntegerToFloat) {
    for (const int_type& from : all_int_types) {
        const std::string in = register_for(from, false);
        const std::vector<row> rows = cross({int_edges(bits_of_register(in), 60)});
        for (const rounding& how : roundings) {
            check({"cvt." + how.name + ".f32." + from.name + " %d, %a;", {in}, {"f32"}}, rows, [&](const row& r) {
                return row{bits_of(static_cast<float>(rounded_integer(from.number(r[0]), 24, how.mode)))};
            });
            check({"cvt." + how.name + ".f64." + from.name + " %d, %a;", {in}, {"f64"}}, rows,
                  [&](const row& r) { return row{bits_of(rounded_integer(from.number(r[0]), 53, how.mode))}; });
        }
        check({"cvt.rn.sat.f32." + from.name + " %d, %a;", {in}, {"f32"}}, rows,
              [&](const row& r) { return row{from.number(r[0]) >= 1 ? bits_of(1.0F) : 0}; });
    }
}

double integral(const std::string& how, double x) {
    return how == "rni"   ? std::nearbyint(x)
           : how == "rzi" ? std::trunc(x)
           : how == "rmi" ? std::floor(x)
                          : std::ceil(x);
}

// Out of range clamps. NaN gives 0 from single precision to 32 bits and fewer, else the top bit alone of the result.
std::uint64_t to_integer(const int_type& to, double whole, bool double_source, const std::string& reg) {
    if (std::isnan(whole)) {
        const bool zero = !double_source && to.bits <= 32;
        return zero ? 0 : extended(to, static_cast<int128>(1) << (to.bits - 1), reg);
    }
    if (std::abs(whole) > 0x1p100) {
        return extended(to, whole < 0 ? to.least() : to.most(), reg);
    }
    return extended(to, to.clamped(static_cast<int128>(whole)), reg);
}

TEST(Convert, FloatToInteger) {
    std::vector<std::uint64_t> singles = float_edges();
    std::vector<std::uint64_t> doubles = double_edges();
    for (const double limit : {0x1p7, 0x1p8, 0x1p15, 0x1p16, 0x1p31, 0x1p32, 0x1p63, 0x1p64}) {
        for (const double x : {limit, -limit, std::nextafter(limit, 0), std::nextafter(-limit, 0), limit - 0.5,
                               limit - 1, -limit - 0.5, -limit - 1, limit + 0.5}) {
            doubles.push_back(bits_of(x));
            singles.push_back(bits_of(static_cast<float>(x)));
        }
    }
    for (const double x : {0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999, 254.5, 255.5, -128.5}) {
        doubles.push_back(bits_of(x));
        singles.push_back(bits_of(static_cast<float>(x)));
    }
    for (const int_type& to : all_int_types) {
        const std::string out = register_for(to, false);
        for (const std::string how : {"rni", "rzi", "rmi", "rpi"}) {
            for (const bool flush : {false, true}) {
                check({"cvt." + how + (flush ? ".ftz." : ".") + to.name + ".f32 %d, %a;", {"f32"}, {out}},
                      cross({singles}), [&](const row& r) {
                          const float x = flush ? flushed(as_float(r[0])) : as_float(r[0]);
                          return row{to_integer(to, integral(how, static_cast<double>(x)), false, out)};
                      });
            }
            check({"cvt." + how + "." + to.name + ".f64 %d, %a;", {"f64"}, {out}}, cross({doubles}),
                  [&](const row& r) { return row{to_integer(to, integral(how, as_double(r[0])), true, out)}; });
        }
        check({"cvt.rzi.sat." + to.name + ".f32 %d, %a;", {"f32"}, {out}}, cross({singles}), [&](const row& r) {
            return row{to_integer(to, std::trunc(static_cast<double>(as_float(r[0]))), false, out)};
        });
    }
}

// The nearest singles on both sides of a double decide every rounding.
float narrowed(double x, int mode) {
    const auto nearest = static_cast<float>(x);
    if (std::isnan(x) || static_cast<double>(nearest) == x || mode == FE_TONEAREST) {
        return nearest;
    }
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float below = static_cast<double>(nearest) < x ? nearest : std::nextafter(nearest, -infinity);
    const float above = static_cast<double>(nearest) > x ? nearest : std::nextafter(nearest, infinity);
    const bool down = mode == FE_DOWNWARD || (mode == FE_TOWARDZERO && x > 0);
    return down ? below : above;
}

// .ftz takes a result away that is less than 2^-126 when rounded to 24 bits as if exponents had no end.
bool is_tiny(double x, int mode) { return std::abs(narrowed(x * 0x1p64, mode)) < 0x1p-62F; }

TEST(Convert, FloatToFloat) {
    std::vector<std::uint64_t> doubles = double_edges();
    for (const std::uint64_t s : float_edges()) {
        const double x = static_cast<double>(as_float(s));
        for (const double near :
             {x, std::nextafter(x, 1e300), std::nextafter(x, -1e300), x * (1 + 0x1p-24), x * (1 + 0x1p-25)}) {
            doubles.push_back(bits_of(near));
        }
    }
    for (const double tiny : {0x1p-149, 0x1.8p-149, 0x1p-150, 0x1.1p-150, 0x1p-151, 0x1.FFFFFFp-127, 0x1.FFFFFCp-127}) {
        doubles.push_back(bits_of(tiny));
        doubles.push_back(bits_of(-tiny));
    }
    for (const rounding& how : roundings) {
        for (const bool flush : {false, true}) {
            for (const bool saturate : {false, true}) {
                check(
                    {"cvt." + how.name + (flush ? ".ftz" : "") + (saturate ? ".sat" : "") + ".f32.f64 %d, %a;",
                     {"f64"},
                     {"f32"}},
                    cross({doubles}),
                    [&](const row& r) {
                        float d = narrowed(as_double(r[0]), how.mode);
                        d = flush && is_tiny(as_double(r[0]), how.mode) ? std::copysign(0.0F, d) : d;
                        if (saturate) {
                            d = d > 0 ? std::min(d, 1.0F) : 0.0F;
                        }
                        return row{bits_of(d)};
                    },
                    same_single);
            }
        }
    }
    for (const bool flush : {false, true}) {
        const auto in = [flush](const row& r) { return flush ? flushed(as_float(r[0])) : as_float(r[0]); };
        const std::string ftz = flush ? ".ftz" : "";
        check(
            {"cvt" + ftz + ".f64.f32 %d, %a;", {"f32"}, {"f64"}}, cross({float_edges()}),
            [&](const row& r) { return row{bits_of(static_cast<double>(in(r)))}; }, same_double);
        check({"cvt" + ftz + ".sat.f32.f32 %d, %a;", {"f32"}, {"f32"}}, cross({float_edges()}),
              [&](const row& r) { return row{bits_of(in(r) > 0 ? std::min(in(r), 1.0F) : 0.0F)}; });
        for (const std::string how : {"rni", "rzi", "rmi", "rpi"}) {
            check(
                {"cvt." + how + ftz + ".f32.f32 %d, %a;", {"f32"}, {"f32"}}, cross({float_edges()}),
                [&](const row& r) {
                    return row{bits_of(static_cast<float>(integral(how, static_cast<double>(in(r)))))};
                },
                same_single);
        }
    }
    for (const std::string how : {"rni", "rzi", "rmi", "rpi"}) {
        check(
            {"cvt." + how + ".f64.f64 %d, %a;", {"f64"}, {"f64"}}, cross({double_edges()}),
            [&](const row& r) { return row{bits_of(integral(how, as_double(r[0])))}; }, same_double);
    }
}

TEST(Convert, Moves) {
    for (const unsigned bits : {16u, 32u, 64u}) {
        const std::string b = "b" + std::to_string(bits);
        check({"mov." + b + " %d, %a;", {b}, {b}}, cross({int_edges(bits)}), [](const row& r) { return r; });
        check({"mov.u" + std::to_string(bits) + " %d, 77;", {b}, {b}}, cross({int_edges(bits)}),
              [](const row&) { return row{77}; });
        check({"mov.s" + std::to_string(bits) + " %d, -2;", {b}, {b}}, cross({int_edges(bits)}), [&](const row&) {
            return row{int_type{"", bits, false}.pattern(-2)};
        });
    }
    check({"mov.f32 %d, 0f40490FDB;", {"f32"}, {"f32"}}, {{0}}, [](const row&) { return row{0x40490FDB}; });
    check({"mov.f64 %d, 0d400921FB54442D18;", {"f64"}, {"f64"}}, {{0}},
          [](const row&) { return row{0x400921FB54442D18}; });
    check({"mov.b32 %d, %a;", {"f32"}, {"b32"}}, cross({float_edges()}), [](const row& r) { return r; });
}

TEST(Convert, PackingAndUnpacking) {
    const std::vector<row> words = cross({int_edges(32), int_edges(32)});
    check({"mov.b64 %d, {%a, %b};", {"b32", "b32"}, {"b64"}}, words,
          [](const row& r) { return row{r[1] << 32 | r[0]}; });
    check({"mov.b64 {%d, %f}, %a;", {"b64"}, {"b32", "b32"}}, cross({int_edges(64)}), [](const row& r) {
        return row{r[0] & 0xFFFFFFFF, r[0] >> 32};
    });
    check({"mov.b64 {_, %d}, %a;", {"b64"}, {"b32"}}, cross({int_edges(64)}),
          [](const row& r) { return row{r[0] >> 32}; });
    check({"mov.b64 {%d, _}, %a;", {"b64"}, {"b32"}}, cross({int_edges(64)}),
          [](const row& r) { return row{r[0] & 0xFFFFFFFF}; });
    const std::vector<row> halves = cross({int_edges(16), int_edges(16)});
    check({"mov.b32 %d, {%a, %b};", {"b16", "b16"}, {"b32"}}, halves,
          [](const row& r) { return row{r[1] << 16 | r[0]}; });
    check({"mov.b32 {%d, %f}, %a;", {"b32"}, {"b16", "b16"}}, cross({int_edges(32)}), [](const row& r) {
        return row{r[0] & 0xFFFF, r[0] >> 16};
    });
    check({"mov.b64 %d, {%a, %b, %c, %e};", {"b16", "b16", "b16", "b16"}, {"b64"}},
          cross({thinned(int_edges(16), 4), thinned(int_edges(16), 4), thinned(int_edges(16), 4), {1, 0x8000}}),
          [](const row& r) { return row{r[3] << 48 | r[2] << 32 | r[1] << 16 | r[0]}; });
    check({"mov.b64 {%h0, %d, %h1, %f}, %a;", {"b64"}, {"b16", "b16"}}, cross({int_edges(64)}), [](const row& r) {
        return row{r[0] >> 16 & 0xFFFF, r[0] >> 48};
    });
    const std::vector<row> bytes = cross({{0, 1, 0x7F}, {0x80, 0xFF}, {0x12, 0xFE}, {0, 0x81}});
    check({"cvt.u8.u16 %b0, %a; cvt.u8.u16 %b1, %b; cvt.u8.u16 %b2, %c; cvt.u8.u16 %b3, %e; mov.b32 "
           "%d, {%b0, %b1, %b2, %b3};",
           {"b16", "b16", "b16", "b16"},
           {"b32"}},
          bytes, [](const row& r) { return row{r[3] << 24 | r[2] << 16 | r[1] << 8 | r[0]}; });
    check({"mov.b32 {%b0, %b1, _, %b3}, %a; cvt.s32.s8 %d, %b1; cvt.u32.u8 %f, %b3;", {"b32"}, {"b32", "b32"}},
          cross({int_edges(32)}), [](const row& r) {
              return row{static_cast<std::uint32_t>(static_cast<std::int8_t>(r[0] >> 8)), r[0] >> 24 & 0xFF};
          });
    check({"mov.b16 {%b0, %b1}, %a; mov.b16 %d, {%b1, %b0};", {"b16"}, {"b16"}}, cross({int_edges(16)}),
          [](const row& r) { return row{(r[0] << 8 | r[0] >> 8) & 0xFFFF}; });
    // Destinations that are also sources.
    check({"mov.b64 %rd9, {%a, %b}; mov.b64 {%b, %a}, %rd9; mov.b32 %d, %a; mov.b32 %f, %b;",
           {"b32", "b32"},
           {"b32", "b32"}},
          words, [](const row& r) {
              return row{r[1], r[0]};
          });
}

} // namespace
} // namespace softgpu::test
