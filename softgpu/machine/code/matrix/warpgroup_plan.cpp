// SPDX-License-Identifier: MIT
#include "softgpu/machine/code/matrix/warpgroup_plan.hpp"

#include "softgpu/machine/code/instruction.hpp"

namespace softgpu::machine {

using ptx::suffix;

namespace {

bool is_of_warpgroups(suffix d, suffix a, suffix b) {
    switch (a) {
    case suffix::f16: return b == a && (d == suffix::f16 || d == suffix::f32);
    case suffix::bf16:
    case suffix::tf32: return b == a && d == suffix::f32;
    case suffix::e4m3:
    case suffix::e5m2: return is_fp8(b) && (d == suffix::f16 || d == suffix::f32);
    case suffix::s8:
    case suffix::u8: return is_byte(b) && d == suffix::s32;
    case suffix::b1: return b == a && d == suffix::s32;
    default: return false;
    }
}

// Suffixes of shapes stand in order, for each n five of them.
constexpr unsigned warpgroup_depths[] = {8, 16, 32, 64, 256};
constexpr auto first_warpgroup_shape = static_cast<unsigned>(suffix::m64n8k8);
constexpr unsigned warpgroup_shapes = warpgroup_most_columns / 8 * 5;

} // namespace

std::optional<matrix_shape> warpgroup_shape_of(const form& f) {
    if (!f.has(suffix::mma_async) || !f.has(suffix::sync) || f.has(suffix::sp)) {
        return std::nullopt;
    }
    matrix_shape s;
    for (unsigned k = 0; k < warpgroup_shapes; ++k) {
        if (f.has(static_cast<suffix>(first_warpgroup_shape + k))) {
            s.n = (k / 5 + 1) * 8;
            s.k = warpgroup_depths[k % 5];
        }
    }
    const suffix d = f.type[0];
    const suffix a = f.type[1];
    const suffix b = f.type[2];
    const bool integers = d == suffix::s32;
    const bool bits = a == suffix::b1;
    if (!is_of_warpgroups(d, a, b) || s.k != warpgroup_row_bytes * 8 / element_bits(a) ||
        (integers && s.n > 24 && s.n % 16 != 0) || bits != (f.has(suffix::and_) && f.has(suffix::popc))) {
        return std::nullopt;
    }
    s.m = 16;
    s.is_warpgroup = true;
    const suffix types[] = {d, a, b, d};
    for (unsigned k = 0; k < 4; ++k) {
        s.type[k] = types[k];
    }
    s.registers[static_cast<unsigned>(fragment::d)] = s.n / (d == suffix::f16 ? 4 : 2);
    s.registers[static_cast<unsigned>(fragment::a)] = warpgroup_row_bytes * 16 / (lanes * 4);
    return s;
}

} // namespace softgpu::machine
