// SPDX-License-Identifier: MIT
// Operands that find mistakes, and PTX types as the references see them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/machine/kernel_harness.hpp"

namespace softgpu::test {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

// 32 random bits at a time; the standard engine's own result is wider.
class random32 {
public:
    explicit random32(std::uint32_t seed) : engine_(seed) {}
    std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }

private:
    std::mt19937 engine_;
};

// An integer type of PTX.
struct int_type {
    std::string name; // "s32"
    unsigned bits;
    bool is_signed;

    [[nodiscard]] std::string reg() const { return "b" + std::to_string(bits < 16 ? 16u : bits); }
    // The number that these low bits stand for.
    [[nodiscard]] int128 number(std::uint64_t pattern) const {
        const std::uint64_t low = truncated(pattern);
        return is_signed && (low >> (bits - 1) & 1) != 0 ? static_cast<int128>(low) - (static_cast<int128>(1) << bits)
                                                         : static_cast<int128>(low);
    }
    [[nodiscard]] std::uint64_t truncated(std::uint64_t pattern) const {
        return bits == 64 ? pattern : pattern & ((1ull << bits) - 1);
    }
    [[nodiscard]] std::uint64_t pattern(int128 value) const { return truncated(static_cast<std::uint64_t>(value)); }
    [[nodiscard]] int128 least() const { return is_signed ? -(static_cast<int128>(1) << (bits - 1)) : 0; }
    [[nodiscard]] int128 most() const { return (static_cast<int128>(1) << (is_signed ? bits - 1 : bits)) - 1; }
    [[nodiscard]] int128 clamped(int128 value) const {
        return value < least() ? least() : value > most() ? most() : value;
    }
};

inline const int_type u8{"u8", 8, false}, s8{"s8", 8, true}, u16{"u16", 16, false}, s16{"s16", 16, true},
    u32{"u32", 32, false}, s32{"s32", 32, true}, u64{"u64", 64, false}, s64{"s64", 64, true};
inline const std::vector<int_type> arithmetic_types{u16, s16, u32, s32, u64, s64};
inline const std::vector<int_type> all_int_types{u8, s8, u16, s16, u32, s32, u64, s64};

// Patterns of `bits` bits: 0, small ones of both signs, the ends of the signed and unsigned ranges, powers of two and
// their neighbours, random ones.
inline std::vector<std::uint64_t> int_edges(unsigned bits, unsigned random = 6) {
    const std::uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1;
    const std::uint64_t top = 1ull << (bits - 1);
    std::vector<std::uint64_t> v{0, 1, 2, 3, 7, all, all - 1, all - 2, top, top - 1, top + 1, top - 2, all / 3};
    for (unsigned k = 7; k + 1 < bits; k = 2 * k + 1) {
        v.push_back(1ull << k);
        v.push_back((1ull << k) - 1);
        v.push_back((1ull << k) + 1);
    }
    std::mt19937_64 engine(bits);
    for (unsigned k = 0; k < random; ++k) {
        v.push_back(engine() & all);
    }
    return v;
}

inline std::vector<std::uint64_t> float_edges() {
    std::vector<std::uint64_t> v;
    for (const std::uint32_t magnitude :
         {0u,          1u,          2u,          0x00400000u, 0x007FFFFFu, 0x00800000u, 0x00800001u,
          0x01000000u, 0x33800000u, 0x34000000u, 0x3EFFFFFFu, 0x3F000000u, 0x3F7FFFFEu, 0x3F7FFFFFu,
          0x3F800000u, 0x3F800001u, 0x3FC00000u, 0x40000000u, 0x40490FDBu, 0x4B000001u, 0x4F000000u,
          0x5F000000u, 0x7E800000u, 0x7F7FFFFFu, 0x7F800000u, 0x7FC00000u, 0x7F800001u}) {
        v.push_back(magnitude);
        v.push_back(magnitude | 0x80000000u);
    }
    random32 engine(32);
    for (unsigned k = 0; k < 8; ++k) {
        v.push_back(engine());
    }
    return v;
}

inline std::vector<std::uint64_t> double_edges() {
    std::vector<std::uint64_t> v;
    for (const std::uint64_t magnitude : {0ull,
                                          1ull,
                                          2ull,
                                          0x0008000000000000ull,
                                          0x000FFFFFFFFFFFFFull,
                                          0x0010000000000000ull,
                                          0x0010000000000001ull,
                                          0x0020000000000000ull,
                                          0x3690000000000000ull,
                                          0x3CA0000000000000ull,
                                          0x3CB0000000000000ull,
                                          0x3FDFFFFFFFFFFFFFull,
                                          0x3FE0000000000000ull,
                                          0x3FEFFFFFFFFFFFFFull,
                                          0x3FF0000000000000ull,
                                          0x3FF0000000000001ull,
                                          0x3FF8000000000000ull,
                                          0x400921FB54442D18ull,
                                          0x4330000000000001ull,
                                          0x47EFFFFFE0000000ull,
                                          0x47EFFFFFF0000000ull,
                                          0x7FE0000000000000ull,
                                          0x7FEFFFFFFFFFFFFFull,
                                          0x7FF0000000000000ull,
                                          0x7FF8000000000000ull,
                                          0x7FF0000000000001ull}) {
        v.push_back(magnitude);
        v.push_back(magnitude | 1ull << 63);
    }
    std::mt19937_64 engine(64);
    for (unsigned k = 0; k < 8; ++k) {
        v.push_back(engine());
    }
    return v;
}

// Every combination of the lists, the first slowest.
inline std::vector<row> cross(const std::vector<std::vector<std::uint64_t>>& lists) {
    std::vector<row> rows{{}};
    for (const auto& list : lists) {
        std::vector<row> longer;
        for (const row& r : rows) {
            for (const std::uint64_t v : list) {
                longer.push_back(r);
                longer.back().push_back(v);
            }
        }
        rows = std::move(longer);
    }
    return rows;
}

// Every nth of a list, so that cross products of three stay small.
inline std::vector<std::uint64_t> thinned(const std::vector<std::uint64_t>& list, std::size_t n) {
    std::vector<std::uint64_t> v;
    for (std::size_t k = 0; k < list.size(); k += n) {
        v.push_back(list[k]);
    }
    return v;
}

inline float as_float(std::uint64_t pattern) { return std::bit_cast<float>(static_cast<std::uint32_t>(pattern)); }
inline double as_double(std::uint64_t pattern) { return std::bit_cast<double>(pattern); }
inline std::uint64_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
inline std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

// PTX's comparisons of floats: the ordered ones are false for NaN, those with u true.
inline bool float_holds(const std::string& name, double a, double b) {
    const bool unordered = std::isnan(a) || std::isnan(b);
    if (name == "num" || name == "nan") {
        return (name == "nan") == unordered;
    }
    if (unordered) {
        return name.size() == 3;
    }
    const std::string plain = name.substr(0, 2);
    return plain == "eq"   ? a == b
           : plain == "ne" ? a != b
           : plain == "lt" ? a < b
           : plain == "le" ? a <= b
           : plain == "gt" ? a > b
                           : a >= b;
}
inline const std::vector<std::string> float_relations{"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                                      "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

} // namespace softgpu::test
