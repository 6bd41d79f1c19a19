// SPDX-License-Identifier: MIT
// Integers of a few 64-bit words in registers, and their rounding to a floating-point number.
#pragma once

#include <cstdint>

#include "warpfold/detail/exact/exact_integer.hpp"

namespace warpfold::detail {

// Two's complement, lowest word first.
template <unsigned Words>
struct multiword_integer {
    unsigned long long word[Words];

    // Sets it to the sum of (low + high * 2^32) * 2^(Spacing * k) over the levels k. part[0] and part[1] are low and
    // high of the highest level. |low|, |high| < 2^62.
    template <int Spacing, unsigned Levels>
    __device__ void set(const long long (&part)[2 * Levels]) {
        static_assert(Spacing >= 32 && Spacing < 64 && Spacing * Levels + 64 <= 64 * Words);
#pragma unroll
        for (unsigned k = 0; k < Words; ++k) {
            word[k] = 0;
        }
        long long carry = 0;
#pragma unroll
        for (unsigned k = 0; k < Levels; ++k) {
            const long long low = part[2 * (Levels - 1 - k)] + carry;
            const long long upper = part[2 * (Levels - 1 - k) + 1] + (low >> 32);
            carry = upper >> (Spacing - 32);
            const auto digit = (static_cast<unsigned long long>(upper) & ((1ull << (Spacing - 32)) - 1)) << 32 |
                               (static_cast<unsigned long long>(low) & 0xffffffffu);
            put(digit, Spacing * k);
        }
        put(static_cast<unsigned long long>(carry), Spacing * Levels);
        // The bits above the carry are its sign.
        constexpr unsigned end = Spacing * Levels + 64;
        const auto sign = static_cast<unsigned long long>(carry >> 63);
#pragma unroll
        for (unsigned k = end / 64; k < Words; ++k) {
            word[k] |= k == end / 64 ? sign << end % 64 : sign;
        }
    }

    // The integer times 2^lowest, rounded to nearest, ties to even. The result has to be normal or zero; lowest > -900.
    // Destroys the integer.
    template <class T>
    __device__ T rounded(int lowest) {
        const bool negative = static_cast<long long>(word[Words - 1]) < 0;
        if (negative) {
            bool carry = true;
#pragma unroll
            for (unsigned k = 0; k < Words; ++k) {
                word[k] = ~word[k] + (carry ? 1 : 0);
                carry = carry && word[k] == 0;
            }
        }
        // Shifts the leading bit to the top.
        int top = 64 * static_cast<int>(Words) - 64 + lowest; // exponent of the highest word's last bit
#pragma unroll
        for (unsigned step = 0; step + 1 < Words; ++step) {
            if (word[Words - 1] == 0) {
#pragma unroll
                for (unsigned k = Words - 1; k > 0; --k) {
                    word[k] = word[k - 1];
                }
                word[0] = 0;
                top -= 64;
            }
        }
        if (word[Words - 1] == 0) {
            return T(0);
        }
        const int shift = __clzll(static_cast<long long>(word[Words - 1]));
        unsigned long long leading = word[Words - 1] << shift, rest = 0;
        if constexpr (Words > 1) {
            leading |= word[Words - 2] >> 1 >> (63 - shift);
            rest = word[Words - 2] << shift;
#pragma unroll
            for (unsigned k = 0; k + 2 < Words; ++k) {
                rest |= word[k];
            }
        }
        // 64 bits, the last of which is 1 if any lower bit is, round like the whole number.
        leading |= rest != 0 ? 1 : 0;
        const double scale = __hiloint2double((1023 + top - shift) << 20, 0);
        if constexpr (sizeof(T) == 2) { // by a float whose last bit is 1 if any lower bit is
            const auto top_bits = static_cast<unsigned>(leading >> 40) | (leading << 24 != 0 ? 1u : 0u);
            const auto magnitude = static_cast<float>(static_cast<double>(top_bits) * (0x1p40 * scale));
            return T(negative ? -magnitude : magnitude);
        } else if constexpr (sizeof(T) == 4) {
            const auto magnitude = static_cast<float>(static_cast<double>(__ull2float_rn(leading)) * scale);
            return negative ? -magnitude : magnitude;
        } else {
            const double magnitude = __ull2double_rn(leading) * scale;
            return negative ? -magnitude : magnitude;
        }
    }

private:
    // Sets bits where there are none; `place` is a constant after unrolling. Bits beyond the last word are dropped.
    __device__ void put(unsigned long long bits, unsigned place) {
        if (place / 64 < Words) {
            word[place / 64] |= bits << place % 64;
        }
        if (place % 64 != 0 && place / 64 + 1 < Words) {
            word[place / 64 + 1] |= bits >> (64 - place % 64);
        }
    }
};

} // namespace warpfold::detail
