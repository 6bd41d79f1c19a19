// SPDX-License-Identifier: MIT
// The long accumulator: an integer wide enough for every sum of floating-point numbers, or of products of two, and its
// rounding. It is stored as 64-bit limbs that overlap: limb k has weight 2^(32 k), so additions need no carries.
// Integer addition is associative, so exact sums do not depend on the order.
//
// U. Kulisch, W. Miranker: Computer Arithmetic in Theory and Practice, 1981.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/portable.hpp"

namespace warpfold::detail {

// The IEEE 754 binary formats: a finite number is an integer of `fraction` + 1 bits times 2^(lowest + k), k >= 0.
template <class T>
struct ieee;
template <>
struct ieee<float> {
    using bits = std::uint32_t;
    static constexpr int fraction = 23;
    static constexpr int lowest = -149;
    static constexpr int highest = 128;      // all finite numbers are below 2^highest
    static constexpr unsigned special = 255; // exponent field of infinities and NaN
};
template <>
struct ieee<double> {
    using bits = std::uint64_t;
    static constexpr int fraction = 52;
    static constexpr int lowest = -1074;
    static constexpr int highest = 1024;
    static constexpr unsigned special = 2047;
};

// The accumulator of up to 2^64 terms, each the product of `Factors` (1 or 2) numbers of type T. Bit 0 of limb 0 is
// 2^lowest.
template <class T, unsigned Factors>
struct exact_layout {
    static constexpr int lowest = static_cast<int>(Factors) * ieee<T>::lowest;
    static constexpr int highest = static_cast<int>(Factors) * ieee<T>::highest;
    static constexpr unsigned limbs = static_cast<unsigned>(highest - lowest + 64 + 31) / 32 + 1;
};

// Special values met; their effect on the result does not depend on the order either.
enum : unsigned { met_nan = 1, met_infinity = 2, met_minus_infinity = 4 };

// A number in parts: mantissa * 2^(place + ieee<T>::lowest), or a special value.
template <class T>
struct number_parts {
    std::uint64_t mantissa;
    unsigned place;
    bool negative;
    bool special;
    bool nan;
};

template <class T>
WARPFOLD_HD constexpr number_parts<T> parts_of(T x) {
    using format = ieee<T>;
    const std::uint64_t bits = __builtin_bit_cast(typename format::bits, x);
    const auto exponent = static_cast<unsigned>(bits >> format::fraction) & format::special;
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << format::fraction) - 1);
    const std::uint64_t leading = exponent != 0 ? std::uint64_t{1} << format::fraction : 0;
    return {fraction | leading, exponent != 0 ? exponent - 1 : 0, bits >> (sizeof(T) * 8 - 1) != 0,
            exponent == format::special, exponent == format::special && fraction != 0};
}

// Adds v * 2^place. add(limb, part) is called for three limbs, with 0 <= part < 2^32 for the lower two and |part| <
// 2^32 for the highest. A limb holds 2^31 of them, one less after each carry pass.
template <class Add>
WARPFOLD_HD constexpr void add_integer(std::int64_t v, unsigned place, const Add& add) {
    const unsigned limb = place / 32, shift = place % 32;
    const std::int64_t rest = v >> (32 - shift);
    add(limb, static_cast<std::int64_t>((static_cast<std::uint64_t>(v) << shift) & 0xffffffffu));
    add(limb + 1, rest & 0xffffffff);
    add(limb + 2, rest >> 32);
}

// Adds the parts to limbs, in one thread.
struct to_limbs {
    WARPFOLD_HD constexpr void operator()(unsigned k, std::int64_t what) const { limb[k] += what; }

    std::int64_t* limb;
};

// Adds the term x, or notes in `met` which special value it is.
template <class T, class Add>
WARPFOLD_HD constexpr void add_term(T x, const Add& add, unsigned& met) {
    const number_parts<T> p = parts_of(x);
    if (p.special) {
        met |= p.nan ? met_nan : (p.negative ? met_minus_infinity : met_infinity);
        return;
    }
    const auto mantissa = static_cast<std::int64_t>(p.mantissa);
    add_integer(p.negative ? -mantissa : mantissa, p.place, add);
}

// Adds the term a * b.
template <class T, class Add>
WARPFOLD_HD constexpr void add_term(T a, T b, const Add& add, unsigned& met) {
    const number_parts<T> p = parts_of(a), q = parts_of(b);
    const bool negative = p.negative != q.negative;
    if (p.special || q.special) {
        const bool product_is_nan = p.nan || q.nan || p.mantissa == 0 || q.mantissa == 0;
        met |= product_is_nan ? met_nan : (negative ? met_minus_infinity : met_infinity);
        return;
    }
    const unsigned place = p.place + q.place;
    if constexpr (sizeof(T) == 4) {
        const auto mantissa = static_cast<std::int64_t>(p.mantissa * q.mantissa);
        add_integer(negative ? -mantissa : mantissa, place, add);
    } else {
        const uint128 mantissa = static_cast<uint128>(p.mantissa) * q.mantissa; // below 2^106
        const auto low = static_cast<std::int64_t>(mantissa & ((std::uint64_t{1} << 53) - 1));
        const auto high = static_cast<std::int64_t>(mantissa >> 53);
        add_integer(negative ? -low : low, place, add);
        add_integer(negative ? -high : high, place + 53, add);
    }
}

// Carries until each limb is in [0, 2^32), as the magnitude of the sum. Returns true if the sum is negative.
// |sum| < 2^(32 count - 1).
WARPFOLD_HD constexpr bool to_magnitude(std::int64_t* limb, unsigned count) {
    constexpr std::int64_t low_half = 0xffffffff;
    std::int64_t carry = 0;
    for (unsigned k = 0; k < count; ++k) {
        const std::int64_t v = limb[k] + carry;
        limb[k] = v & low_half;
        carry = v >> 32;
    }
    const bool negative = carry < 0;
    if (negative) {
        carry = 1;
        for (unsigned k = 0; k < count; ++k) {
            const std::int64_t v = (~limb[k] & low_half) + carry;
            limb[k] = v & low_half;
            carry = v >> 32;
        }
    }
    return negative;
}

// The number of limbs without those above the highest one that is not zero.
WARPFOLD_HD constexpr unsigned used_limbs(const std::int64_t* limb, unsigned count) {
    while (count != 0 && limb[count - 1] == 0) {
        --count;
    }
    return count;
}

// A magnitude as of to_magnitude(), and its sign, rounded to nearest, ties to even; infinity on overflow; +0 for zero. Bit
// 0 of limb 0 is 2^lowest; either lowest <= ieee<T>::lowest, or the magnitude has more bits than the format.
template <class T>
WARPFOLD_HD constexpr T rounded_magnitude(const std::int64_t* limb, unsigned count, int lowest, bool negative) {
    using format = ieee<T>;
    const unsigned used = used_limbs(limb, count);
    if (used == 0) {
        return __builtin_bit_cast(T, typename format::bits{0});
    }
    const auto at = [&](unsigned k) { return k < used ? static_cast<std::uint64_t>(limb[k]) : std::uint64_t{0}; };
    int highest_bit = static_cast<int>(used) * 32 - 1;
    for (std::uint64_t top = at(used - 1); (top >> 31) == 0; top <<= 1) {
        --highest_bit;
    }
    // The place of the result's last bit: all bits below it are rounded.
    const int cut = highest_bit - format::fraction > format::lowest - lowest ? highest_bit - format::fraction
                                                                             : format::lowest - lowest;
    const auto word = static_cast<unsigned>(cut) / 32, shift = static_cast<unsigned>(cut) % 32;
    std::uint64_t mantissa = (at(word) | at(word + 1) << 32) >> shift;
    if (shift != 0) {
        mantissa |= at(word + 2) << (64 - shift);
    }
    if (cut != 0) {
        const unsigned half = static_cast<unsigned>(cut) - 1;
        const std::uint64_t below = at(half / 32) & ((std::uint64_t{1} << (half % 32)) - 1);
        if ((at(half / 32) >> (half % 32) & 1) != 0) {
            bool more = below != 0 || (mantissa & 1) != 0;
            for (unsigned k = 0; k < half / 32 && !more; ++k) {
                more = at(k) != 0;
            }
            mantissa += more ? 1 : 0;
        }
    }
    // The leading bit, if there is one, adds one to the exponent field; so does a carry of the rounding.
    const int scale = cut + lowest - format::lowest;
    std::uint64_t bits = std::uint64_t{format::special} << format::fraction;
    if (scale < static_cast<int>(format::special)) {
        const std::uint64_t finite = (static_cast<std::uint64_t>(scale) << format::fraction) + mantissa;
        bits = finite < bits ? finite : bits;
    }
    bits |= static_cast<std::uint64_t>(negative) << (sizeof(T) * 8 - 1);
    return __builtin_bit_cast(T, static_cast<typename format::bits>(bits));
}

// The sum of the limbs, rounded in the same way. Destroys the limbs. |sum| < 2^(32 count - 1).
template <class T>
WARPFOLD_HD constexpr T rounded(std::int64_t* limb, unsigned count, int lowest) {
    const bool negative = to_magnitude(limb, count);
    return rounded_magnitude<T>(limb, count, lowest, negative);
}

// The same unless special values were met: then an infinity, or NaN, always the same positive quiet one without
// payload.
template <class T>
WARPFOLD_HD constexpr T rounded(std::int64_t* limb, unsigned count, int lowest, unsigned met) {
    using bits = typename ieee<T>::bits;
    if (met == 0) {
        return rounded<T>(limb, count, lowest);
    }
    const auto infinity = static_cast<bits>(std::uint64_t{ieee<T>::special} << ieee<T>::fraction);
    if (met == met_infinity) {
        return __builtin_bit_cast(T, infinity);
    }
    if (met == met_minus_infinity) {
        return __builtin_bit_cast(T, static_cast<bits>(infinity | bits{1} << (sizeof(T) * 8 - 1)));
    }
    return __builtin_bit_cast(T, static_cast<bits>(infinity | bits{1} << (ieee<T>::fraction - 1)));
}

} // namespace warpfold::detail
