// SPDX-License-Identifier: MIT
// mma and wmma.mma of floats of 32 bits and fewer. How sums are rounded: docs/tensor-cores.md.
//
// The analyzer assumes fragments without registers, whose part of a tile would never be set:
// NOLINTBEGIN(clang-analyzer-core.UndefinedBinaryOperatorResult,clang-analyzer-core.uninitialized.Assign)
// NOLINTBEGIN(clang-analyzer-core.CallAndMessage)
#include "softgpu/machine/handlers/matrix/product_tile.hpp"
#include "softgpu/machine/handlers/matrix/sums.hpp"
#include "softgpu/machine/handlers/matrix/whole_warp.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::suffix;

constexpr unsigned group_terms = 16; // that tensor cores add at once

struct split_numbers {
    std::int32_t* significand;
    std::int32_t* exponent;
};

// true: all are finite.
template <class Format>
bool split_all(const std::uint32_t* from, unsigned count, split_numbers to) {
    constexpr unsigned dropped = std::is_same_v<Format, tf32_format> ? 13 : 0;
    std::uint32_t special = 0;
    SOFTGPU_LANES
    for (unsigned k = 0; k < count; ++k) {
        const std::uint32_t x = from[k] >> dropped;
        special |= is_finite<Format>(x) ? 0u : 1u;
        split_factor<Format>(x, to.significand[k], to.exponent[k]);
    }
    return special == 0;
}
bool split_by_type(suffix t, const std::uint32_t* from, unsigned count, split_numbers to) {
    switch (t) {
    case suffix::f16: return split_all<f16_format>(from, count, to);
    case suffix::bf16: return split_all<bf16_format>(from, count, to);
    case suffix::tf32: return split_all<tf32_format>(from, count, to);
    case suffix::e4m3: return split_all<e4m3_format>(from, count, to);
    default: return split_all<e5m2_format>(from, count, to);
    }
}

double value_by_type(suffix t, std::uint32_t x) {
    switch (t) {
    case suffix::f16: return widened<f16_format>(x);
    case suffix::bf16: return widened<bf16_format>(x);
    case suffix::tf32: return widened<tf32_format>(x >> 13);
    case suffix::e4m3: return widened<e4m3_format>(x);
    case suffix::e5m2: return widened<e5m2_format>(x);
    default: return std::bit_cast<float>(x);
    }
}

// Where a factor, an addend or the sum of a group is infinite or NaN: those results again, as IEEE arithmetic has them.
__attribute__((noinline)) void redo_special(const matrix_plan& p, const tile& t, const std::uint32_t* c, unsigned group,
                                            std::uint32_t* d) {
    const suffix a_type = p.shape.type_of(p.swapped ? fragment::b : fragment::a);
    const suffix b_type = p.shape.type_of(p.swapped ? fragment::a : fragment::b);
    const suffix c_type = p.shape.type_of(fragment::c);
    const bool half = p.shape.type_of(fragment::d) == suffix::f16;
    for (unsigned block = 0; block < p.blocks; ++block) {
        for (unsigned n = 0; n < p.columns; ++n) {
            for (unsigned m = 0; m < rows; ++m) {
                const unsigned at = (block * p.columns + n) * rows + m;
                double sum = value_by_type(c_type, c[at]);
                for (unsigned k = 0; k < p.terms; ++k) {
                    sum += value_by_type(a_type, t.a[(block * p.terms + k) * rows + m]) *
                           value_by_type(b_type, t.b[n * p.terms + k]);
                    if ((k + 1) % group == 0 && magnitude_of(sum) >= 0x1p128) {
                        sum *= 0x1p1000;
                    }
                }
                const double size = magnitude_of(sum);
                if (size <= 0x1.fffffffffffffp1023) {
                    continue;
                }
                const std::uint32_t sign = sum < 0 ? 1 : 0;
                d[at] = size != size ? (half ? 0x7FFFu : 0x7FFFFFFFu)
                                     : (half ? sign << 15 | 0x7C00u : sign << 31 | 0x7F800000u);
            }
        }
    }
}

// Rounded as D's type has it. From C of single precision a half is rounded twice.
SOFTGPU_INLINE std::uint32_t rounded(double sum, suffix c_type, suffix d_type) {
    if (d_type == suffix::f32) {
        return std::bit_cast<std::uint32_t>(truncated(sum));
    }
    if (c_type == suffix::f32) {
        return narrowed<f16_format>(truncated(sum));
    }
    const std::uint32_t h = narrowed<f16_format>(sum);
    return (h & 0x7FFF) == 0 ? 0 : h; // no negative zero
}

// true: all are finite. A half that is added to single precision is converted first.
bool split_addends(const std::uint32_t* from, suffix type, suffix d_type, split_numbers to) {
    std::uint32_t special = 0;
    for (unsigned m = 0; m < rows; ++m) {
        std::uint32_t x = from[m];
        if (type == suffix::f16) {
            special |= is_finite<f16_format>(x) ? 0u : 1u;
            if (d_type == suffix::f16) {
                split_factor<f16_format>(x, to.significand[m], to.exponent[m]);
                to.significand[m] *= 1 << (float_fraction - factor_fraction);
                continue;
            }
            x = std::bit_cast<std::uint32_t>(static_cast<float>(widened<f16_format>(x)));
        } else {
            special |= (x & 0x7F800000) == 0x7F800000 ? 1u : 0u;
        }
        split_float(x, to.significand[m], to.exponent[m]);
    }
    return special == 0;
}

} // namespace

const instruction* multiply_floats(const instruction* i, std::byte* frame, warp* w) {
    return whole_warp(i, frame, w, [&] {
        ++w->counts->matrix_products;
        const matrix_plan& p = plan_of(i);
        tile t;
        gather_tile(i, w, p, t);
        const suffix a_type = p.shape.type_of(p.swapped ? fragment::b : fragment::a);
        const suffix b_type = p.shape.type_of(p.swapped ? fragment::a : fragment::b);
        const suffix c_type = p.shape.type_of(fragment::c);
        const suffix d_type = p.shape.type_of(fragment::d);
        const unsigned terms = p.terms;
        alignas(64) std::int32_t a[2][most_blocks * most_terms * rows];
        alignas(64) std::int32_t b[2][most_columns * most_terms];
        bool finite = split_by_type(a_type, t.a, p.blocks * terms * rows, {a[0], a[1]});
        finite = split_by_type(b_type, t.b, p.columns * terms, {b[0], b[1]}) && finite;
        // fp8 is multiplied as halves in two groups of terms, and C is added last.
        const bool adds_last = terms > group_terms;
        const unsigned group = a_type == suffix::tf32 && p.shape.is_wmma ? 4
                               : terms < group_terms                     ? terms
                                                                         : group_terms;
        alignas(64) std::uint32_t d[most_blocks * most_columns * rows];
        for (unsigned column = 0; column < p.blocks * p.columns; ++column) {
            const unsigned block = column / p.columns;
            const unsigned n = column % p.columns;
            const unsigned at = column * rows;
            alignas(64) std::int32_t c[2][rows] = {};
            alignas(64) double sums[rows];
            if (adds_last) {
                for (std::int32_t& e : c[1]) {
                    e = no_exponent;
                }
            } else {
                finite = split_addends(t.c + at, c_type, d_type, {c[0], c[1]}) && finite;
            }
            for (unsigned k = 0; k < terms; k += group) {
                if (k != 0) {
                    for (unsigned m = 0; m < rows; ++m) {
                        const auto sum = std::bit_cast<std::uint32_t>(truncated(sums[m]));
                        finite = finite && (sum & 0x7F800000) != 0x7F800000;
                        split_float(sum, c[0][m], c[1][m]);
                    }
                }
                const unsigned first = (block * terms + k) * rows;
                sum_products<rows>(a[0] + first, a[1] + first, b[0] + n * terms + k, b[1] + n * terms + k, group, c[0],
                                   c[1], sums);
            }
            if (adds_last) {
                for (unsigned m = 0; m < rows; ++m) {
                    d[at + m] = std::bit_cast<std::uint32_t>(truncated(sums[m]) + std::bit_cast<float>(t.c[at + m]));
                    finite = finite && (t.c[at + m] & 0x7F800000) != 0x7F800000;
                }
            } else {
                for (unsigned m = 0; m < rows; ++m) {
                    d[at + m] = rounded(sums[m], c_type, d_type);
                }
            }
        }
        if (!finite) {
            redo_special(p, t, t.c, group, d);
        }
        scatter(i, frame, w, p, d);
        return true;
    });
}

} // namespace softgpu::machine::SOFTGPU_TARGET

// NOLINTEND(clang-analyzer-core.CallAndMessage)
// NOLINTEND(clang-analyzer-core.UndefinedBinaryOperatorResult,clang-analyzer-core.uninitialized.Assign)
