// SPDX-License-Identifier: MIT
// What becomes of an exact sum: the sum itself, the mean, the variance or the norm, rounded once. An integer of many
// limbs is reduced to its 256 leading bits and one bit that says whether there are more; divisions and the square root
// keep this bit, so the result is that of the whole integer.
#pragma once

#include <cstdint>

#include "warpfold/detail/exact/exact_integer.hpp"
#include "warpfold/detail/portable.hpp"

namespace warpfold::detail {

// The magnitude (digits + rest) * 2^exponent, 0 <= rest < 1; `more` if rest is not 0. The lowest digit is the first.
struct leading_bits {
    static constexpr unsigned digits = 8; // of 32 bits

    std::uint32_t digit[digits];
    int exponent;
    bool more;
};

// Of a magnitude of `used` > 0 limbs as of to_magnitude(), the highest of which is not zero. Bit 0 of limb 0 is
// 2^lowest. The first of the leading bits is 1.
WARPFOLD_HD constexpr leading_bits leading_bits_of(const std::int64_t* limb, unsigned used, int lowest) {
    constexpr unsigned digits = leading_bits::digits;
    const auto below_top = [&](unsigned k) { return k < used ? static_cast<std::uint64_t>(limb[used - 1 - k]) : 0; };
    unsigned shift = 0;
    while ((below_top(0) << shift >> 31) == 0) {
        ++shift;
    }
    leading_bits x{};
    for (unsigned k = 0; k < digits; ++k) {
        const std::uint64_t pair = below_top(k) << 32 | below_top(k + 1);
        x.digit[digits - 1 - k] = static_cast<std::uint32_t>(pair << shift >> 32);
    }
    x.more = static_cast<std::uint32_t>(below_top(digits) << shift) != 0;
    for (unsigned k = digits + 1; k < used && !x.more; ++k) {
        x.more = below_top(k) != 0;
    }
    x.exponent = 32 * (static_cast<int>(used) - static_cast<int>(digits)) - static_cast<int>(shift) + lowest;
    return x;
}

// Divides by d > 0. The quotient has up to 64 leading bits less.
WARPFOLD_HD constexpr void divide(leading_bits& x, std::uint64_t d) {
    std::uint64_t remainder = 0;
    for (unsigned k = leading_bits::digits; k-- > 0;) {
        const uint128 dividend = static_cast<uint128>(remainder) << 32 | x.digit[k];
        x.digit[k] = static_cast<std::uint32_t>(dividend / d);
        remainder = static_cast<std::uint64_t>(dividend % d);
    }
    x.more = x.more || remainder != 0;
}

template <class R>
WARPFOLD_HD constexpr R rounded(const leading_bits& x, bool negative) {
    std::int64_t limb[leading_bits::digits + 1] = {x.more ? 1 : 0};
    for (unsigned k = 0; k < leading_bits::digits; ++k) {
        limb[k + 1] = x.digit[k];
    }
    return rounded_magnitude<R>(limb, leading_bits::digits + 1, x.exponent - 32, negative);
}

// The square root of x, whose first bit is 1, rounded.
template <class R>
WARPFOLD_HD constexpr R rounded_root(const leading_bits& x) {
    constexpr unsigned digits = leading_bits::digits, kept = 4;
    uint128 top = 0;
    bool more = x.more;
    for (unsigned k = 0; k < digits; ++k) {
        top = k < digits - kept ? 0 : top | static_cast<uint128>(x.digit[k]) << 32 * (k - (digits - kept));
        more = more || (k < digits - kept && x.digit[k] != 0);
    }
    int exponent = x.exponent + 32 * static_cast<int>(digits - kept);
    if (exponent % 2 != 0) {
        more = more || (top & 1) != 0;
        top >>= 1;
        exponent += 1;
    }
    std::uint64_t root = 0; // of 64 bits; its square is at most `top`
    for (unsigned k = 64; k-- > 0;) {
        const std::uint64_t larger = root | std::uint64_t{1} << k;
        root = static_cast<uint128>(larger) * larger <= top ? larger : root;
    }
    more = more || static_cast<uint128>(root) * root != top;
    const std::int64_t limb[3] = {more ? 1 : 0, static_cast<std::int64_t>(root & 0xffffffff),
                                  static_cast<std::int64_t>(root >> 32)};
    return rounded_magnitude<R>(limb, 3, exponent / 2 - 32, false);
}

// Multiplies a magnitude by m; the product has at most `count` limbs.
WARPFOLD_HD constexpr void multiply(std::int64_t* limb, unsigned count, std::uint64_t m) {
    uint128 carry = 0;
    for (unsigned k = 0; k < count; ++k) {
        const uint128 v = static_cast<uint128>(static_cast<std::uint64_t>(limb[k])) * m + carry;
        limb[k] = static_cast<std::int64_t>(static_cast<std::uint64_t>(v) & 0xffffffff);
        carry = v >> 32;
    }
}

// Subtracts the square of a magnitude of `used` limbs from one of `count` limbs that is not smaller.
WARPFOLD_HD constexpr void subtract_square(std::int64_t* limb, unsigned count, const std::int64_t* root,
                                           unsigned used) {
    unsigned first = 0;
    while (first < used && root[first] == 0) {
        ++first;
    }
    for (unsigned i = first; i < used; ++i) {
        std::uint64_t borrow = 0;
        for (unsigned j = first; i + j < count && (j < used || borrow != 0); ++j) {
            const std::uint64_t product =
                (j < used ? static_cast<std::uint64_t>(root[i]) * static_cast<std::uint64_t>(root[j]) : 0) + borrow;
            const std::int64_t difference = limb[i + j] - static_cast<std::int64_t>(product & 0xffffffff);
            limb[i + j] = difference & 0xffffffff;
            borrow = (product >> 32) + (difference < 0 ? 1 : 0);
        }
    }
}

// The limbs of exact sums of terms of type T and of their squares, and the special values that were met. Sums of several
// parts follow each other. The squares have room for three more limbs. Those that a result does not use are null.
template <class T>
struct exact_totals {
    static constexpr unsigned sum_limbs = exact_layout<T, 1>::limbs, square_limbs = exact_layout<T, 2>::limbs;
    static constexpr unsigned more_limbs = 3;

    std::int64_t* sum;
    std::int64_t* squares;
    unsigned sum_met, squares_met;
};

template <class R>
WARPFOLD_HD constexpr R canonical_nan() {
    return rounded<R>(nullptr, 0, 0, met_nan);
}

// Results; R is their type. Each destroys the limbs. `sums`: how many it uses, one for each part of the elements; `parts`
// of an element: 2 of a complex number; `n`, if there is one, is set by finish_of().
template <class R>
struct finish_sum {
    using result = R;
    static constexpr unsigned parts = 1, sums = 1;
    static constexpr bool squares = false;

    template <class T>
    WARPFOLD_HD constexpr R operator()(const exact_totals<T>& of) const {
        return rounded<R>(of.sum, of.sum_limbs, exact_layout<T, 1>::lowest, of.sum_met);
    }
};

// Of n terms; NaN of none.
template <class R>
struct finish_mean {
    using result = R;
    static constexpr unsigned parts = 1, sums = 1;
    static constexpr bool squares = false;

    template <class T>
    WARPFOLD_HD constexpr R operator()(const exact_totals<T>& of) const {
        if (n == 0) {
            return canonical_nan<R>();
        }
        if (of.sum_met != 0) {
            return finish_sum<R>{}(of);
        }
        const bool negative = to_magnitude(of.sum, of.sum_limbs);
        const unsigned used = used_limbs(of.sum, of.sum_limbs);
        if (used == 0) {
            return finish_sum<R>{}(of);
        }
        leading_bits x = leading_bits_of(of.sum, used, exact_layout<T, 1>::lowest);
        divide(x, n);
        return rounded<R>(x, negative);
    }

    std::uint64_t n = 0;
};

// (n * squares - sum^2) / (n * (n - less)); NaN if n <= less. Of complex numbers (Parts = 2) the square of the sum's
// magnitude is subtracted.
template <class R, unsigned Parts = 1>
struct finish_variance {
    using result = R;
    static constexpr unsigned parts = Parts, sums = Parts;
    static constexpr bool squares = true;

    template <class T>
    WARPFOLD_HD constexpr R operator()(const exact_totals<T>& of) const {
        if (n <= less || of.sum_met != 0) {
            return canonical_nan<R>();
        }
        constexpr unsigned count = exact_totals<T>::square_limbs + exact_totals<T>::more_limbs;
        constexpr int lowest = exact_layout<T, 2>::lowest;
        for (unsigned k = exact_totals<T>::square_limbs; k < count; ++k) {
            of.squares[k] = 0;
        }
        to_magnitude(of.squares, count);
        multiply(of.squares, count, n);
        for (unsigned part = 0; part < Parts; ++part) {
            std::int64_t* const sum = of.sum + part * of.sum_limbs;
            to_magnitude(sum, of.sum_limbs);
            subtract_square(of.squares, count, sum, used_limbs(sum, of.sum_limbs));
        }
        const unsigned used = used_limbs(of.squares, count);
        if (used == 0) {
            return rounded<R>(of.squares, 0, lowest);
        }
        leading_bits x = leading_bits_of(of.squares, used, lowest);
        divide(x, n);
        divide(x, n - less);
        return rounded<R>(x, false);
    }

    std::uint64_t less, n = 0;
};

// The square root of the sum of the squares, of complex numbers (Parts = 2) of both parts.
template <class R, unsigned Parts = 1>
struct finish_norm {
    using result = R;
    static constexpr unsigned parts = Parts, sums = 0;
    static constexpr bool squares = true;

    template <class T>
    WARPFOLD_HD constexpr R operator()(const exact_totals<T>& of) const {
        constexpr int lowest = exact_layout<T, 2>::lowest;
        if (of.squares_met == 0) {
            to_magnitude(of.squares, of.square_limbs);
            const unsigned used = used_limbs(of.squares, of.square_limbs);
            if (used != 0) {
                return rounded_root<R>(leading_bits_of(of.squares, used, lowest));
            }
        }
        return rounded<R>(of.squares, of.square_limbs, lowest, of.squares_met);
    }
};

// The result of n elements.
template <class Finish>
WARPFOLD_HD constexpr Finish finish_of(Finish finish, std::uint64_t n) {
    if constexpr (requires { finish.n; }) {
        finish.n = n;
    }
    return finish;
}

} // namespace warpfold::detail
