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

    // The number nearest to it times 2^lowest, ties to even, which has to be a normal one, or zero; -900 < lowest. The
    // integer is spoiled.
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
        // The leading bit to the top.
        int top = 64 * static_cast<int>(Words) - 64 + lowest; // of the highest word's last bit
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
        // 64 bits, of which the last one says whether there are more, are rounded as the whole is.
        leading |= rest != 0 ? 1 : 0;
        const double scale = __hiloint2double((1023 + top - shift) << 20, 0);
        if constexpr (sizeof(T) == 4) {
            const auto magnitude = static_cast<float>(static_cast<double>(__ull2float_rn(leading)) * scale);
            return negative ? -magnitude : magnitude;
        } else {
            const double magnitude = __ull2double_rn(leading) * scale;
            return negative ? -magnitude : magnitude;
        }
    }
};

} // namespace warpfold::detail
