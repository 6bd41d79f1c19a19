// SPDX-License-Identifier: MIT
// The fragments of a product in arrays, by the plan of its form (code/matrix/matrix_plan.hpp).
#pragma once

#include "softgpu/machine/code/matrix/matrix_plan.hpp"
#include "softgpu/machine/handlers/lanes.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

constexpr unsigned rows = matrix_plan::block_rows;
constexpr unsigned most_blocks = 2;
constexpr unsigned most_terms = 64;
constexpr unsigned most_columns = 16;

SOFTGPU_INLINE const matrix_plan& plan_of(const instruction* i) {
    return *reinterpret_cast<const matrix_plan*>(static_cast<std::uintptr_t>(i->immediate));
}

// The first register of a fragment in the list of places.
SOFTGPU_INLINE const place* places_of(const instruction* i, const matrix_plan& p, fragment f) {
    const place* at = i->places;
    for (unsigned k = 0; k < static_cast<unsigned>(f); ++k) {
        at += p.shape.registers[k];
    }
    return at;
}

// Elements of `Bits` bits, as words.
template <unsigned Bits, class Word>
SOFTGPU_INLINE void gather_bits(const instruction* i, const warp* w, const matrix_plan& p, fragment f, Word* to) {
    const place* const from = places_of(i, p, f);
    const std::uint16_t* at = p.at[static_cast<unsigned>(f)].data();
    const unsigned count = p.used[static_cast<unsigned>(f)];
    for (unsigned r = 0; r < count; ++r) {
        const Word* const word = read<Word>(w, from[r]);
        for (unsigned part = 0; part < (Bits < 32 ? 32 / Bits : 1); ++part, at += lanes) {
            for (unsigned l = 0; l < lanes; ++l) {
                if constexpr (Bits < 32) {
                    to[at[l]] = word[l] >> (part * Bits) & ((1u << Bits) - 1);
                } else {
                    to[at[l]] = word[l];
                }
            }
        }
    }
}
inline void gather(const instruction* i, const warp* w, const matrix_plan& p, fragment f, std::uint32_t* to) {
    switch (p.parts[static_cast<unsigned>(f)]) {
    case 1: gather_bits<32>(i, w, p, f, to); break;
    case 2: gather_bits<16>(i, w, p, f, to); break;
    case 4: gather_bits<8>(i, w, p, f, to); break;
    default: gather_bits<4>(i, w, p, f, to); break;
    }
}

// Puts D into its registers.
template <class Word>
SOFTGPU_INLINE void scatter(const instruction* i, std::byte* frame, const warp* w, const matrix_plan& p,
                            const Word* from) {
    const std::uint16_t* at = p.at[0].data();
    for (unsigned r = 0; r < p.used[0]; ++r) {
        alignas(64) Word value[lanes];
        for (unsigned l = 0; l < lanes; ++l) {
            value[l] = from[at[l]];
        }
        at += lanes;
        if (p.parts[0] == 2) {
            for (unsigned l = 0; l < lanes; ++l) {
                value[l] |= from[at[l]] << 16;
            }
            at += lanes;
        }
        if (i->places[r] != nowhere) {
            map_lanes(
                w->mask, written<Word>(frame, i->places[r]), [](Word v) { return v; }, value);
        }
    }
}

struct tile {
    alignas(64) std::uint32_t a[most_blocks * most_terms * rows];
    alignas(64) std::uint32_t b[most_columns * most_terms];
    alignas(64) std::uint32_t c[most_blocks * most_columns * rows]; // D, too
};

SOFTGPU_INLINE void gather_tile(const instruction* i, const warp* w, const matrix_plan& p, tile& t) {
    if (p.shape.m == 8) {
        std::memset(t.a, 0, p.terms * rows * sizeof(t.a[0]));
        std::memset(t.c, 0, p.columns * rows * sizeof(t.c[0]));
    }
    gather(i, w, p, p.swapped ? fragment::b : fragment::a, t.a);
    gather(i, w, p, p.swapped ? fragment::a : fragment::b, t.b);
    gather(i, w, p, fragment::c, t.c);
}

// Of .satfinite.
SOFTGPU_INLINE std::uint32_t limited(std::int64_t x) {
    return x > 0x7FFFFFFF ? 0x7FFFFFFFu : x < -0x80000000ll ? 0x80000000u : static_cast<std::uint32_t>(x);
}

// Handler of products of floats of 32 bits and fewer (mma_floats.cpp).
const instruction* multiply_floats(const instruction* i, std::byte* frame, warp* w);

} // namespace softgpu::machine::SOFTGPU_TARGET
