// SPDX-License-Identifier: MIT
// mma.sp: of each four elements of a row of A (of tf32 two, of 4 bits eight) half are stored; metadata says which. A is
// expanded, and elements that are not stored take no part.
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/matrix/columns.hpp"
#include "softgpu/machine/handlers/matrix/whole_warp.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

constexpr unsigned most_sparse_terms = 128;
constexpr unsigned chunk_bits = 4; // of metadata
constexpr unsigned selector_shift = 8;

struct expanded {
    alignas(64) std::uint32_t a[most_sparse_terms * rows];
    bool takes_part[most_sparse_terms * rows];
};

// The metadata of a chunk of a row. PTX ISA 9.0, "Sparse matrix storage": lanes of a quad that `selector` names hold those of the
// rows quad and quad + 8.
unsigned chunk_of(const std::uint32_t* metadata, unsigned row_bits, bool narrow, unsigned selector, unsigned row,
                  unsigned chunk) {
    const unsigned quad = row % 8 * 4;
    const unsigned upper = row / 8;
    const unsigned bit = chunk * chunk_bits;
    unsigned lane = 0;
    unsigned at = 0;
    if (row_bits == 16) {
        lane = selector;
        at = upper * 16 + bit;
    } else if (row_bits == 32 && !narrow) {
        lane = 2 * selector + bit / 16;
        at = upper * 16 + bit % 16;
    } else {
        lane = (row_bits == 32 ? 2 * selector : bit / 32 * 2) + upper;
        at = bit % 32;
    }
    return metadata[quad + lane % 4] >> at & 15;
}

void expand(const instruction* i, const matrix_plan& p, const std::uint32_t* stored, const std::uint32_t* metadata,
            expanded& to) {
    const unsigned bits = element_bits(p.shape.type_of(fragment::a));
    const unsigned chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4; // elements
    const unsigned unit = bits == 4 ? 2 : 1;                   // that stay together
    const unsigned picks = bits == 32 ? 1 : 2;                 // units of a chunk that are stored
    const unsigned chunks = p.terms / chunk;
    std::memset(to.a, 0, p.terms * rows * sizeof(to.a[0]));
    std::memset(to.takes_part, 0, p.terms * rows);
    for (unsigned row = 0; row < rows; ++row) {
        for (unsigned c = 0; c < chunks; ++c) {
            const unsigned which =
                chunk_of(metadata, chunks * chunk_bits, bits <= 8, i->more >> selector_shift, row, c);
            for (unsigned pick = 0; pick < picks; ++pick) {
                const unsigned index = bits == 32 ? which >> 1 & 1 : which >> (2 * pick) & 3;
                for (unsigned u = 0; u < unit; ++u) {
                    const unsigned k = c * chunk + index * unit + u;
                    to.a[k * rows + row] = stored[((c * picks + pick) * unit + u) * rows + row];
                    to.takes_part[k * rows + row] = true;
                }
            }
        }
    }
}

// As halves, in two groups from zero: every other chunk. C is added last.
void multiply_fp8(const column_types& t, expanded& a, std::uint32_t* b, std::uint32_t* d) {
    constexpr unsigned chunk = 4;
    column_types half = t;
    half.a = as_halves(a.a, t.terms * rows, t.a);
    half.b = as_halves(b, 8 * t.terms, t.b);
    half.terms = t.terms / 2;
    alignas(64) std::uint32_t sums[8 * rows] = {};
    for (unsigned g = 0; g < 2; ++g) {
        expanded part;
        alignas(64) std::uint32_t b_part[8 * most_group_terms];
        for (unsigned k = 0; k < half.terms; ++k) {
            const unsigned from = k / chunk * 2 * chunk + g * chunk + k % chunk;
            std::memcpy(part.a + k * rows, a.a + from * rows, rows * sizeof(part.a[0]));
            std::memcpy(part.takes_part + k * rows, a.takes_part + from * rows, rows);
            for (unsigned n = 0; n < 8; ++n) {
                b_part[n * half.terms + k] = b[n * t.terms + from];
            }
        }
        const split_rows split(half, part.a, part.takes_part);
        for (unsigned n = 0; n < 8; ++n) {
            float_column(half, split, b_part + n * half.terms, sums + n * rows);
        }
    }
    for (unsigned k = 0; k < 8 * rows; ++k) {
        const float sum = std::bit_cast<float>(sums[k]) + std::bit_cast<float>(d[k]);
        d[k] = sum != sum ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(sum);
    }
}

const instruction* multiply_sparse(const instruction* i, std::byte* frame, warp* w) {
    return whole_warp(i, frame, w, [&] {
        ++w->counts->matrix_products;
        const matrix_plan& p = plan_of(i);
        alignas(64) std::uint32_t stored[most_sparse_terms / 2 * rows];
        alignas(64) std::uint32_t b[8 * most_sparse_terms];
        alignas(64) std::uint32_t d[8 * rows];
        gather(i, w, p, fragment::a, stored);
        gather(i, w, p, fragment::b, b);
        gather(i, w, p, fragment::c, d);
        expanded a;
        expand(i, p, stored, read<std::uint32_t>(w, i->a), a);
        const column_types t{p.shape.type_of(fragment::a),
                             p.shape.type_of(fragment::b),
                             p.shape.type_of(fragment::d),
                             p.terms,
                             false,
                             (i->more & 1) != 0};
        if (t.d == suffix::s32) {
            extend(a.a, p.terms * rows, t.a);
            extend(b, p.columns * p.terms, t.b);
            for (unsigned n = 0; n < p.columns; ++n) {
                integer_column(t, a.a, b + n * p.terms, d + n * rows);
            }
        } else if (is_in_bytes(t.a)) {
            multiply_fp8(t, a, b, d);
        } else {
            const split_rows split(t, a.a, a.takes_part);
            for (unsigned n = 0; n < p.columns; ++n) {
                float_column(t, split, b + n * p.terms, d + n * rows);
            }
        }
        scatter(i, frame, w, p, d);
        return true;
    });
}

} // namespace

handler choose_sparse(const form& f) { return shape_of(f) ? multiply_sparse : nullptr; }

} // namespace softgpu::machine::SOFTGPU_TARGET
