// SPDX-License-Identifier: MIT
// A cache of address patterns. Most accesses have the pattern of the last access by the same register: the same distances
// between lanes, at another base. Then extent, bank conflicts, sectors and the way to move the data are known.
#pragma once

#include "softgpu/machine/handlers/memory/access_cost.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

constexpr unsigned pattern_bytes_shift = 32;
constexpr std::uint64_t pattern_in_global = 1ull << 40;

template <unsigned Bytes, bool Global>
constexpr std::uint64_t pattern_key(lane_mask mask) {
    return mask | std::uint64_t{Bytes} << pattern_bytes_shift | (Global ? pattern_in_global : 0);
}

// Where the pattern of an access is kept: by the number of its address register, the active lanes, and how far the last
// of them is from the first.
SOFTGPU_INLINE address_pattern& pattern_of(const instruction* i, const warp* w, lane_mask mask, std::uint64_t apart) {
    const worker* const host = w->host;
    const std::uint32_t mixed = (~mask ^ static_cast<std::uint32_t>(apart)) * 0x9E3779B1u >> 22;
    return host->patterns[(i->c + mixed) & host->patterns_last];
}

SOFTGPU_INLINE bool has_pattern(const address_pattern& p, lane_mask mask, const std::uint32_t* at,
                                std::uint32_t first) {
#ifdef __AVX2__
    if (mask == all_lanes) [[likely]] {
        const auto* const here = reinterpret_cast<const __m256i*>(at);
        const auto* const known = reinterpret_cast<const __m256i*>(p.offset);
        const __m256i origin = _mm256_set1_epi32(static_cast<int>(first));
        __m256i off = _mm256_setzero_si256();
        for (unsigned k = 0; k < 4; ++k) {
            off = _mm256_or_si256(off, _mm256_xor_si256(_mm256_sub_epi32(here[k], origin), known[k]));
        }
        return _mm256_testz_si256(off, off) != 0;
    }
#endif
    std::uint32_t off = 0;
    if (mask == all_lanes) [[likely]] {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            off |= (at[l] - first) ^ p.offset[l];
        }
    } else {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            off |= (mask & (1u << l)) != 0 ? (at[l] - first) ^ p.offset[l] : 0;
        }
    }
    return off == 0;
}
SOFTGPU_INLINE bool has_pattern(const address_pattern& p, lane_mask mask, const std::uint64_t* at,
                                std::uint64_t first) {
    std::uint64_t off = 0;
    const auto apart = [&](unsigned l) {
        return (at[l] - first) ^ static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(p.offset[l])});
    };
    if (mask == all_lanes) [[likely]] {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            off |= apart(l);
        }
    } else {
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            off |= (mask & (1u << l)) != 0 ? apart(l) : 0;
        }
    }
    return off == 0;
}

// Whether eight lanes from `from` on are a run, or have one address.
inline bool is_quarter(const address_pattern& p, unsigned from, std::uint32_t step) {
    bool same = true;
    for (unsigned l = 1; l < 8; ++l) {
        same = same && p.offset[from + l] == p.offset[from] + l * step;
    }
    return same;
}

inline pattern_shape shape_of(const address_pattern& p, lane_mask mask, std::uint32_t bytes) {
    const std::uint32_t first = first_lane(mask);
    if (is_run(mask, p.offset, 0 - first * bytes, bytes)) {
        return pattern_shape::run;
    }
    if (is_run(mask, p.offset, 0, 0)) {
        return pattern_shape::uniform;
    }
    if (mask != all_lanes) {
        return pattern_shape::scattered;
    }
    bool runs = true;
    bool uniforms = true;
    for (unsigned q = 0; q < 4; ++q) {
        runs = runs && is_quarter(p, 8 * q, bytes);
        uniforms = uniforms && is_quarter(p, 8 * q, 0);
    }
    return runs ? pattern_shape::quarter_runs : uniforms ? pattern_shape::quarter_uniforms : pattern_shape::scattered;
}

// Stores the pattern of a valid access. false: its addresses are too far apart.
template <unsigned Bytes, class Address>
inline bool learn_pattern(address_pattern& p, lane_mask mask, const Address* at) {
    constexpr bool global = sizeof(Address) == 8;
    constexpr std::int64_t far = 1 << 30;
    const Address origin = at[first_lane(mask)];
    std::int64_t low = 0;
    std::int64_t high = 0;
    p.key = 0;
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        const std::uint64_t here = (mask & (1u << l)) != 0 ? at[l] : origin;
        const auto apart = static_cast<std::int64_t>(here - origin);
        p.offset[l] = static_cast<std::uint32_t>(apart);
        low = apart < low ? apart : low;
        high = apart > high ? apart : high;
    }
    if (low < -far || high > far) {
        return false;
    }
    p.low = static_cast<std::uint32_t>(low);
    p.span = static_cast<std::uint32_t>(high - low) + Bytes;
    p.shape = shape_of(p, mask, Bytes);
    if constexpr (global || Bytes < 4) {
        std::memset(p.sectors, 0, sizeof(p.sectors));
    } else {
        const bank_cost load = count_wavefronts<verb::load>(mask, at, Bytes);
        const bank_cost store = Bytes == 4 ? load : count_wavefronts<verb::store>(mask, at, Bytes);
        p.load_wavefronts = static_cast<std::uint16_t>(load.wavefronts);
        p.load_conflicts = static_cast<std::uint16_t>(load.conflicts);
        p.store_wavefronts = static_cast<std::uint16_t>(store.wavefronts);
        p.store_conflicts = static_cast<std::uint16_t>(store.conflicts);
    }
    p.key = pattern_key<Bytes, global>(mask);
    return true;
}

// In shared memory, from this address of the first active lane on.
template <verb Verb, unsigned Bytes>
SOFTGPU_INLINE bank_cost cost_of(address_pattern& p, lane_mask mask, std::uint32_t first) {
    if constexpr (Bytes >= 4) {
        return Verb == verb::load ? bank_cost{p.load_wavefronts, p.load_conflicts}
                                  : bank_cost{p.store_wavefronts, p.store_conflicts};
    } else { // which lanes share a word depends on where in a word the first one is
        std::uint8_t& known = p.sectors[first & 3];
        if (known == 0) [[unlikely]] {
            std::uint32_t at[lanes];
            for (unsigned l = 0; l < lanes; ++l) {
                at[l] = first + p.offset[l];
            }
            known = static_cast<std::uint8_t>(count_wavefronts<Verb>(mask, at, Bytes).wavefronts);
        }
        return {known, known - 1u};
    }
}

// Distinct sectors that the pattern touches from this address of the first active lane on.
inline unsigned sectors_of(address_pattern& p, lane_mask mask, std::uint64_t first) {
    std::uint8_t& known = p.sectors[first & 31];
    if (known == 0) {
        std::uint64_t at[lanes] = {};
        each_lane(mask, [&](unsigned l) {
            at[l] = first + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(p.offset[l])});
        });
        known = static_cast<std::uint8_t>(count_sectors(mask, at));
    }
    return known;
}

} // namespace softgpu::machine::SOFTGPU_TARGET
