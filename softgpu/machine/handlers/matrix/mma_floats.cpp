// SPDX-License-Identifier: MIT
// mma and wmma.mma of floats of 32 bits and fewer. How sums are rounded: docs/tensor-cores.md.
//
// The analyzer assumes fragments without registers, whose part of a tile would never be set:
// NOLINTBEGIN(clang-analyzer-core.UndefinedBinaryOperatorResult,clang-analyzer-core.uninitialized.Assign)
// NOLINTBEGIN(clang-analyzer-core.CallAndMessage)
#include "softgpu/machine/handlers/matrix/product_tile.hpp"
#include "softgpu/machine/handlers/matrix/split_numbers.hpp"
#include "softgpu/machine/handlers/matrix/whole_warp.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::suffix;

constexpr unsigned group_terms = 16; // that tensor cores add at once

// Of a group of fp8, as D has it.
SOFTGPU_INLINE float partial_sum(double sum, suffix d_type) {
    return d_type == suffix::f16 ? static_cast<float>(widened<f16_format>(narrowed<f16_format>(sum))) : truncated(sum);
}

struct factor_types {
    suffix a, b;
    bool adds_last; // C is added to the sum from zero of fp8
};

// Where a factor, an addend or the sum of a group is infinite or NaN: those results again, as IEEE arithmetic has them.
__attribute__((noinline)) void redo_special(const matrix_plan& p, const factor_types& types, const tile& t,
                                            const std::uint32_t* c, unsigned group, std::uint32_t* d) {
    const suffix c_type = p.shape.type_of(fragment::c);
    const suffix d_type = p.shape.type_of(fragment::d);
    const bool half = d_type == suffix::f16;
    for (unsigned block = 0; block < p.blocks; ++block) {
        for (unsigned n = 0; n < p.columns; ++n) {
            for (unsigned m = 0; m < rows; ++m) {
                const unsigned at = (block * p.columns + n) * rows + m;
                const double addend = value_by_type(c_type, c[at]);
                double sum = types.adds_last ? 0 : addend;
                for (unsigned k = 0; k < p.terms; ++k) {
                    sum += value_by_type(types.a, t.a[(block * p.terms + k) * rows + m]) *
                           value_by_type(types.b, t.b[n * p.terms + k]);
                    if ((k + 1) % group == 0 && types.adds_last) {
                        sum = partial_sum(sum, d_type);
                    }
                    if ((k + 1) % group == 0 && magnitude_of(sum) >= 0x1p128) {
                        sum *= 0x1p1000;
                    }
                }
                sum += types.adds_last ? addend : 0;
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

} // namespace

const instruction* multiply_floats(const instruction* i, std::byte* frame, warp* w) {
    return whole_warp(i, frame, w, [&] {
        ++w->counts->matrix_products;
        const matrix_plan& p = plan_of(i);
        tile t;
        gather_tile(i, w, p, t);
        suffix a_type = p.shape.type_of(p.swapped ? fragment::b : fragment::a);
        suffix b_type = p.shape.type_of(p.swapped ? fragment::a : fragment::b);
        // fp8 is multiplied as halves in two groups of terms, and C is added last.
        const bool adds_last = is_in_bytes(a_type);
        if (adds_last) {
            a_type = as_halves(t.a, p.blocks * p.terms * rows, a_type);
            b_type = as_halves(t.b, p.columns * p.terms, b_type);
        }
        const suffix c_type = p.shape.type_of(fragment::c);
        const suffix d_type = p.shape.type_of(fragment::d);
        const unsigned terms = p.terms;
        alignas(64) std::int32_t a[2][most_blocks * most_terms * rows];
        alignas(64) std::int32_t b[2][most_columns * most_terms];
        bool finite = split_by_type(a_type, t.a, p.blocks * terms * rows, {a[0], a[1]});
        finite = split_by_type(b_type, t.b, p.columns * terms, {b[0], b[1]}) && finite;
        const unsigned group = adds_last                                   ? terms / 2
                               : a_type == suffix::tf32 && p.shape.is_wmma ? 4
                               : terms < group_terms                       ? terms
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
                        const auto sum = std::bit_cast<std::uint32_t>(partial_sum(sums[m], d_type));
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
                    const float sum = partial_sum(sums[m], d_type);
                    const double addend = value_by_type(c_type, t.c[at + m]);
                    finite = finite && magnitude_of(sum) < 0x1p128 && magnitude_of(addend) < 0x1p128;
                    d[at + m] = d_type == suffix::f16 ? narrowed<f16_format>(sum + addend)
                                                      : std::bit_cast<std::uint32_t>(sum + static_cast<float>(addend));
                }
            } else {
                for (unsigned m = 0; m < rows; ++m) {
                    d[at + m] = rounded(sums[m], c_type, d_type);
                }
            }
        }
        if (!finite) {
            redo_special(p, {a_type, b_type, adds_last}, t, t.c, group, d);
        }
        scatter(i, frame, w, p, d);
        return true;
    });
}

} // namespace softgpu::machine::SOFTGPU_TARGET

// NOLINTEND(clang-analyzer-core.CallAndMessage)
// NOLINTEND(clang-analyzer-core.UndefinedBinaryOperatorResult,clang-analyzer-core.uninitialized.Assign)
