// SPDX-License-Identifier: MIT
// Exact sums of bins in a block's shared memory. A bin has a few words of 32 bits, which are neighbouring limbs of its long
// accumulator (detail/exact/exact_integer.hpp), from a limb on that the block chooses. Unlike atomics of 64 bits, those of 32 are
// single instructions in shared memory; the old value says whether a carry is left. Words start in the middle of their range, so
// that sums near zero, which change their sign often, carry seldom.
#pragma once

#include <cstdint>

#include "warpfold/detail/exact/exact_integer.hpp"

namespace warpfold::detail {

template <class T>
struct exact_words {
    static constexpr unsigned span = sizeof(T) == 4 ? 2 : 3; // words that a number has bits in
    static constexpr unsigned places = 3;                    // words that its lowest bit may be in
    static constexpr unsigned count = span + places - 1;
    static constexpr unsigned middle = 1u << 31; // a word that stands for 0

    // The first limb of words for numbers around one whose lowest bit is at `place`: 2^32 times as large ones fit, and as small ones.
    __host__ __device__ static constexpr unsigned first_limb(unsigned place) { return place < 32 ? 0 : place / 32 - 1; }
    // What carry() below adds to is a limb.
    static_assert(first_limb(ieee<T>::special - 2) + count < exact_layout<T, 1>::limbs);

    // Adds the mantissa, whose lowest bit is at bit `place` of the words, place < 32 * places. Words are `apart` words from each other.
    // Calls carry(c), |c| = 1, if c is to be added to the limb after the last word.
    template <class Carry>
    __device__ static void add(unsigned* word, unsigned apart, std::uint64_t mantissa, unsigned place, bool negative,
                               const Carry& carry) {
        const unsigned shift = place % 32;
        unsigned k = place / 32, left = 0;
        const std::uint64_t low = mantissa << shift;
        const unsigned part[] = {static_cast<unsigned>(low), static_cast<unsigned>(low >> 32),
                                 static_cast<unsigned>(mantissa >> 1 >> (63 - shift))};
        word += k * apart;
        const auto add_to_word = [&](unsigned what) {
            if (what != 0) { // otherwise a carry stays one
                const unsigned before = atomicAdd(word, negative ? 0u - what : what);
                left = (negative ? before : ~before) < what ? 1 : 0;
            }
            word += apart;
        };
#pragma unroll
        for (unsigned j = 0; j < span; ++j) {
            add_to_word(part[j] + left);
        }
        for (k += span; left != 0 && k < count; ++k) {
            add_to_word(1);
        }
        if (left != 0) {
            carry(negative ? -1 : 1);
        }
    }
};

} // namespace warpfold::detail
