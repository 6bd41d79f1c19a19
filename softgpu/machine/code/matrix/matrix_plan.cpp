// SPDX-License-Identifier: MIT
#include "softgpu/machine/code/matrix/matrix_plan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

#include "softgpu/machine/code/instruction.hpp"

namespace softgpu::machine {

using ptx::suffix;

namespace {

// Of a product of 8 or 16 rows and 8 columns.
element_position mma_position(fragment f, bool tall, unsigned parts, unsigned r, unsigned part, unsigned lane) {
    const unsigned group = lane / 4;
    const unsigned within = lane % 4;
    switch (f) {
    case fragment::a:
        return {group + (tall ? 8 * (r & 1) : 0), within * parts + part + (tall ? r >> 1 : r) * 4 * parts};
    case fragment::b: return {within * parts + part + r * 4 * parts, group};
    default:
        return parts == 2 ? element_position{group + 8 * r, 2 * within + part}
                          : element_position{group + 8 * (r >> 1), 2 * within + (r & 1)};
    }
}

// mma.m8n8k4 of halves, within the product of the lane's quad pair.
element_position quad_position(fragment f, bool by_rows, unsigned parts, unsigned r, unsigned part, unsigned lane) {
    const unsigned within = lane % 4;
    const unsigned high = lane < 16 ? 0 : 4;
    const unsigned n = r * parts + part;
    switch (f) {
    case fragment::a: return by_rows ? element_position{within + high, n} : element_position{n + high, within};
    case fragment::b: return by_rows ? element_position{within, n + high} : element_position{n, within + high};
    default:
        return parts == 2 ? element_position{within + high, n}
                          : element_position{(within & 1) + (n & 2) + high, (n & 4) + (within & 2) + (n & 1)};
    }
}

// Registers of a block of 16 rows of A, 8 columns of B, or 16 x 8 of C and D.
unsigned block_registers(const matrix_shape& s, fragment f, unsigned parts) {
    const unsigned elements = f == fragment::a ? 16 * s.k : f == fragment::b ? s.k * 8 : 16 * 8;
    return elements / (lanes * parts);
}

// Registers of a lane that differ: wmma keeps elements of halves in several.
unsigned used_registers(const matrix_shape& s, fragment f) {
    const bool factor = f == fragment::a || f == fragment::b;
    if (!factor || !s.is_wmma || s.type_of(f) != suffix::f16) {
        return s.registers_of(f);
    }
    return (f == fragment::a ? s.m * s.k : s.k * s.n) / (lanes * 2);
}

bool is_same(const matrix_shape& a, const matrix_shape& b) {
    return a.m == b.m && a.n == b.n && a.k == b.k && a.is_wmma == b.is_wmma && a.is_warpgroup == b.is_warpgroup &&
           a.is_sparse == b.is_sparse && std::ranges::equal(a.type, b.type) && std::ranges::equal(a.by_rows, b.by_rows);
}

// Plans of fragments. Instructions keep their numbers, so entries stay where they are. These plans and those of matrices are never
// destroyed: kernels may still run while the process ends.
struct fragment_plans {
    std::mutex mutex;
    std::array<fragment_plan, 256> all;
    std::uint32_t count = 0;
};
fragment_plans& known_fragments() {
    static fragment_plans& plans = *new fragment_plans;
    return plans;
}

fragment other_factor(fragment f) { return f == fragment::a ? fragment::b : f == fragment::b ? fragment::a : f; }

} // namespace

unsigned parts_of(const matrix_shape& s, fragment f) noexcept { return std::max(1u, 32 / element_bits(s.type_of(f))); }

element_position position_of(const matrix_shape& s, fragment f, unsigned r, unsigned part, unsigned lane) {
    const unsigned parts = parts_of(s, f);
    if (s.is_by_quads()) {
        return quad_position(f, s.by_rows[f == fragment::b ? 1 : 0], parts, r, part, lane);
    }
    if (s.m == 8 && s.n == 32) {
        matrix_shape turned = s;
        std::swap(turned.m, turned.n);
        std::swap(turned.type[1], turned.type[2]);
        const element_position p = position_of(turned, other_factor(f), r, part, lane);
        return {p.column, p.row};
    }
    if (s.m == 8) {
        return mma_position(f, false, parts, r, part, lane);
    }
    const unsigned each = block_registers(s, f, parts);
    const unsigned block = r / each;
    element_position p = mma_position(f, true, parts, r % each, part, lane);
    const bool by_rows = f == fragment::a || (f != fragment::b && s.m == 32);
    if (by_rows) {
        p.row += 16 * block % s.m;
    } else {
        p.column += 8 * block % s.n;
    }
    return p;
}

const matrix_plan* plan_of(const matrix_shape& s) {
    static std::mutex mutex;
    static std::deque<matrix_plan>& plans = *new std::deque<matrix_plan>;
    const std::scoped_lock lock(mutex);
    for (const matrix_plan& known : plans) {
        if (is_same(known.shape, s)) {
            return &known;
        }
    }
    matrix_plan& p = plans.emplace_back();
    p.shape = s;
    p.swapped = s.m == 8 && s.n == 32;
    const unsigned rows = p.swapped ? s.n : s.m;
    p.blocks = std::max(1u, rows / matrix_plan::block_rows);
    p.columns = p.swapped ? s.m : s.n;
    const bool bits = s.type_of(fragment::a) == suffix::b1;
    p.terms = bits ? s.k / 32 : s.k;
    const bool fp8 = !s.is_warpgroup && !s.is_sparse && is_in_bytes(s.type_of(fragment::a));
    for (const fragment f : {fragment::d, fragment::a, fragment::b, fragment::c}) {
        const auto n = static_cast<std::size_t>(f);
        const fragment role = p.swapped ? other_factor(f) : f;
        const bool factor = f == fragment::a || f == fragment::b;
        const unsigned parts = parts_of(s, f);
        p.parts[n] = bits && factor ? 1 : parts;
        p.used[n] = used_registers(s, f);
        p.at[n].reserve(std::size_t{p.used[n]} * p.parts[n] * lanes);
        for (unsigned r = 0; r < p.used[n]; ++r) {
            for (unsigned part = 0; part < p.parts[n]; ++part) {
                for (unsigned lane = 0; lane < lanes; ++lane) {
                    element_position e = position_of(s, f, r, part, lane);
                    if (p.swapped) {
                        std::swap(e.row, e.column);
                    }
                    // fp8 is multiplied as halves: first the lower two bytes of each register, then the others.
                    const auto term = [&](unsigned k) {
                        return bits ? k / 32 : fp8 ? k / 4 * 2 + k % 2 + (k % 4 / 2) * (s.k / 2) : k;
                    };
                    constexpr unsigned side = matrix_plan::block_rows;
                    unsigned at = 0;
                    if (role == fragment::a) {
                        at = (e.row / side * p.terms + term(e.column)) * side + e.row % side;
                    } else if (role == fragment::b) {
                        at = e.column * p.terms + term(e.row);
                    } else {
                        at = (e.row / side * p.columns + e.column) * side + e.row % side;
                    }
                    if (s.is_by_quads()) {
                        at += 8 * side * (lane % 16 / 4);
                    }
                    p.at[n].push_back(static_cast<std::uint16_t>(at));
                }
            }
        }
    }
    return &p;
}

std::uint32_t fragment_plan_of(const matrix_shape& s, fragment f, bool by_rows) {
    fragment_plans& known = known_fragments();
    const std::scoped_lock lock(known.mutex);
    for (std::uint32_t n = 0; n < known.count; ++n) {
        const fragment_plan& p = known.all[n];
        if (p.what == f && p.by_rows == by_rows && is_same(p.shape, s)) {
            return n;
        }
    }
    fragment_plan& p = known.all.at(known.count);
    p.shape = s;
    p.what = f;
    p.by_rows = by_rows;
    p.bits = element_bits(s.type_of(f));
    p.parts = parts_of(s, f);
    p.registers = s.registers_of(f);
    p.used = used_registers(s, f);
    const unsigned rows = f == fragment::b ? s.k : s.m;
    const unsigned columns = f == fragment::a ? s.k : s.n;
    p.default_stride = by_rows ? columns : rows;
    p.outer.reserve(std::size_t{p.used} * p.parts * lanes);
    p.inner.reserve(std::size_t{p.used} * p.parts * lanes);
    for (unsigned r = 0; r < p.used; ++r) {
        for (unsigned part = 0; part < p.parts; ++part) {
            for (unsigned lane = 0; lane < lanes; ++lane) {
                const element_position e = position_of(s, f, r, part, lane);
                p.outer.push_back(static_cast<std::uint16_t>(by_rows ? e.row : e.column));
                p.inner.push_back(static_cast<std::uint16_t>(by_rows ? e.column : e.row));
            }
        }
    }
    p.contiguous = p.parts == 1 || p.outer[0] == p.outer[lanes];
    return known.count++;
}

const fragment_plan& fragment_plan_at(std::uint32_t number) { return known_fragments().all[number]; }

} // namespace softgpu::machine
