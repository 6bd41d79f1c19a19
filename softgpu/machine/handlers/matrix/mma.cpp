// SPDX-License-Identifier: MIT
// mma and wmma.mma of doubles, integers and bits, and m8n8k4 of halves. The fragments are gathered into arrays, multiplied 16
// rows at a time, and put back.
#include "softgpu/machine/handlers/arithmetic/half_formats.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/matrix/columns.hpp"
#include "softgpu/machine/handlers/matrix/whole_warp.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

// Bits of `more`, set by the decoder.
enum : std::uint32_t { saturates = 1, exclusive = 2 };

SOFTGPU_INLINE bool is_nan(std::uint64_t x) { return (x & ~0ull >> 1) > 0x7FF0000000000000ull; }
constexpr std::uint64_t quiet_bit = 1ull << 51;

// a * b + c. A NaN is passed on: that of b before that of c before that of a.
SOFTGPU_INLINE std::uint64_t fused(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const auto r = std::bit_cast<std::uint64_t>(
        __builtin_fma(std::bit_cast<double>(a), std::bit_cast<double>(b), std::bit_cast<double>(c)));
    const std::uint64_t own = is_nan(r) ? 0xFFF8000000000000ull : r;
    return is_nan(b) ? b | quiet_bit : is_nan(c) ? c | quiet_bit : is_nan(a) ? a | quiet_bit : own;
}

// Fused multiply-adds in the order of k.
const instruction* multiply_doubles(const instruction* i, std::byte* frame, warp* w) {
    return whole_warp(i, frame, w, [&] {
        ++w->counts->matrix_products;
        const matrix_plan& p = plan_of(i);
        alignas(64) std::uint64_t a[16 * rows] = {};
        alignas(64) std::uint64_t b[8 * 16] = {};
        alignas(64) std::uint64_t c[8 * rows] = {};
        gather_bits<64>(i, w, p, fragment::a, a);
        gather_bits<64>(i, w, p, fragment::b, b);
        gather_bits<64>(i, w, p, fragment::c, c);
        for (unsigned n = 0; n < p.columns; ++n) {
            for (unsigned k = 0; k < p.terms; ++k) {
                const std::uint64_t factor = b[n * p.terms + k];
                SOFTGPU_LANES
                for (unsigned m = 0; m < rows; ++m) {
                    c[n * rows + m] = fused(a[k * rows + m], factor, c[n * rows + m]);
                }
            }
        }
        scatter(i, frame, w, p, c);
        return true;
    });
}

// Integers, and bits (Bits): the population count of each word's and or exclusive or.
template <bool Bits>
const instruction* multiply_integers(const instruction* i, std::byte* frame, warp* w) {
    return whole_warp(i, frame, w, [&] {
        ++w->counts->matrix_products;
        const matrix_plan& p = plan_of(i);
        tile t;
        gather_tile(i, w, p, t);
        extend(t.a, p.blocks * p.terms * rows, p.shape.type_of(p.swapped ? fragment::b : fragment::a));
        extend(t.b, p.columns * p.terms, p.shape.type_of(p.swapped ? fragment::a : fragment::b));
        const std::uint32_t differ = (i->more & exclusive) != 0 ? ~0u : 0u;
        for (unsigned block = 0; block < p.blocks; ++block) {
            for (unsigned n = 0; n < p.columns; ++n) {
                alignas(64) std::uint32_t sums[rows] = {};
                for (unsigned k = 0; k < p.terms; ++k) {
                    const std::uint32_t* const a = t.a + (block * p.terms + k) * rows;
                    const std::uint32_t b = t.b[n * p.terms + k];
                    SOFTGPU_LANES
                    for (unsigned m = 0; m < rows; ++m) {
                        sums[m] += Bits ? static_cast<std::uint32_t>(
                                              __builtin_popcount((a[m] & b & ~differ) | ((a[m] ^ b) & differ)))
                                        : a[m] * b;
                    }
                }
                std::uint32_t* const c = t.c + (block * p.columns + n) * rows;
                for (unsigned m = 0; m < rows; ++m) {
                    c[m] = (i->more & saturates) != 0 ? limited(std::int64_t{static_cast<std::int32_t>(c[m])} +
                                                                static_cast<std::int32_t>(sums[m]))
                                                      : c[m] + sums[m];
                }
            }
        }
        scatter(i, frame, w, p, t.c);
        return true;
    });
}

// m8n8k4 of halves: each quad pair has a product of its own. Cards after Volta compute it in single precision: a chain of
// fused multiply-adds, then C is added.
const instruction* multiply_quads(const instruction* i, std::byte* frame, warp* w) {
    return whole_warp(i, frame, w, [&] {
        ++w->counts->matrix_products;
        const matrix_plan& p = plan_of(i);
        constexpr unsigned size = 8 * rows; // of a quad pair's arrays
        alignas(64) std::uint32_t a[4 * size] = {};
        alignas(64) std::uint32_t b[4 * size] = {};
        alignas(64) std::uint32_t c[4 * size] = {};
        gather(i, w, p, fragment::a, a);
        gather(i, w, p, fragment::b, b);
        gather(i, w, p, fragment::c, c);
        const bool half_in = p.shape.type_of(fragment::c) == suffix::f16;
        const bool half_out = p.shape.type_of(fragment::d) == suffix::f16;
        for (unsigned q = 0; q < 4; ++q) {
            for (unsigned n = 0; n < 8; ++n) {
                for (unsigned m = 0; m < 8; ++m) {
                    const auto factor = [&](const std::uint32_t* from) {
                        return static_cast<float>(widened<f16_format>(*from));
                    };
                    // The first product is added to zero in single precision, which leaves no negative zero.
                    float sum = factor(a + q * size + m) * factor(b + q * size + n * 4);
                    sum = half_out ? sum : sum + 0.0f;
                    for (unsigned k = 1; k < 4; ++k) {
                        sum =
                            __builtin_fmaf(factor(a + q * size + k * rows + m), factor(b + q * size + n * 4 + k), sum);
                    }
                    std::uint32_t& x = c[q * size + n * rows + m];
                    sum += half_in ? factor(&x) : std::bit_cast<float>(x);
                    x = half_out     ? narrowed<f16_format>(sum)
                        : sum == sum ? std::bit_cast<std::uint32_t>(sum)
                                     : 0x7FFFFFFFu;
                }
            }
        }
        scatter(i, frame, w, p, c);
        return true;
    });
}

handler choose_product(const form& f) {
    const auto s = shape_of(f);
    if (!s) {
        return nullptr;
    }
    switch (s->type_of(fragment::a)) {
    case suffix::f64: return multiply_doubles;
    case suffix::b1:
        return f.has(suffix::popc) && (f.has(suffix::xor_) || f.has(suffix::and_)) ? multiply_integers<true> : nullptr;
    case suffix::s8:
    case suffix::u8:
    case suffix::s4:
    case suffix::u4: return multiply_integers<false>;
    default: return s->is_by_quads() ? multiply_quads : multiply_floats;
    }
}

} // namespace

handler choose_matrix(const form& f) {
    switch (f.op) {
    case opcode::mma:
        if (!f.has(suffix::sync)) {
            return nullptr;
        }
        return is_sparse(f) ? choose_sparse(f) : choose_product(f);
    case opcode::wgmma: return choose_warpgroup(f);
    case opcode::wmma: return f.has(suffix::mma) ? choose_product(f) : choose_wmma(f);
    default: return choose_matrix_rows(f);
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
