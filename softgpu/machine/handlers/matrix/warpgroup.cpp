// SPDX-License-Identifier: MIT
// wgmma: the last of a warpgroup's four warps that comes to the instruction forms the rows of all four; PTX allows any moment
// up to the wait. How sums are rounded: docs/tensor-cores.md.
#include <optional>

#include "softgpu/machine/code/matrix/warpgroup_plan.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/matrix/columns.hpp"
#include "softgpu/machine/handlers/matrix/whole_warp.hpp"
#include "softgpu/machine/run/warp/warpgroup.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

constexpr unsigned group_rows = 8; // of M or N that are fetched at once

// Elements of eight rows of M or N, K by K.
struct row_group {
    alignas(64) std::uint32_t of[group_rows][most_group_terms];
};

// What the warp multiplies, beside its plan.
struct product {
    const instruction* i;
    warp* w;
    const matrix_plan& plan;
    suffix a_type, b_type, d_type;
    unsigned bits; // of an element
    column_types types;
    alignas(64) std::uint32_t a[most_group_terms * rows];
    alignas(64) std::uint32_t d[warpgroup_most_columns * rows];

    product(const instruction* from, warp* by)
        : i(from),
          w(by),
          plan(plan_of(from)),
          a_type(plan.shape.type_of(fragment::a)),
          b_type(plan.shape.type_of(fragment::b)),
          d_type(plan.shape.type_of(fragment::d)),
          bits(a_type == suffix::b1 ? 32 : element_bits(a_type)),
          types{a_type, b_type, d_type, plan.terms, is_fp8(a_type), (from->more & warpgroup_saturates) != 0} {}
};

// 16 bytes of shared memory; nullptr: a fault was raised.
SOFTGPU_INLINE const std::byte* find_unit(const product& p, std::uint32_t at) {
    const std::uint64_t size = p.w->host->launch->shared_bytes;
    if (at + 16 > size) [[unlikely]] {
        raise_access(p.w, p.i, "read a matrix in", "shared", at, 16, false, first_lane(p.w->mask));
        return nullptr;
    }
    return p.w->owner->shared + at;
}

template <class Element>
SOFTGPU_INLINE void spread_elements(std::uint32_t* to, const std::byte* from, unsigned bytes) {
    for (unsigned k = 0; k < bytes / sizeof(Element); ++k) {
        Element e;
        std::memcpy(&e, from + k * sizeof(e), sizeof(e));
        to[k] = e;
    }
}

bool fetch_by_rows(const product& p, const matrix_descriptor& d, unsigned group, row_group& to) {
    for (unsigned r = 0; r < group_rows; ++r) {
        alignas(32) std::byte row[warpgroup_row_bytes];
        for (unsigned half = 0; half < 2; ++half) {
            const std::byte* const unit = find_unit(p, d.at_row(group * group_rows + r, half));
            if (unit == nullptr) {
                return false;
            }
            std::memcpy(row + half * 16, unit, 16);
        }
        switch (p.bits) {
        case 8: spread_elements<std::uint8_t>(to.of[r], row, sizeof(row)); break;
        case 16: spread_elements<std::uint16_t>(to.of[r], row, sizeof(row)); break;
        default: spread_elements<std::uint32_t>(to.of[r], row, sizeof(row)); break;
        }
    }
    return true;
}

bool fetch_by_columns(const product& p, const matrix_descriptor& d, unsigned group, row_group& to) {
    for (unsigned k = 0; k < p.plan.terms; ++k) {
        const std::byte* const unit = find_unit(p, d.at_group(group, k));
        if (unit == nullptr) {
            return false;
        }
        for (unsigned r = 0; r < group_rows; ++r) {
            std::uint16_t e;
            std::memcpy(&e, unit + r * sizeof(e), sizeof(e));
            to.of[r][k] = e;
        }
    }
    return true;
}

bool fetch(const product& p, const matrix_descriptor& d, bool transposed, unsigned group, row_group& to) {
    return transposed ? fetch_by_columns(p, d, group, to) : fetch_by_rows(p, d, group, to);
}

// The same in all lanes.
bool find_descriptor(const instruction* i, warp* w, place at, std::uint64_t& bits) {
    const auto* const own = read<std::uint64_t>(w, at);
    bits = own[first_lane(w->mask)];
    bool same = true;
    each_lane(w->mask, [&](unsigned l) { same = same && own[l] == bits; });
    if (!same) {
        raise(w, i, fault_kind::trap, "wgmma with different matrix descriptors in the lanes of a warp", w->mask);
    }
    return same;
}

bool fetch_a(product& p) {
    const instruction* const i = p.i;
    if (i->a == nowhere) {
        gather(i, p.w, p.plan, fragment::a, p.a);
        return true;
    }
    std::uint64_t bits = 0;
    if (!find_descriptor(i, p.w, i->a, bits)) {
        return false;
    }
    const matrix_descriptor d(bits);
    for (unsigned half = 0; half < 2; ++half) {
        row_group g;
        const unsigned group = p.w->index % warpgroup_warps * 2 + half;
        if (!fetch(p, d, (i->more & warpgroup_transposes_a) != 0, group, g)) {
            return false;
        }
        for (unsigned k = 0; k < p.plan.terms; ++k) {
            for (unsigned r = 0; r < group_rows; ++r) {
                p.a[k * rows + half * group_rows + r] = g.of[r][k];
            }
        }
    }
    return true;
}

SOFTGPU_INLINE void negate(std::uint32_t* x, unsigned count, unsigned bits) {
    for (unsigned k = 0; k < count; ++k) {
        x[k] ^= 1u << (bits - 1);
    }
}

bool run_product(product& p, std::byte* frame) {
    const instruction* const i = p.i;
    warp* const w = p.w;
    std::uint64_t bits = 0;
    if (!find_descriptor(i, w, i->b, bits) || !fetch_a(p)) {
        return false;
    }
    const matrix_descriptor b_view(bits);
    const bool adds =
        ((read_mask(w, i->e) >> first_lane(w->mask) & 1u) != 0) != ((i->more & warpgroup_scale_is_negated) != 0);
    if (adds) {
        gather(i, w, p.plan, fragment::d, p.d);
    } else {
        std::memset(p.d, 0, p.plan.columns * rows * sizeof(p.d[0]));
    }
    const bool floats = p.d_type != suffix::s32;
    const unsigned factors = p.plan.terms * rows;
    if ((i->more & warpgroup_negates_a) != 0) {
        negate(p.a, factors, p.bits);
    }
    std::optional<split_rows> split;
    if (floats) {
        split.emplace(p.types, p.a, nullptr);
    } else {
        extend(p.a, factors, p.a_type);
    }
    for (unsigned group = 0; group < p.plan.columns / group_rows; ++group) {
        row_group g;
        if (!fetch(p, b_view, (i->more & warpgroup_transposes_b) != 0, group, g)) {
            return false;
        }
        for (unsigned r = 0; r < group_rows; ++r) {
            std::uint32_t* const b = g.of[r];
            std::uint32_t* const d = p.d + (group * group_rows + r) * rows;
            if ((i->more & warpgroup_negates_b) != 0) {
                negate(b, p.plan.terms, p.bits);
            }
            if (floats) {
                float_column(p.types, *split, b, d);
            } else {
                extend(b, p.plan.terms, p.b_type);
                integer_column(p.types, p.a, b, d);
            }
        }
    }
    scatter(i, frame, w, p.plan, p.d);
    return true;
}

// The rows of one warp, all of whose live lanes are here. Returns where it goes on.
const instruction* multiply_rows(const instruction* i, warp* w) {
    const auto body = [&] {
        ++w->counts->matrix_products;
        product p(i, w);
        return run_product(p, w->frame);
    };
    if ((w->live & ~w->mask) != 0) [[unlikely]] {
        return gather_and_run(i, w, body);
    }
    return body() ? i + 1 : nullptr;
}

const instruction* multiply_warpgroup(const instruction* i, std::byte* /*frame*/, warp* w) {
    const instruction* next = nullptr;
    if (!gather_warpgroup(w, i, &next)) {
        return next;
    }
    for (warp* const m : warpgroup_of(w)) {
        const instruction* const after = multiply_rows(i, m);
        if (after == nullptr) {
            return nullptr;
        }
        (m == w ? next : m->pc) = after;
    }
    return next;
}

// fence, commit_group, wait_group: products are complete already.
const instruction* meet_lanes(const instruction* i, std::byte* frame, warp* w) {
    return whole_warp(i, frame, w, [] { return true; });
}

} // namespace

handler choose_warpgroup(const form& f) {
    if (warpgroup_shape_of(f)) {
        return multiply_warpgroup;
    }
    const bool known = f.has(suffix::fence) || f.has(suffix::commit_group) || f.has(suffix::wait_group);
    return known && !f.has(suffix::mma_async) && f.has(suffix::sync) ? meet_lanes : nullptr;
}

} // namespace softgpu::machine::SOFTGPU_TARGET
