// SPDX-License-Identifier: MIT
// Columns of a product: 16 rows of D, all of whose terms and addend are one group. How sums are rounded:
// docs/tensor-cores.md.
#pragma once

#include "softgpu/machine/handlers/matrix/split_numbers.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// Of a product. A is by [term][row] everywhere.
struct column_types {
    suffix a, b, d;
    unsigned terms;
    bool is_short;  // sums keep 13 bits
    bool saturates; // of integers
};

// Sign-extends elements of fewer bits than 32.
SOFTGPU_INLINE void extend(std::uint32_t* x, unsigned count, suffix t) {
    const unsigned up = t == suffix::s8 ? 24 : 28;
    if (t == suffix::s8 || t == suffix::s4) {
        SOFTGPU_LANES
        for (unsigned k = 0; k < count; ++k) {
            x[k] = static_cast<std::uint32_t>(static_cast<std::int32_t>(x[k] << up) >> up);
        }
    }
}

// Integers, and of b1 words of 32 bits: the population count of each word's and. d: before, C.
inline void integer_column(const column_types& t, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* d) {
    alignas(64) std::uint32_t sums[rows] = {};
    const bool by_bits = t.a == suffix::b1;
    for (unsigned k = 0; k < t.terms; ++k) {
        SOFTGPU_LANES
        for (unsigned m = 0; m < rows; ++m) {
            const std::uint32_t x = a[k * rows + m];
            sums[m] += by_bits ? static_cast<std::uint32_t>(__builtin_popcount(x & b[k])) : x * b[k];
        }
    }
    for (unsigned m = 0; m < rows; ++m) {
        d[m] = t.saturates ? limited(std::int64_t{static_cast<std::int32_t>(d[m])} + static_cast<std::int32_t>(sums[m]))
                           : d[m] + sums[m];
    }
}

// Where a factor, an addend or a sum is infinite or NaN: as IEEE arithmetic has it. `takes_part`, unless null: by term and
// row.
__attribute__((noinline)) inline void redo_special_column(const column_types& t, const std::uint32_t* a,
                                                          const bool* takes_part, const std::uint32_t* b,
                                                          const std::uint32_t* c, std::uint32_t* d) {
    const bool half = t.d == suffix::f16;
    for (unsigned m = 0; m < rows; ++m) {
        double sum = value_by_type(t.d, c[m]);
        for (unsigned k = 0; k < t.terms; ++k) {
            if (takes_part == nullptr || takes_part[k * rows + m]) {
                sum += value_by_type(t.a, a[k * rows + m]) * value_by_type(t.b, b[k]);
            }
        }
        if (sum != sum) {
            d[m] = half ? 0x7FFFu : 0x7FFFFFFFu;
        } else if (magnitude_of(sum) > 0x1.fffffffffffffp1023) {
            const std::uint32_t sign = sum < 0 ? 1 : 0;
            d[m] = half ? sign << 15 | 0x7C00u : sign << 31 | 0x7F800000u;
        }
    }
}

constexpr unsigned most_group_terms = 32;

// A of floats: its bits and, split, its numbers.
struct split_rows {
    const std::uint32_t* bits;
    const bool* takes_part; // or null: all terms do
    bool finite;
    alignas(64) std::int32_t numbers[2][most_group_terms * rows];

    SOFTGPU_INLINE split_rows(const column_types& t, const std::uint32_t* from, const bool* which)
        : bits(from), takes_part(which), finite(split_by_type(t.a, from, t.terms * rows, {numbers[0], numbers[1]})) {}
};

// d: before, C.
inline void float_column(const column_types& t, const split_rows& a, const std::uint32_t* b, std::uint32_t* d) {
    alignas(64) std::int32_t split_b[2][most_group_terms];
    alignas(64) std::int32_t c[2][rows];
    alignas(64) double sums[rows];
    alignas(64) std::uint32_t before[rows];
    std::memcpy(before, d, sizeof(before));
    bool finite = split_by_type(t.b, b, t.terms, {split_b[0], split_b[1]}) && a.finite;
    finite = split_addends(d, t.d, t.d, {c[0], c[1]}) && finite;
    if (t.is_short) {
        sum_products<rows, short_sum_fraction>(a.numbers[0], a.numbers[1], split_b[0], split_b[1], t.terms, c[0], c[1],
                                               sums);
    } else {
        sum_products<rows>(a.numbers[0], a.numbers[1], split_b[0], split_b[1], t.terms, c[0], c[1], sums);
    }
    constexpr std::uint32_t dropped = (1u << (float_fraction - short_sum_fraction)) - 1;
    const std::uint32_t kept = t.is_short && t.d == suffix::f32 ? ~dropped : ~0u;
    for (unsigned m = 0; m < rows; ++m) {
        d[m] = rounded(sums[m], t.d, t.d) & kept;
    }
    if (!finite) {
        redo_special_column(t, a.bits, a.takes_part, b, before, d);
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
