// SPDX-License-Identifier: MIT
// ldmatrix, stmatrix and movmatrix: matrices of 8 x 8 elements of 16 bits, whose rows lie in shared memory or, two
// elements a lane, in a register; and those of 16 elements of 8 bits a row.
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

// The rows of a group of 8 rows, in order; false: a fault was raised.
template <verb Verb, unsigned Groups, bool Generic>
SOFTGPU_INLINE bool find_rows(std::uint32_t* at, const instruction* i, warp* w) {
    const lane_mask rows = lanes_from(0, side * Groups);
    if (!row_addresses<Verb, Generic>(at, i, w, rows) || !check_shared<Verb>(i, w, rows, at, row_bytes)) {
        return false;
    }
    if (w->host->count) {
        count_rows<Verb, Groups>(w, at);
    }
    return true;
}

SOFTGPU_INLINE void write_words(const instruction* i, std::byte* frame, const warp* w, unsigned k,
                                const std::uint32_t* words) {
    if (i->places[k] != nowhere) {
        map_lanes(
            w->mask, written<std::uint32_t>(frame, i->places[k]), [](std::uint32_t v) { return v; }, words);
    }
}

template <verb Verb, unsigned Matrices, bool Transposed, bool Generic>
const instruction* move_rows(const instruction* i, std::byte* frame, warp* w) {
    return whole_warp(i, frame, w, [&] {
        alignas(64) std::uint32_t at[lanes];
        if (!find_rows<Verb, Matrices, Generic>(at, i, w)) {
            return false;
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
                write_words(i, frame, w, k, reinterpret_cast<const std::uint32_t*>(m[k]));
            }
        }
        return true;
    });
}

// Elements of 8 bits. Which byte of shared memory is byte `part` of register `r` of a lane: a row, by the lane that gives its address,
// and a column. The transposed layouts are those that CUTLASS 4.2 states for its copies (SM100_U8x8_LDSM_T and the like).
struct byte_place {
    unsigned row, column;
};
SOFTGPU_INLINE byte_place byte_of(std::uint32_t layout, unsigned r, unsigned part, unsigned lane) {
    const unsigned quad = lane % 4;
    switch (layout) {
    case byte_rows_plain: return {r * side + lane / 4, 4 * quad + part};
    case byte_rows_of_8: return {r * side + 2 * quad + (part & 1), lane / 4 + side * (part >> 1)};
    default: return {r / 2 * 16 + 4 * quad + r % 2 * 2 + (part & 1), lane / 4 + side * (part >> 1)};
    }
}

// 16 elements of `bits` bits, each to the low bits of a byte.
SOFTGPU_INLINE void spread_row(std::uint8_t* row, unsigned bits) {
    std::uint64_t packed[2];
    std::memcpy(packed, row, sizeof(packed));
    const auto all = static_cast<uint128>(packed[1]) << 64 | packed[0];
    for (unsigned k = 0; k < row_bytes; ++k) {
        row[k] = static_cast<std::uint8_t>(static_cast<unsigned>(all >> (bits * k)) & ((1u << bits) - 1));
    }
}

template <verb Verb, unsigned Groups, bool Generic>
const instruction* move_byte_rows(const instruction* i, std::byte* frame, warp* w) {
    return whole_warp(i, frame, w, [&] {
        alignas(64) std::uint32_t at[lanes];
        if (!find_rows<Verb, Groups, Generic>(at, i, w)) {
            return false;
        }
        const std::uint32_t layout = i->more & byte_rows_layout;
        std::byte* const shared = w->owner->shared;
        alignas(64) std::uint8_t m[Groups * side][row_bytes];
        alignas(64) std::uint32_t words[Groups][lanes] = {};
        const auto each_byte = [&](auto&& body) {
            for (unsigned r = 0; r < Groups; ++r) {
                for (unsigned l = 0; l < lanes; ++l) {
                    for (unsigned part = 0; part < 4; ++part) {
                        const byte_place p = byte_of(layout, r, part, l);
                        body(m[p.row][p.column], words[r][l], 8 * part);
                    }
                }
            }
        };
        if constexpr (Verb == verb::load) {
            for (unsigned row = 0; row < Groups * side; ++row) {
                std::memcpy(m[row], shared + at[row], row_bytes);
                if ((i->more & (byte_rows_from_4_bits | byte_rows_from_6_bits)) != 0) {
                    spread_row(m[row], (i->more & byte_rows_from_4_bits) != 0 ? 4 : 6);
                }
            }
            each_byte([](std::uint8_t byte, std::uint32_t& word, unsigned shift) {
                word |= static_cast<std::uint32_t>(byte) << shift;
            });
            for (unsigned r = 0; r < Groups; ++r) {
                write_words(i, frame, w, r, words[r]);
            }
        } else {
            for (unsigned r = 0; r < Groups; ++r) {
                std::memcpy(words[r], read<std::uint32_t>(w, i->places[r]), sizeof(words[r]));
            }
            each_byte([](std::uint8_t& byte, std::uint32_t word, unsigned shift) {
                byte = static_cast<std::uint8_t>(word >> shift);
            });
            for (unsigned row = 0; row < Groups * side; ++row) {
                std::memcpy(shared + at[row], m[row], row_bytes);
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
        write_words(i, frame, w, 0, reinterpret_cast<const std::uint32_t*>(m));
        return true;
    });
}

template <verb Verb, unsigned Matrices>
handler rows_of(const form& f) {
    const bool transposed = f.has(suffix::trans);
    const bool generic = f.space == suffix::none;
    if (byte_rows(f) != 0 && (generic || f.space == suffix::shared || f.space == suffix::shared_cta)) {
        return generic ? move_byte_rows<Verb, Matrices, true> : move_byte_rows<Verb, Matrices, false>;
    }
    if (generic) {
        return transposed ? move_rows<Verb, Matrices, true, true> : move_rows<Verb, Matrices, false, true>;
    }
    if (f.space != suffix::shared && f.space != suffix::shared_cta) {
        return nullptr;
    }
    return transposed ? move_rows<Verb, Matrices, true, false> : move_rows<Verb, Matrices, false, false>;
}

template <verb Verb>
handler choose_rows(const form& f) {
    switch (row_groups(f)) {
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
