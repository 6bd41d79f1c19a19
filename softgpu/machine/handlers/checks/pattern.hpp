// SPDX-License-Identifier: MIT
// Checks of an access whose pattern of addresses is known (memory/address_pattern.hpp): row by row or word by word, not
// lane by lane. Most accesses are of this kind.
#pragma once

#include <cstdlib>
#include <type_traits>

#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/handlers/checks/stamps.hpp"
#include "softgpu/machine/handlers/checks/valid_bits.hpp"
#include "softgpu/machine/handlers/memory/address_pattern.hpp"
#include "softgpu/machine/handlers/memory/lane_addresses.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// All lanes between the first and the last are active.
SOFTGPU_INLINE bool is_gapless(lane_mask mask) {
    return mask >> first_lane(mask) == all_lanes >> (31 - last_lane(mask) + first_lane(mask));
}

// Of lane 0, but for the time.
template <access_verb Verb>
SOFTGPU_INLINE stamp stamp_of(const access_site& site, std::uint32_t warp_index) {
    const stamp kind = Verb == access_verb::load ? (site.strength == check::strength::plain ? 0 : check::strong_read)
                                                 : static_cast<stamp>(site.strength) << check::strength_shift;
    return static_cast<stamp>(warp_index) << check::warp_shift | static_cast<stamp>(site.id) << check::site_shift |
           kind | check::bytes_bits;
}

// `begin` is the first active lane's first byte.
template <access_verb Verb>
SOFTGPU_INLINE bool pass_valid_pattern(const address_pattern& p, lane_mask mask, std::uint8_t* valid,
                                       std::uint64_t begin, unsigned bytes) {
    const auto at = [&](unsigned l) {
        return begin + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(p.offset[l])});
    };
    bool fine = true;
    switch (p.shape) {
    case pattern_shape::uniform: return pass_valid<Verb>(valid, begin, bytes);
    case pattern_shape::quarter_runs:
        for (unsigned q = 0; q < lanes; q += 8) {
            fine = pass_valid<Verb>(valid, at(q), 8 * bytes) && fine;
        }
        return fine;
    case pattern_shape::quarter_uniforms:
        for (unsigned q = 0; q < lanes; q += 8) {
            fine = pass_valid<Verb>(valid, at(q), bytes) && fine;
        }
        return fine;
    case pattern_shape::run:
        if (is_gapless(mask)) {
            return pass_valid<Verb>(valid, begin, static_cast<unsigned>(std::popcount(mask)) * bytes);
        }
        break;
    case pattern_shape::scattered: break;
    }
    each_lane(mask, [&](unsigned l) { fine = pass_valid<Verb>(valid, at(l), bytes) && fine; });
    return fine;
}

// `writes` and `reads` are those of the first active lane's first word. unwritten_since: nobody has written any of it
// since all of the block met, and nobody has acquired anything.
template <access_verb Verb, bool Global>
SOFTGPU_INLINE bool pass_race_pattern(const address_pattern& p, lane_mask mask, stamp* writes, stamp* reads,
                                      unsigned bytes, bool unwritten_since, const race_view& v) {
    const unsigned words = bytes / 4;
    const auto shift = static_cast<unsigned>(std::countr_zero(words));
    const auto away = [&](unsigned l) { return static_cast<std::int32_t>(p.offset[l]) / 4; };
    const unsigned first = first_lane(mask);
    switch (p.shape) {
    case pattern_shape::run:
        if (is_gapless(mask)) [[likely]] {
            const word_row row{writes, reads, static_cast<unsigned>(std::popcount(mask)) * words, first, shift};
            if (!unwritten_since && !may_pass_row<Verb, Global>(row, v)) {
                return false;
            }
            note_row<Verb, Global>(row, v);
            return true;
        }
        break;
    case pattern_shape::uniform:
        if (Verb != access_verb::load) {
            return false; // several lanes write one word
        }
        for (unsigned k = 0; !unwritten_since && k < words; ++k) {
            if (!may_read_together(writes[k], reads[k], first, last_lane(mask), v)) {
                return false;
            }
        }
        for (unsigned k = 0; k < words; ++k) {
            note_read_together<Global>(reads[k], first, last_lane(mask), v);
        }
        return true;
    case pattern_shape::quarter_runs: {
        const auto row = [&](unsigned q) { return word_row{writes + away(q), reads + away(q), 8 * words, q, shift}; };
        if (Verb != access_verb::load) {
            for (unsigned q = 8; q < lanes; q += 8) {
                for (unsigned other = 0; other < q; other += 8) {
                    if (static_cast<unsigned>(std::abs(away(q) - away(other))) < 8 * words) {
                        return false;
                    }
                }
            }
        }
        if (Verb == access_verb::load && words == 1) {
            // Most often there is nothing to do: others have read the same before.
            read_survey survey(v);
            four_stamps old = four_stamps{} - 1;
            for (unsigned q = 0; q < lanes; q += 8) {
                if (q >= 16 && p.offset[q] == p.offset[q - 16]) {
                    continue;
                }
                for (unsigned k = 0; k < 8; k += 4) {
                    old &= unwritten_since ? old : four_of(writes + away(q) + k) - v.floor;
                    survey.add(reads + away(q) + k, v);
                }
            }
            if (all_negative(old) && survey.all_settled()) {
                return true;
            }
        }
        for (unsigned q = 0; !unwritten_since && q < lanes; q += 8) {
            if (!may_pass_row<Verb, Global>(row(q), v)) {
                return false;
            }
        }
        for (unsigned q = 0; q < lanes; q += 8) {
            note_row<Verb, Global>(row(q), v);
        }
        return true;
    }
    case pattern_shape::quarter_uniforms:
        if (Verb != access_verb::load) {
            return false;
        }
        for (unsigned q = 0; !unwritten_since && q < lanes; q += 8) {
            for (unsigned k = 0; k < words; ++k) {
                const int at = away(q) + static_cast<int>(k);
                if (!may_read_together(writes[at], reads[at], q, q + 7, v)) {
                    return false;
                }
            }
        }
        for (unsigned q = 0; q < lanes; q += 8) {
            for (unsigned k = 0; k < words; ++k) {
                note_read_together<Global>(reads[away(q) + static_cast<int>(k)], q, q + 7, v);
            }
        }
        return true;
    case pattern_shape::scattered: break;
    }
    std::uint64_t word[lanes]; // from the first one's
    each_lane(mask, [&](unsigned l) { word[l] = static_cast<std::uint64_t>(std::int64_t{away(l)}); });
    return pass_apart<Verb, Global>(writes, reads, word, mask, words, v);
}

// Of lanes whose addresses `at` is short of by `offset`.
template <access_verb Verb, bool Global, class Address>
SOFTGPU_INLINE bool pass_pattern_at(const instruction* i, warp* w, const Address* at, Address offset) {
    const access_site& site = *i->access;
    const lane_mask mask = w->mask;
    const unsigned bytes = site.bytes;
    const Address first = at[first_lane(mask)];
    const Address apart = at[last_lane(mask)] - first;
    const address_pattern& p = pattern_of(i, w, mask, apart);
    const std::uint64_t key = mask | std::uint64_t{bytes} << pattern_bytes_shift | (Global ? pattern_in_global : 0);
    if (p.key != key || bytes < 4 || !has_pattern(p, mask, at, first)) {
        return false;
    }
    const check::shadow_view& shadow = *w->host->launch->shadow;
    check::block_view& view = *w->owner->view;
    if (!Global && view.has_remote) [[unlikely]] {
        return false;
    }
    const Address whole = first + offset;
    const std::uint64_t origin = Global ? whole - shadow.arena : whole;
    const std::uint64_t size = Global ? shadow.bytes : w->host->launch->shared_bytes;
    const std::uint64_t lowest = origin + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(p.low)});
    if ((origin & (bytes - 1)) != 0 || lowest > size || p.span > size - lowest) {
        return false;
    }
    std::uint8_t* const valid = Global ? shadow.valid : view.shared_valid;
    if (valid != nullptr && (Global || !is_within_written(view, lowest, p.span))) {
        if (!pass_valid_pattern<Verb>(p, mask, valid, origin, bytes)) {
            return false;
        }
        if (!Global && Verb == access_verb::store && p.shape == pattern_shape::run && is_gapless(mask)) {
            extend_written(view, origin, p.span);
        }
    }
    stamp* const writes = Global ? (view.stamps_global ? shadow.writes : nullptr) : view.shared_writes;
    if (writes == nullptr) {
        return true;
    }
    view.warps[w->index].touched = view.time;
    const stamp rest = stamp_of<Verb>(site, w->index);
    const race_view v = Global ? global_view(view, w->index, rest) : shared_view(view, w->index, rest);
    bool unwritten_since = false;
    if constexpr (!Global) {
        if (Verb == access_verb::load) {
            unwritten_since = view.shared_stored < view.base && !view.has_lost && !view.has_acquired &&
                              view.warps[w->index].met <= view.base;
        } else {
            view.shared_stored = view.time;
        }
    }
    stamp* const reads = Global ? shadow.reads : view.shared_reads;
    return pass_race_pattern<Verb, Global>(p, mask, writes + origin / 4, reads + origin / 4, bytes, unwritten_since, v);
}

// Shared memory by addresses of 64 bits.
template <access_verb Verb>
__attribute__((noinline)) bool pass_wide_pattern(const instruction* i, warp* w) {
    alignas(64) std::uint32_t at[lanes];
    shared_addresses(at, i, w);
    return pass_pattern_at<Verb, false>(i, w, at, std::uint32_t{0});
}

// false: the access has no known pattern, or needs check_access().
template <access_verb Verb, bool Global>
SOFTGPU_INLINE bool pass_pattern(const instruction* i, warp* w) {
    using address = std::conditional_t<Global, std::uint64_t, std::uint32_t>;
    if (i->access->strength != check::strength::plain) {
        return false;
    }
    if (i->width[1] != sizeof(address)) {
        return !Global && pass_wide_pattern<Verb>(i, w);
    }
    return pass_pattern_at<Verb, Global>(i, w, read<address>(w, i->a), static_cast<address>(i->immediate));
}

} // namespace softgpu::machine::SOFTGPU_TARGET
