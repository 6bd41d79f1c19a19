// SPDX-License-Identifier: MIT
// A long accumulator in the host's memory (exact_integer.hpp).
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/detail/exact/exact_integer.hpp"

namespace warpfold::detail {

template <class T, unsigned Factors>
class long_accumulator {
public:
    using layout = exact_layout<T, Factors>;

    // Adds v * 2^place; place 0 is the lowest bit.
    void add(std::int64_t v, unsigned place) {
        count(1);
        add_integer(v, place, to_limbs{limb_});
    }
    // Adds a term: a number, or the product of two.
    template <class... Xs>
    void term(Xs... xs) {
        count(3);
        add_term(xs..., to_limbs{limb_}, met_);
    }
    void add(long_accumulator& other) {
        even_out();
        other.even_out();
        for (unsigned k = 0; k < layout::limbs; ++k) {
            limb_[k] += other.limb_[k];
        }
        met_ |= other.met_;
    }
    // Adds limbs of the same layout, each with any 64-bit value.
    void add_limbs(const std::int64_t* limb, unsigned met) {
        even_out();
        std::int64_t carry = 0;
        for (unsigned k = 0; k + 1 < layout::limbs; ++k) {
            // The halves separately, so that nothing overflows.
            const std::int64_t low = (limb[k] & 0xffffffff) + carry;
            limb_[k] += low & 0xffffffff;
            carry = (limb[k] >> 32) + (low >> 32);
        }
        limb_[layout::limbs - 1] += limb[layout::limbs - 1] + carry;
        met_ |= met;
    }
    // Copies the limbs and returns the special values that were met.
    unsigned copy_to(std::int64_t* limb) const {
        std::copy_n(limb_, layout::limbs, limb);
        return met_;
    }
    // The sum, rounded to R. Destroys the accumulator.
    template <class R = T>
    [[nodiscard]] R value() {
        return rounded<R>(limb_, layout::limbs, layout::lowest, met_);
    }

private:
    void count(unsigned additions) {
        since_ += additions;
        if (since_ >= 1u << 30) {
            even_out();
        }
    }
    // Carries until all limbs but the last are in [0, 2^32).
    void even_out() {
        std::int64_t carry = 0;
        for (unsigned k = 0; k + 1 < layout::limbs; ++k) {
            const std::int64_t v = limb_[k] + carry;
            limb_[k] = v & 0xffffffff;
            carry = v >> 32;
        }
        limb_[layout::limbs - 1] += carry;
        since_ = 2;
    }

    std::int64_t limb_[layout::limbs] = {};
    std::uint32_t since_ = 0; // additions since the last carry pass
    unsigned met_ = 0;
};

} // namespace warpfold::detail
