// SPDX-License-Identifier: MIT
// ldmatrix, stmatrix and movmatrix: matrices of 8 x 8 elements of 16 bits, whose rows lie in shared memory or, two
// elements a lane, in a register.
#include <cstdio>

#include "softgpu/machine/code/matrix/matrix_shape.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/matrix/whole_warp.hpp"
#include "softgpu/machine/handlers/memory/lane_addresses.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

constexpr unsigned side = 8;
constexpr unsigned row_bytes = 16;

// The matrix whose rows are given by lanes: register of lane l = elements 2 (l mod 4) and the next of row l / 4; or
// transposed.
SOFTGPU_INLINE void transpose(std::uint16_t* m) {
    for (unsigned r = 0; r < side; ++r) {
        for (unsigned c = r + 1; c < side; ++c) {
            const std::uint16_t other = m[r * side + c];
            m[r * side + c] = m[c * side + r];
            m[c * side + r] = other;
        }
    }
}

__attribute__((noinline)) void raise_elsewhere(const instruction* i, warp* w, const char* verb, std::uint64_t at,
                                               unsigned lane) {
    char text[96];
    std::snprintf(text, sizeof(text), "cannot %s %u bytes at 0x%llx: it is not in shared memory", verb, row_bytes,
                  static_cast<unsigned long long>(at));
    raise(w, i, fault_kind::illegal_address, text, 1u << lane);
}

// Addresses of the rows, one a lane, within shared memory. false: a fault was raised.
template <verb Verb, bool Generic>
SOFTGPU_INLINE bool row_addresses(std::uint32_t* at, const instruction* i, warp* w, lane_mask rows) {
    if constexpr (Generic) {
        alignas(64) std::uint64_t whole[lanes];
        addresses(whole, i, w);
        const std::uint64_t base = w->host->launch->memory->shared_window();
        lane_mask elsewhere = 0;
        for (unsigned l = 0; l < lanes; ++l) {
            elsewhere |= (whole[l] - base >= memory::device_memory::window_bytes ? 1u : 0u) << l;
            at[l] = static_cast<std::uint32_t>(whole[l] - base);
        }
        if ((elsewhere & rows) != 0) {
            const unsigned first = first_lane(elsewhere & rows);
            raise_elsewhere(i, w, verb_name<Verb>, whole[first], first);
            return false;
        }
    } else {
        shared_addresses(at, i, w);
    }
    return true;
}

// A wavefront serves one matrix: 8 rows of 16 bytes, unless rows meet in banks.
template <verb Verb, unsigned Matrices>
void count_rows(warp* w, const std::uint32_t* at) {
    bank_cost cost;
    for (unsigned k = 0; k < Matrices; ++k) {
        unsigned groups = 0; // of four banks
        for (unsigned r = 0; r < side; ++r) {
            groups |= 1u << (at[k * side + r] / row_bytes % 8);
        }
        if (groups == 0xFF) {
            ++cost.wavefronts;
            continue;
        }
        const bank_cost one = count_wavefronts<verb::store>(0xFFu << (side * k), at, row_bytes);
        cost.wavefronts += one.wavefronts;
        cost.conflicts += one.conflicts;
    }
    count_shared<Verb>(w, lanes_from(0, side * Matrices), cost, row_bytes);
}

template <verb Verb, unsigned Matrices, bool Transposed, bool Generic>
const instruction* move_rows(const instruction* i, std::byte* frame, warp* w) {
    return whole_warp(i, frame, w, [&] {
        alignas(64) std::uint32_t at[lanes];
        const lane_mask rows = lanes_from(0, side * Matrices);
        if (!row_addresses<Verb, Generic>(at, i, w, rows) || !check_shared<Verb>(i, w, rows, at, row_bytes)) {
            return false;
        }
        if (w->host->count) {
            count_rows<Verb, Matrices>(w, at);
        }
        std::byte* const shared = w->owner->shared;
        alignas(64) std::uint16_t m[Matrices][side * side];
        for (unsigned k = 0; k < Matrices; ++k) {
            if constexpr (Verb == verb::load) {
                for (unsigned r = 0; r < side; ++r) {
                    std::memcpy(m[k] + r * side, shared + at[k * side + r], row_bytes);
                }
                if (Transposed) {
                    transpose(m[k]);
                }
            } else {
                std::memcpy(m[k], read<std::uint32_t>(w, i->places[k]), sizeof(m[k]));
                if (Transposed) {
                    transpose(m[k]);
                }
                for (unsigned r = 0; r < side; ++r) {
                    std::memcpy(shared + at[k * side + r], m[k] + r * side, row_bytes);
                }
            }
        }
        if constexpr (Verb == verb::load) {
            for (unsigned k = 0; k < Matrices; ++k) {
                if (i->places[k] != nowhere) {
                    map_lanes(
                        w->mask, written<std::uint32_t>(frame, i->places[k]), [](std::uint32_t v) { return v; },
                        reinterpret_cast<const std::uint32_t*>(m[k]));
                }
            }
        }
        return true;
    });
}

const instruction* move_matrix(const instruction* i, std::byte* frame, warp* w) {
    return whole_warp(i, frame, w, [&] {
        alignas(64) std::uint16_t m[side * side];
        std::memcpy(m, read<std::uint32_t>(w, i->places[1]), sizeof(m));
        transpose(m);
        if (i->places[0] != nowhere) {
            map_lanes(
                w->mask, written<std::uint32_t>(frame, i->places[0]), [](std::uint32_t v) { return v; },
                reinterpret_cast<const std::uint32_t*>(m));
        }
        return true;
    });
}

template <verb Verb, unsigned Matrices>
handler rows_of(const form& f) {
    const bool transposed = f.has(suffix::trans);
    if (f.space == suffix::none) {
        return transposed ? move_rows<Verb, Matrices, true, true> : move_rows<Verb, Matrices, false, true>;
    }
    if (f.space != suffix::shared && f.space != suffix::shared_cta) {
        return nullptr;
    }
    return transposed ? move_rows<Verb, Matrices, true, false> : move_rows<Verb, Matrices, false, false>;
}

template <verb Verb>
handler choose_rows(const form& f) {
    switch (row_matrices(f)) {
    case 1: return rows_of<Verb, 1>(f);
    case 2: return rows_of<Verb, 2>(f);
    case 4: return rows_of<Verb, 4>(f);
    default: return nullptr;
    }
}

} // namespace

handler choose_matrix_rows(const form& f) {
    switch (f.op) {
    case opcode::ldmatrix: return choose_rows<verb::load>(f);
    case opcode::stmatrix: return choose_rows<verb::store>(f);
    case opcode::movmatrix: return f.has(suffix::trans) && f.type[0] == suffix::b16 ? move_matrix : nullptr;
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
