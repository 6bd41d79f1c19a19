// SPDX-License-Identifier: MIT
// cvt of single numbers from and to f16, bf16 and tf32.
#include <gtest/gtest.h>

#include "tests/machine/half_values.hpp"

namespace softgpu::test {
namespace {

const std::vector<small_format> halves{f16, bf16};

unsigned rounded(const small_format& f, double x, direction to = direction::nearest) {
    return f.rounded(x, to, 0, std::signbit(x));
}
unsigned clipped(const small_format& f, unsigned p) { return !f.is_nan(p) && (p & f.sign()) != 0 ? 0 : p; }

std::vector<row> rows_of(const std::vector<std::uint64_t>& values) { return cross({values}); }

TEST(HalfConvert, EveryHalfToFloat) {
    const auto same_float = [](std::uint64_t expected, std::uint64_t actual) {
        return std::isnan(as_float(expected)) ? std::isnan(as_float(actual)) : expected == actual;
    };
    for (const small_format& f : halves) {
        check(
            {"cvt.f32." + f.name + " %d, %a;", {"b16"}, {"b32"}}, all_halves(),
            [&](const row& r) { return row{bits_of(static_cast<float>(f.value(r[0])))}; }, same_float);
    }
    check(
        {"cvt.f64.f16 %d, %a;", {"b16"}, {"b64"}}, all_halves(),
        [](const row& r) { return row{bits_of(f16.value(r[0]))}; },
        [](std::uint64_t expected, std::uint64_t actual) {
            return std::isnan(as_double(expected)) ? std::isnan(as_double(actual)) : expected == actual;
        });
    check({"cvt.sat.f32.f16 %d, %a;", {"b16"}, {"b32"}}, all_halves(), [](const row& r) {
        const double x = f16.value(r[0]);
        return row{bits_of(x > 0 ? std::min(1.0F, static_cast<float>(x)) : 0.0F)};
    });
}

TEST(HalfConvert, FloatToHalf) {
    for (const small_format& f : halves) {
        const std::vector<row> rows = rows_of(floats_beside(f));
        for (const auto& [name, to] : directions) {
            const direction way = to;
            check({"cvt." + name + "." + f.name + ".f32 %d, %a;", {"f32"}, {"b16"}}, rows,
                  [&, way](const row& r) { return row{rounded(f, static_cast<double>(as_float(r[0])), way)}; });
        }
        check({"cvt.rn.relu." + f.name + ".f32 %d, %a;", {"f32"}, {"b16"}}, rows,
              [&](const row& r) { return row{clipped(f, rounded(f, static_cast<double>(as_float(r[0]))))}; });
    }
    check({"cvt.rn.sat.f16.f32 %d, %a;", {"f32"}, {"b16"}}, rows_of(floats_beside(f16)), [](const row& r) {
        const double x = static_cast<double>(as_float(r[0]));
        return row{x > 0 ? rounded(f16, std::min(x, 1.0)) : 0};
    });
    for (const auto& [name, to] : directions) {
        const direction way = to;
        check({"cvt." + name + ".f16.f64 %d, %a;", {"f64"}, {"b16"}}, rows_of(double_edges()),
              [way](const row& r) { return row{rounded(f16, as_double(r[0]), way)}; });
    }
}

TEST(HalfConvert, Integers) {
    for (const small_format& f : halves) {
        for (const int_type& t : all_int_types) {
            const std::vector<row> rows = cross({int_edges(std::max(t.bits, 16u), 40)});
            for (const auto& [name, to] : directions) {
                const direction way = to;
                check({"cvt." + name + "." + f.name + "." + t.name + " %d, %a;", {t.reg()}, {"b16"}}, rows,
                      [&, way](const row& r) { return row{f.rounded(static_cast<quad>(t.number(r[0])), way)}; });
            }
        }
        // Around 2^53 and 2^63, where a double has too few places.
        std::vector<row> wide;
        for (const std::uint64_t base : {1ull << 53, 1ull << 62, 3ull << 61, 0xFFFull << 52, 0x8080ull << 47}) {
            for (std::uint64_t k = 0; k < 4; ++k) {
                wide.push_back({base + k});
                wide.push_back({base - k - 1});
            }
        }
        check({"cvt.rn." + f.name + ".u64 %d, %a;", {"b64"}, {"b16"}}, wide,
              [&](const row& r) { return row{f.rounded(static_cast<quad>(r[0]))}; });
        check({"cvt.rp." + f.name + ".u64 %d, %a;", {"b64"}, {"b16"}}, wide,
              [&](const row& r) { return row{f.rounded(static_cast<quad>(r[0]), direction::up)}; });
        for (const int_type& t : all_int_types) {
            for (const std::string mode : {"rni", "rzi", "rmi", "rpi"}) {
                check({"cvt." + mode + "." + t.name + "." + f.name + " %d, %a;", {"b16"}, {t.reg()}}, all_halves(),
                      [&](const row& r) -> std::optional<row> {
                          const double x = f.value(r[0]);
                          if (std::isnan(x)) {
                              return t.bits == 64 ? row{1ull << 63} : row{0};
                          }
                          const double i = mode == "rni"   ? std::nearbyint(x)
                                           : mode == "rzi" ? std::trunc(x)
                                           : mode == "rmi" ? std::floor(x)
                                                           : std::ceil(x);
                          const quad least = static_cast<quad>(t.least());
                          const quad most = static_cast<quad>(t.most());
                          const quad held = i < least ? least : i > most ? most : static_cast<quad>(i);
                          const int_type whole{"", t.bits < 16 ? 16u : t.bits, false};
                          return row{whole.pattern(static_cast<int128>(held))};
                      });
            }
        }
        for (const auto& [mode, function] :
             {std::pair<std::string, double (*)(double)>{"rni", [](double x) { return std::nearbyint(x); }},
              {"rzi", [](double x) { return std::trunc(x); }},
              {"rmi", [](double x) { return std::floor(x); }},
              {"rpi", [](double x) { return std::ceil(x); }}}) {
            const auto whole = function;
            check({"cvt." + mode + "." + f.name + "." + f.name + " %d, %a;", {"b16"}, {"b16"}}, all_halves(),
                  [&](const row& r) { return row{rounded(f, whole(f.value(r[0])))}; });
        }
    }
}

TEST(HalfConvert, BetweenHalves) {
    check({"cvt.rn.bf16.f16 %d, %a;", {"b16"}, {"b16"}}, all_halves(),
          [](const row& r) { return row{rounded(bf16, f16.value(r[0]))}; });
    check({"cvt.rn.f16.bf16 %d, %a;", {"b16"}, {"b16"}}, all_halves(),
          [](const row& r) { return row{rounded(f16, bf16.value(r[0]))}; });
}

TEST(HalfConvert, Tf32) {
    const std::vector<row> rows = rows_of(floats_beside(tf32));
    const auto pattern = [](unsigned p) { return tf32.is_nan(p) ? 0x7FFFFFFFu : p << 13; };
    check({"cvt.rn.tf32.f32 %d, %a;", {"f32"}, {"b32"}}, rows,
          [&](const row& r) { return row{pattern(rounded(tf32, static_cast<double>(as_float(r[0]))))}; });
    check({"cvt.rz.tf32.f32 %d, %a;", {"f32"}, {"b32"}}, rows, [&](const row& r) {
        return row{pattern(rounded(tf32, static_cast<double>(as_float(r[0])), direction::zero))};
    });
    check({"cvt.rn.relu.tf32.f32 %d, %a;", {"f32"}, {"b32"}}, rows, [&](const row& r) {
        return row{pattern(clipped(tf32, rounded(tf32, static_cast<double>(as_float(r[0])))))};
    });
    // Ties away from zero: the nearest of the two that a value just beyond the tie has.
    check({"cvt.rna.tf32.f32 %d, %a;", {"f32"}, {"b32"}}, rows, [&](const row& r) {
        const auto x = static_cast<double>(as_float(r[0]));
        const quad further = x == 0 || std::isinf(x) || (r[0] & 0x1FFF) != 0x1000 ? 0 : std::copysign(0x1p-200, x);
        return row{pattern(tf32.rounded(x, direction::nearest, further, std::signbit(x)))};
    });
}

} // namespace
} // namespace softgpu::test
