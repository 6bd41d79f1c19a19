// SPDX-License-Identifier: MIT
// cvt of two or four numbers at a time: halves, and floats of 8 bits and fewer.
#include <gtest/gtest.h>

#include <functional>

#include "tests/machine/half_values.hpp"

namespace softgpu::test {
namespace {

unsigned rounded(const small_format& f, double x, direction to = direction::nearest) {
    return f.rounded(x, to, 0, std::signbit(x));
}
bool has_numbers_only(const small_format& f) { return f.infinity == f.sign(); }
// .satfinite: what is larger than the largest number is that number, and so is a NaN that the format does not have.
unsigned finite(const small_format& f, double x, direction to = direction::nearest) {
    if (std::isnan(x)) {
        return has_numbers_only(f) ? f.infinity - 1 : f.nan;
    }
    const double most = f.value(f.infinity - 1);
    return rounded(f, std::abs(x) > most ? std::copysign(most, x) : x, to);
}
unsigned clipped(const small_format& f, unsigned p) { return !f.is_nan(p) && (p & f.sign()) != 0 ? 0 : p; }
unsigned slot_of(const small_format& f) { return f.bits == 6 ? 8 : f.bits; }
std::string pair_register(const small_format& f) { return f.bits == 16 ? "b32" : f.bits == 4 ? "b8" : "b16"; }

double number(std::uint64_t pattern) { return static_cast<double>(as_float(pattern)); }

// Each value with the one that stands as far from the end.
std::vector<row> pairs_of(const std::vector<std::uint64_t>& values) {
    std::vector<row> rows;
    for (std::size_t n = 0; n < values.size(); ++n) {
        rows.push_back({values[n], values[values.size() - 1 - n]});
    }
    return rows;
}

// `one` of each operand, the first in the upper part.
reference packed(const small_format& f, const std::function<unsigned(double)>& one) {
    return [&f, one](const row& r) { return row{std::uint64_t{one(number(r[0]))} << slot_of(f) | one(number(r[1]))}; };
}

// The results of 4 and 8 bits leave the rest of the register 0.
operation conversion(const std::string& modes, const small_format& f) {
    const std::string type = pair_register(f);
    if (type != "b8") {
        return {"cvt." + modes + "." + f.name + "x2.f32 %d, %a, %b;", {"f32", "f32"}, {type}};
    }
    return {"cvt." + modes + "." + f.name + "x2.f32 %narrow, %a, %b; cvt.u16.u8 %d, %narrow;",
            {"f32", "f32"},
            {"b16"},
            ".reg .b8 %narrow;"};
}

TEST(PackedConvert, FloatsToHalves) {
    for (const small_format& f : {f16, bf16}) {
        const std::vector<row> rows = pairs_of(floats_beside(f));
        for (const auto& [name, to] : {directions[0], directions[1]}) {
            const direction way = to;
            check(conversion(name, f), rows, packed(f, [&, way](double x) { return rounded(f, x, way); }));
            check(conversion(name + ".satfinite", f), rows,
                  packed(f, [&, way](double x) { return finite(f, x, way); }));
        }
        check(conversion("rn.relu", f), rows, packed(f, [&](double x) { return clipped(f, rounded(f, x)); }));
    }
}

TEST(PackedConvert, FloatsToSmallerFloats) {
    for (const small_format& f : {e4m3, e5m2, e3m2, e2m3, e2m1}) {
        const std::vector<row> rows = pairs_of(floats_beside(f));
        check(conversion("rn.satfinite", f), rows, packed(f, [&](double x) { return finite(f, x); }));
        check(conversion("rn.satfinite.relu", f), rows, packed(f, [&](double x) { return clipped(f, finite(f, x)); }));
    }
}

TEST(PackedConvert, HalvesToSmallerFloats) {
    std::vector<row> halves_twice;
    for (std::uint64_t p = 0; p < 0x10000; ++p) {
        halves_twice.push_back({p << 16 | (0xFFFF - p)});
    }
    for (const small_format& f : {e4m3, e5m2}) {
        check({"cvt.rn.satfinite." + f.name + "x2.f16x2 %d, %a;", {"b32"}, {"b16"}}, halves_twice, [&](const row& r) {
            return row{std::uint64_t{finite(f, f16.value(r[0] >> 16))} << 8 | finite(f, f16.value(r[0] & 0xFFFF))};
        });
    }
    check({"cvt.rn.satfinite.e2m1x2.f16x2 %narrow, %a; cvt.u16.u8 %d, %narrow;", {"b32"}, {"b16"}, ".reg .b8 %narrow;"},
          halves_twice, [&](const row& r) {
              return row{finite(e2m1, f16.value(r[0] >> 16)) << 4 | finite(e2m1, f16.value(r[0] & 0xFFFF))};
          });
}

TEST(PackedConvert, SmallerFloatsToHalves) {
    for (const small_format& f : {e4m3, e5m2, e3m2, e2m3, e2m1}) {
        const unsigned slot = slot_of(f);
        const unsigned mask = (1u << f.bits) - 1;
        std::vector<row> rows;
        for (std::uint64_t high = 0; high <= mask; ++high) {
            for (std::uint64_t low = 0; low <= mask; ++low) {
                rows.push_back({high << slot | low});
            }
        }
        const auto both = [&](const row& r, const std::function<unsigned(double)>& one) {
            return row{std::uint64_t{one(f.value(r[0] >> slot & mask))} << 16 | one(f.value(r[0] & mask))};
        };
        const std::string from = f.bits == 4 ? "x2 %d, %narrow;" : "x2 %d, %a;";
        const std::string before = f.bits == 4 ? ".reg .b8 %narrow; cvt.u8.u16 %narrow, %a;" : "";
        check({"cvt.rn.f16x2." + f.name + from, {"b16"}, {"b32"}, before}, rows,
              [&](const row& r) { return both(r, [](double x) { return rounded(f16, x); }); });
        check({"cvt.rn.relu.f16x2." + f.name + from, {"b16"}, {"b32"}, before}, rows,
              [&](const row& r) { return both(r, [](double x) { return clipped(f16, rounded(f16, x)); }); });
    }
}

// Powers of two of 8 bits: 2^-127 is 0, 2^127 is 0xFE, NaN 0xFF.
unsigned scale(double x, bool up, bool stays_finite) {
    const double m = std::abs(x);
    if (std::isnan(m) || m > 0x1p127) {
        const bool large = !std::isnan(m) && (up || m >= 0x1p128);
        return std::isnan(m) || (large && !stays_finite) ? 0xFF : 0xFE;
    }
    unsigned least = 0; // the first power that is not less than m
    while (std::ldexp(1.0, static_cast<int>(least) - 127) < m) {
        ++least;
    }
    const bool exact = std::ldexp(1.0, static_cast<int>(least) - 127) == m;
    return up || exact || least == 0 ? least : least - 1;
}

TEST(PackedConvert, Scales) {
    std::vector<std::uint64_t> values = float_edges();
    for (std::uint64_t exponent = 0; exponent < 256; ++exponent) {
        for (const std::uint64_t fraction : {0u, 1u, 0x3FFFFFu, 0x400000u, 0x400001u, 0x7FFFFFu}) {
            values.push_back(exponent << 23 | fraction);
            values.push_back(1ull << 31 | exponent << 23 | fraction);
        }
    }
    std::vector<row> halves_twice;
    for (std::uint64_t p = 0; p < 0x10000; ++p) {
        halves_twice.push_back({p << 16 | (0xFFFF - p)});
    }
    for (const bool up : {false, true}) {
        for (const bool stays_finite : {false, true}) {
            const auto one = [=](double x) { return scale(x, up, stays_finite); };
            const std::string name = std::string("cvt.") + (up ? "rp" : "rz") + (stays_finite ? ".satfinite" : "");
            check({name + ".ue8m0x2.f32 %d, %a, %b;", {"f32", "f32"}, {"b16"}}, pairs_of(values),
                  [&](const row& r) { return row{one(number(r[0])) << 8 | one(number(r[1]))}; });
            check({name + ".ue8m0x2.bf16x2 %d, %a;", {"b32"}, {"b16"}}, halves_twice,
                  [&](const row& r) { return row{one(bf16.value(r[0] >> 16)) << 8 | one(bf16.value(r[0] & 0xFFFF))}; });
        }
    }
    check({"cvt.rn.bf16x2.ue8m0x2 %d, %a;", {"b16"}, {"b32"}}, all_halves(), [](const row& r) {
        const auto value = [](std::uint64_t p) {
            return p == 0xFF ? bf16.nan : bf16.rounded(std::ldexp(1.0, static_cast<int>(p) - 127));
        };
        return row{std::uint64_t{value(r[0] >> 8)} << 16 | value(r[0] & 0xFF)};
    });
}

// .rs: the larger magnitude if the first `bits` bits of what is dropped and the random bits have a sum of one unit or more.
unsigned drawn(const small_format& f, double x, std::uint64_t random, unsigned bits, bool stays_finite) {
    const auto end = [&](double y) { return stays_finite ? finite(f, y) : rounded(f, y); };
    const double m = std::abs(x);
    const double most = f.value(f.infinity - 1);
    if (!(m < 2 * most)) {
        return end(x);
    }
    unsigned below = 0; // the last number that is not larger
    while (below + 1 < f.infinity && f.value(below + 1) <= m) {
        ++below;
    }
    const double from = f.value(below);
    const double unit = below + 1 < f.infinity ? f.value(below + 1) - from : from - f.value(below - 1);
    const auto dropped =
        static_cast<std::uint64_t>(std::floor((m - from) / unit * std::ldexp(1.0, static_cast<int>(bits))));
    const bool away = dropped + (random & ((1u << bits) - 1)) >= 1ull << bits;
    return end(std::copysign(away ? from + unit : from, x));
}

TEST(PackedConvert, RandomRounding) {
    random32 engine(7);
    for (const small_format& f : {f16, bf16}) {
        const unsigned bits = f.name == "f16" ? 13 : 16;
        std::vector<row> rows;
        for (row r : pairs_of(thinned(floats_beside(f), 7))) {
            for (const std::uint64_t random : {std::uint64_t{0}, std::uint64_t{0xFFFFFFFF}, std::uint64_t{engine()}}) {
                rows.push_back({r[0], r[1], random});
            }
        }
        for (const bool stays_finite : {false, true}) {
            check({std::string("cvt.rs") + (stays_finite ? ".satfinite." : ".") + f.name + "x2.f32 %d, %a, %b, %c;",
                   {"f32", "f32", "b32"},
                   {"b32"}},
                  rows, [&](const row& r) {
                      return row{std::uint64_t{drawn(f, number(r[0]), r[2] >> 16, bits, stays_finite)} << 16 |
                                 drawn(f, number(r[1]), r[2], bits, stays_finite)};
                  });
        }
    }
    for (const small_format& f : {e4m3, e5m2, e3m2, e2m3, e2m1}) {
        const std::vector<std::uint64_t> values = floats_beside(f);
        std::vector<row> rows;
        for (std::size_t n = 0; n < values.size(); ++n) {
            rows.push_back({values[n], values[values.size() - 1 - n], values[(n * 7) % values.size()], engine()});
        }
        const bool is_four = f.bits == 4;
        const unsigned slot = slot_of(f);
        const auto expected = [&](const row& r, bool clip) {
            const unsigned shifts[] = {is_four ? 24u : 16u, is_four ? 8u : 16u, is_four ? 16u : 0u, 0u};
            std::uint64_t all = 0;
            for (std::size_t k = 0; k < 4; ++k) {
                const double x = number(k == 3 ? r[0] : r[k]); // %a is the first and the last
                const unsigned p = drawn(f, x, r[3] >> shifts[k], is_four ? 8 : 16, true);
                all = all << slot | (clip ? clipped(f, p) : p);
            }
            return row{all};
        };
        for (const bool clip : {false, true}) {
            check({std::string("cvt.rs") + (clip ? ".relu" : "") + ".satfinite." + f.name +
                       "x4.f32 %d, {%a, %b, %c, %a}, %e;",
                   {"f32", "f32", "f32", "b32"},
                   {is_four ? "b16" : "b32"}},
                  rows, [&](const row& r) { return expected(r, clip); });
        }
    }
}

} // namespace
} // namespace softgpu::test
