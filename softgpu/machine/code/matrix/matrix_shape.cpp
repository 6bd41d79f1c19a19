// SPDX-License-Identifier: MIT
#include "softgpu/machine/code/matrix/matrix_shape.hpp"

#include <cstddef>

namespace softgpu::machine {

using ptx::opcode;
using ptx::suffix;

namespace {

struct named_extent {
    suffix name;
    unsigned m, n, k;
};
constexpr named_extent extents[] = {
    {suffix::m8n8k4, 8, 8, 4},       {suffix::m8n8k16, 8, 8, 16},     {suffix::m8n8k32, 8, 8, 32},
    {suffix::m8n8k128, 8, 8, 128},   {suffix::m16n8k4, 16, 8, 4},     {suffix::m16n8k8, 16, 8, 8},
    {suffix::m16n8k16, 16, 8, 16},   {suffix::m16n8k32, 16, 8, 32},   {suffix::m16n8k64, 16, 8, 64},
    {suffix::m16n8k128, 16, 8, 128}, {suffix::m16n8k256, 16, 8, 256}, {suffix::m16n16k8, 16, 16, 8},
    {suffix::m16n16k16, 16, 16, 16}, {suffix::m8n32k16, 8, 32, 16},   {suffix::m32n8k16, 32, 8, 16},
};

bool is_nibble(suffix t) { return t == suffix::s4 || t == suffix::u4; }
bool is_accumulator(suffix t) { return t == suffix::f16 || t == suffix::f32; }

// Whether tensor cores multiply these types in this shape.
bool is_multiplied(const matrix_shape& s) {
    const suffix d = s.type_of(fragment::d);
    const suffix a = s.type_of(fragment::a);
    const suffix b = s.type_of(fragment::b);
    const suffix c = s.type_of(fragment::c);
    const auto is = [&](unsigned m, unsigned n, unsigned k) { return s.m == m && s.n == n && s.k == k; };
    const bool wide = s.is_wmma && s.k == 16 && (is(16, 16, 16) || is(8, 32, 16) || is(32, 8, 16));
    switch (a) {
    case suffix::f16:
        return b == a && is_accumulator(d) && is_accumulator(c) &&
               (s.is_wmma     ? wide
                : is(8, 8, 4) ? d == c || d == suffix::f32
                              : d == c && (is(16, 8, 8) || is(16, 8, 16)));
    case suffix::bf16:
        return b == a && d == suffix::f32 && c == d && (s.is_wmma ? wide : is(16, 8, 8) || is(16, 8, 16));
    case suffix::tf32:
        return b == a && d == suffix::f32 && c == d && (s.is_wmma ? is(16, 16, 8) : is(16, 8, 4) || is(16, 8, 8));
    case suffix::f64:
        return b == a && d == a && c == a &&
               (is(8, 8, 4) || (!s.is_wmma && s.m == 16 && s.n == 8 && s.k <= 16 && s.k >= 4));
    case suffix::e4m3:
    case suffix::e5m2:
    case suffix::e3m2:
    case suffix::e2m3:
    case suffix::e2m1:
        return !s.is_wmma && is_in_bytes(b) && is_accumulator(d) && c == d &&
               (is(16, 8, 32) || (is(16, 8, 16) && is_fp8(a) && is_fp8(b)));
    case suffix::s8:
    case suffix::u8:
        return is_byte(b) && d == suffix::s32 && c == d &&
               (s.is_wmma ? wide && a == b : is(8, 8, 16) || is(16, 8, 16) || is(16, 8, 32));
    case suffix::s4:
    case suffix::u4:
        return is_nibble(b) && d == suffix::s32 && c == d &&
               (is(8, 8, 32) || (!s.is_wmma && (is(16, 8, 32) || is(16, 8, 64))));
    case suffix::b1:
        return b == a && d == suffix::s32 && c == d &&
               (is(8, 8, 128) || (!s.is_wmma && (is(16, 8, 128) || is(16, 8, 256))));
    default: return false;
    }
}

// Of halves, A has 16 or 32 columns, and as many bytes of other types.
bool is_multiplied_sparse(const matrix_shape& s) {
    const suffix d = s.type_of(fragment::d);
    const suffix a = s.type_of(fragment::a);
    const suffix b = s.type_of(fragment::b);
    if (s.is_wmma || s.m != 16 || s.n != 8 || s.type_of(fragment::c) != d) {
        return false;
    }
    const unsigned bits = element_bits(a);
    if (bits == 0 || (s.k * bits != 256 && s.k * bits != 512)) {
        return false;
    }
    switch (a) {
    case suffix::f16: return b == a && is_accumulator(d);
    case suffix::bf16:
    case suffix::tf32: return b == a && d == suffix::f32;
    case suffix::s8:
    case suffix::u8: return is_byte(b) && d == suffix::s32;
    case suffix::s4:
    case suffix::u4: return is_nibble(b) && d == suffix::s32;
    case suffix::e4m3:
    case suffix::e5m2:
    case suffix::e3m2:
    case suffix::e2m3:
    case suffix::e2m1: return is_in_bytes(b) && d == suffix::f32 && s.k == 64;
    default: return false;
    }
}

// Floats of 6 and 4 bits are multiplied by kind::f8f6f4 only, which has shapes of its own.
bool has_kind(const form& f, const matrix_shape& s) {
    const suffix a = s.type_of(fragment::a);
    const suffix b = s.type_of(fragment::b);
    if (!f.has(suffix::kind_f8f6f4)) {
        return (!is_in_bytes(a) || is_fp8(a)) && (!is_in_bytes(b) || is_fp8(b));
    }
    return is_in_bytes(a) && s.k == (s.is_sparse ? 64 : 32);
}

bool is_layout(suffix s) { return s == suffix::row || s == suffix::col; }

// Whether the form names the layouts that the matrices can have: elements of less than a byte, and factors of mma other
// than m8n8k4 of halves, have A by rows and B by columns.
bool has_layouts(const form& f, const matrix_shape& s) {
    const bool fixed = s.is_wmma ? element_bits(s.type_of(fragment::a)) < 8 : !s.is_by_quads();
    if (!s.is_wmma || f.has(suffix::mma)) {
        return is_layout(f.layout[0]) && is_layout(f.layout[1]) &&
               (!fixed || (f.layout[0] == suffix::row && f.layout[1] == suffix::col));
    }
    if (!is_layout(f.layout[0]) || f.layout[1] != suffix::none) {
        return false;
    }
    switch (moved_fragment(f)) {
    case fragment::a: return !fixed || f.layout[0] == suffix::row;
    case fragment::b: return !fixed || f.layout[0] == suffix::col;
    default: return true;
    }
}

// wmma keeps each element of A and B of halves in two lanes.
unsigned registers_of(const matrix_shape& s, fragment f) {
    const suffix t = s.type_of(f);
    const unsigned elements = f == fragment::a   ? s.m * s.k / (s.is_sparse ? 2 : 1)
                              : f == fragment::b ? s.k * s.n
                                                 : s.m * s.n;
    if (t == suffix::f16 && (f == fragment::a || f == fragment::b)) {
        return s.is_wmma ? 8 : s.m == 8 ? 2 : elements / 64;
    }
    const unsigned quads = s.is_by_quads() ? 4 : 1;
    return quads * elements * element_bits(t) / 32 / (t == suffix::f64 ? 64 : 32);
}

} // namespace

unsigned element_bits(suffix type) noexcept {
    switch (type) {
    case suffix::b1: return 1;
    case suffix::s4:
    case suffix::u4: return 4;
    case suffix::s8:
    case suffix::u8:
    case suffix::e4m3:
    case suffix::e5m2:
    case suffix::e3m2:
    case suffix::e2m3:
    case suffix::e2m1: return 8;
    case suffix::f16:
    case suffix::bf16: return 16;
    case suffix::f32:
    case suffix::tf32:
    case suffix::s32: return 32;
    case suffix::f64: return 64;
    default: return 0;
    }
}

fragment moved_fragment(const form& f) noexcept {
    return f.has(suffix::store) || f.has(suffix::d) ? fragment::d
           : f.has(suffix::a)                       ? fragment::a
           : f.has(suffix::b)                       ? fragment::b
                                                    : fragment::c;
}

unsigned row_groups(const form& f) noexcept {
    const unsigned count = f.has(suffix::x1) ? 1 : f.has(suffix::x2) ? 2 : f.has(suffix::x4) ? 4 : 0;
    const bool loads = f.op == opcode::ldmatrix;
    const bool spread = loads && f.has(suffix::b8x16) && (f.has(suffix::b4x16_p64) || f.has(suffix::b6x16_p32));
    if (f.has(suffix::m8n8)) {
        return f.type[0] == suffix::b16 ? count : 0;
    }
    if (f.has(suffix::m16n16)) {
        return loads && f.has(suffix::trans) && (f.type[0] == suffix::b8 || spread) && count <= 2 ? 2 * count : 0;
    }
    if (f.has(suffix::m8n16)) {
        return spread && !f.has(suffix::trans) ? count : 0;
    }
    return f.has(suffix::m16n8) && !loads && f.has(suffix::trans) && f.type[0] == suffix::b8 ? count : 0;
}

std::uint32_t byte_rows(const form& f) noexcept {
    return (f.has(suffix::m16n16)  ? byte_rows_of_16
            : f.has(suffix::m16n8) ? byte_rows_of_8
            : f.has(suffix::m8n16) ? byte_rows_plain
                                   : 0) |
           (f.has(suffix::b4x16_p64)   ? byte_rows_from_4_bits
            : f.has(suffix::b6x16_p32) ? byte_rows_from_6_bits
                                       : 0);
}

std::optional<matrix_shape> shape_of(const form& f) {
    if (f.has(suffix::block_scale)) {
        return std::nullopt;
    }
    matrix_shape s;
    for (const named_extent& e : extents) {
        if (f.has(e.name)) {
            s.m = e.m;
            s.n = e.n;
            s.k = e.k;
        }
    }
    s.is_wmma = f.op == opcode::wmma;
    s.is_sparse = is_sparse(f);
    for (unsigned k = 0; k < 2; ++k) {
        s.by_rows[k] = f.layout[k] == suffix::row;
    }
    const auto set = [&](suffix d, suffix a, suffix b, suffix c) {
        const suffix types[] = {d, a, b, c};
        for (std::size_t k = 0; k < 4; ++k) {
            s.type[k] = types[k];
        }
    };
    if (s.is_wmma && !f.has(suffix::mma)) {
        const suffix t = f.type[0];
        switch (moved_fragment(f)) {
        case fragment::a:
        case fragment::b: {
            const suffix sum = t == suffix::f64                                ? t
                               : is_byte(t) || is_nibble(t) || t == suffix::b1 ? suffix::s32
                                                                               : suffix::f32;
            set(sum, t, t, sum);
            break;
        }
        default: {
            // Any type that goes with this accumulator in this shape.
            const suffix factor = t == suffix::f64   ? t
                                  : t != suffix::s32 ? (s.k == 8 ? suffix::tf32 : suffix::f16)
                                  : s.k == 16        ? suffix::s8
                                  : s.k == 32        ? suffix::s4
                                                     : suffix::b1;
            set(t, factor, factor, t);
        }
        }
    } else if (s.is_wmma && f.type[2] == suffix::none) { // wmma.mma.f32.f16
        set(f.type[0], suffix::f16, suffix::f16, f.type[1]);
    } else {
        set(f.type[0], f.type[1], f.type[2], f.type[3]);
    }
    if (!(s.is_sparse ? is_multiplied_sparse(s) : is_multiplied(s)) || !has_layouts(f, s) || !has_kind(f, s)) {
        return std::nullopt;
    }
    for (unsigned k = 0; k < 4; ++k) {
        s.registers[k] = registers_of(s, static_cast<fragment>(k));
    }
    return s;
}

} // namespace softgpu::machine
