// SPDX-License-Identifier: MIT
// Integers of a few 64-bit words in a thread's registers, and their rounding to a floating-point number.
#pragma once

#include <cstdint>

#include "warpfold/detail/exact.hpp"

namespace warpfold::detail {

// Two's complement, the lowest word first.
template <unsigned Words>
struct multiword_integer {
    unsigned long long word[Words];

    // Adds (low + high * 2^32) * 2^place, place known when loops are unrolled; low is not negative.
    __device__ void add(long long low, long long high, unsigned place) {
        const unsigned long long lower = static_cast<unsigned long long>(high) << 32;
        const unsigned long long with = lower + static_cast<unsigned long long>(low);
        const long long upper = (high >> 32) + (with < lower ? 1 : 0);
        const unsigned first = place / 64, shift = place % 64;
        bool carry = false;
#pragma unroll
        for (unsigned k = first; k < Words; ++k) {
            unsigned long long part = static_cast<unsigned long long>(upper >> 63);
            if (k == first) {
                part = with << shift;
            } else if (k == first + 1) {
                part = shift == 0 ? static_cast<unsigned long long>(upper)
                                  : with >> (64 - shift) | static_cast<unsigned long long>(upper) << shift;
            } else if (k == first + 2 && shift != 0) {
                part = static_cast<unsigned long long>(upper >> (64 - shift));
            }
            const unsigned long long sum = word[k] + part;
            const unsigned long long sum_and_carry = sum + (carry ? 1 : 0);
            carry = sum < part || sum_and_carry < sum;
            word[k] = sum_and_carry;
        }
    }

    // The number nearest to it times 2^lowest, ties to even. That has to be below the largest number of the format, and
    // to be a multiple of its smallest one. The integer is spoiled.
    template <class T>
    __device__ T rounded(int lowest) {
        using format = ieee<T>;
        const bool negative = static_cast<long long>(word[Words - 1]) < 0;
        if (negative) {
            bool carry = true;
#pragma unroll
            for (unsigned k = 0; k < Words; ++k) {
                word[k] = ~word[k] + (carry ? 1 : 0);
                carry = carry && word[k] == 0;
            }
        }
        // The leading bit to the top.
        int top = 64 * static_cast<int>(Words) - 1 + lowest;
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
        if (shift != 0) {
#pragma unroll
            for (unsigned k = Words - 1; k > 0; --k) {
                word[k] = word[k] << shift | word[k - 1] >> (64 - shift);
            }
            word[0] <<= shift;
            top -= shift;
        }
        constexpr int digits = format::fraction + 1;
        unsigned long long mantissa = word[Words - 1] >> (64 - digits);
        const unsigned long long rest = word[Words - 1] << digits;
        bool more = rest << 1 != 0 || (mantissa & 1) != 0;
#pragma unroll
        for (unsigned k = 0; k + 1 < Words; ++k) {
            more = more || word[k] != 0;
        }
        mantissa += rest >> 63 != 0 && more ? 1 : 0;
        int scale = top - format::fraction - format::lowest;
        if (scale < 0) { // subnormal: there was nothing to round
            mantissa >>= -scale;
            scale = 0;
        }
        const unsigned long long bits = (static_cast<unsigned long long>(scale) << format::fraction) + mantissa |
                                        static_cast<unsigned long long>(negative) << (sizeof(T) * 8 - 1);
        return __builtin_bit_cast(T, static_cast<typename format::bits>(bits));
    }
};

} // namespace warpfold::detail
