// SPDX-License-Identifier: MIT
// Numbers of 16 bits and less as the references see them: what a pattern is worth, and rounding by comparing with the
// neighbours, in quadruple precision.
#pragma once

#include "tests/machine/values.hpp"

namespace softgpu::test {

__extension__ using quad = __float128;

enum class direction { nearest, zero, down, up };
inline const std::vector<std::pair<std::string, direction>> directions{
    {"rn", direction::nearest}, {"rz", direction::zero}, {"rm", direction::down}, {"rp", direction::up}};

struct small_format {
    std::string name;
    int fraction;
    int least; // exponent of the least normal number
    unsigned bits;
    unsigned infinity; // the pattern behind the largest finite number
    unsigned nan;

    [[nodiscard]] unsigned sign() const { return 1u << (bits - 1); }
    [[nodiscard]] bool is_nan(std::uint64_t p) const {
        return infinity == nan ? (p & (sign() - 1)) == nan : (p & (sign() - 1)) > infinity;
    }
    [[nodiscard]] double value(std::uint64_t pattern) const {
        const auto m = static_cast<unsigned>(pattern) & (sign() - 1);
        double v = 0;
        if (is_nan(pattern)) {
            return std::nan("");
        }
        if (m >= infinity) {
            v = INFINITY;
        } else if (m >> fraction == 0) {
            v = std::ldexp(m, least - fraction);
        } else {
            const unsigned inside = (m & ((1u << fraction) - 1)) | 1u << fraction;
            v = std::ldexp(inside, static_cast<int>(m >> fraction) - 1 + least - fraction);
        }
        return (pattern & sign()) != 0 ? -v : v;
    }
    // The pattern of v + error, where |error| is less than what separates v from any number that matters.
    [[nodiscard]] unsigned rounded(quad v, direction to = direction::nearest, quad error = 0,
                                   bool negative_zero = false) const {
        if (v != v) {
            return nan;
        }
        const bool negative = v < 0 || (v == 0 && (error < 0 || (error == 0 && negative_zero)));
        const quad m = v < 0 ? -v : v;
        const quad beyond = negative ? -error : error; // positive: more than m
        // The largest pattern that is not above m, by bisection.
        unsigned low = 0;
        unsigned high = infinity; // value(high) > m, or there is nothing between
        while (high - low > 1) {
            const unsigned middle = (low + high) / 2;
            (static_cast<quad>(value(middle)) <= m ? low : high) = middle;
        }
        if (std::isinf(static_cast<double>(m)) && m > 0x1p600) {
            return infinity | (negative ? sign() : 0);
        }
        const quad below = value(low);
        const bool exact = below == m && beyond == 0;
        const bool under = below == m && beyond < 0; // just below `low`
        if (under) {
            low -= 1;
        }
        bool away = false;
        switch (to) {
        case direction::nearest: {
            const quad from = value(low);
            // Behind the largest number comes what would be next if exponents had no end.
            const quad next = low + 1 == infinity ? from + (from - static_cast<quad>(value(low - 1)))
                                                  : static_cast<quad>(value(low + 1));
            const quad half = (from + next) / 2;
            away = m > half || (m == half && (beyond > 0 || (beyond == 0 && (low & 1) != 0)));
            break;
        }
        case direction::zero: break;
        case direction::down: away = negative && !exact; break;
        case direction::up: away = !negative && !exact; break;
        }
        return (low + (away && !exact ? 1 : 0)) | (negative ? sign() : 0);
    }
};

inline const small_format f16{"f16", 10, -14, 16, 0x7C00, 0x7FFF};
inline const small_format bf16{"bf16", 7, -126, 16, 0x7F80, 0x7FFF};
inline const small_format e4m3{"e4m3", 3, -6, 8, 0x7F, 0x7F};
inline const small_format e5m2{"e5m2", 2, -14, 8, 0x7C, 0x7F};
// Numbers only: their NaN is no pattern of theirs.
inline const small_format e3m2{"e3m2", 2, -2, 6, 0x20, 0x20};
inline const small_format e2m3{"e2m3", 3, 0, 6, 0x20, 0x20};
inline const small_format e2m1{"e2m1", 1, 0, 4, 0x8, 0x8};
inline const small_format tf32{"tf32", 10, -126, 19, 0x3FC00, 0x3FFFF};

// All patterns of 16 bits.
inline std::vector<row> all_halves() {
    std::vector<row> rows;
    for (std::uint64_t p = 0; p < 0x10000; ++p) {
        rows.push_back({p});
    }
    return rows;
}

inline std::vector<std::uint64_t> half_edges(const small_format& f) {
    const std::uint64_t one = static_cast<std::uint64_t>(-f.least + 1) << f.fraction;
    const std::uint64_t least = 1ull << f.fraction;
    std::vector<std::uint64_t> v;
    for (const std::uint64_t m : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, least - 1, least, least + 1,
                                  one - 1, one, one + 1, one + least / 2, one + least - 1, one + least, one - 3 * least,
                                  one + 7 * least + 3, std::uint64_t{f.infinity} - 1, std::uint64_t{f.infinity} - 2,
                                  std::uint64_t{f.infinity}, std::uint64_t{f.infinity} + 1, std::uint64_t{f.nan}}) {
        v.push_back(m);
        v.push_back(m | f.sign());
    }
    random32 engine(static_cast<std::uint32_t>(f.fraction));
    for (unsigned k = 0; k < 12; ++k) {
        v.push_back(engine() & 0xFFFF);
    }
    return v;
}

// Floats at and beside the ties between neighbours of the format, and the usual edges.
inline std::vector<std::uint64_t> floats_beside(const small_format& f) {
    std::vector<std::uint64_t> v = float_edges();
    const unsigned step = f.bits > 8 ? 211 : 1;
    for (unsigned p = 0; p + 1 < f.infinity; p += step) {
        const auto middle = static_cast<float>((f.value(p) + f.value(p + 1)) / 2);
        for (const float x :
             {static_cast<float>(f.value(p)), middle, std::nextafterf(middle, 0), std::nextafterf(middle, INFINITY)}) {
            v.push_back(bits_of(x));
            v.push_back(bits_of(-x));
        }
    }
    const auto most = static_cast<float>(f.value(f.infinity - 1));
    const float half_unit = (most - static_cast<float>(f.value(f.infinity - 2))) / 2;
    for (const float x : {most, most + half_unit, std::nextafterf(most + half_unit, 0), most + 2 * half_unit}) {
        v.push_back(bits_of(x));
        v.push_back(bits_of(-x));
    }
    return v;
}

} // namespace softgpu::test
