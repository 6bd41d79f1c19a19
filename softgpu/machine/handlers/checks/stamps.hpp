// SPDX-License-Identifier: MIT
// Whether a warp's access to words of memory is in order with earlier accesses, by the words' stamps, and the stamps that
// it leaves: for consecutive words, for one word of several lanes, for any words.
#pragma once

#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/handlers/memory/access_cost.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

using check::stamp;

// One warp's access to words of shared or of global memory.
struct race_view {
    stamp floor;                      // below it: in order
    stamp low;                        // from here on the block's own ...
    stamp base;                       // ... and below this in order too,
    stamp warp;                       // or below this if it is the warp's
    stamp mine;                       // of lane 0
    stamp same;                       // bits that are equal for one and the same block
    stamp first;                      // from here on the launch's own,
    stamp end;                        // ... up to here
    stamp unclear;                    // from the floor to before this: of the block or of another one
    check::ordered_stamps ordered[2]; // in order too
    bool acquires = false;            // of shared memory: releases may have ordered the reads of two warps
    stamp met = 0;                    // of shared memory: below it the reads of several threads may be in order

    // Loads of shared memory need the stamps of reads.
    [[nodiscard]] SOFTGPU_INLINE bool looks_at_reads() const { return acquires || met > base; }
};

constexpr stamp serial_bits_of_stamp = -(stamp{1} << (check::time_shift + check::serial_time_bits));

SOFTGPU_INLINE race_view shared_view(const check::block_view& v, unsigned warp_index, stamp rest) {
    const auto at = [](std::uint64_t time) { return static_cast<stamp>(time << check::time_shift); };
    return {at(v.base), at(v.base), at(v.base),     at(v.warps[warp_index].base), at(v.time) | rest, 0, 0, INT64_MAX,
            0,          {},         v.has_acquired, at(v.warps[warp_index].met)};
}

SOFTGPU_INLINE race_view global_view(const check::block_view& v, unsigned warp_index, stamp rest) {
    const auto at = [&](std::uint64_t time) {
        return static_cast<stamp>((time + v.global_offset) << check::time_shift);
    };
    return {v.launch_floor,
            v.own_floor,
            at(v.base),
            at(v.warps[warp_index].base),
            at(v.time) | rest,
            serial_bits_of_stamp,
            v.launch_first,
            v.launch_end,
            v.is_renewed ? v.own_floor : 0,
            {v.ordered[0], v.ordered[1]}};
}

// Of what is over before the launch.
SOFTGPU_INLINE bool is_over(stamp s, const race_view& v) {
    return s < v.floor || v.ordered[0].contains(s) || v.ordered[1].contains(s);
}

// Of a block of this launch, or of what is over before it.
SOFTGPU_INLINE bool is_of_launch(stamp s, stamp mine, const race_view& v) {
    return ((s >= v.first || is_over(s, v)) && s < v.end) || ((s ^ mine) & v.same) == 0;
}

// Whether the access with stamp `mine` may follow the write, or the read, of s.
SOFTGPU_INLINE bool is_after_write(stamp s, stamp mine, const race_view& v) {
    const stamp other = s ^ mine;
    const bool by_warp = (other & check::warp_bits) == 0;
    const bool same_thread = (other & (check::lane_bits | check::several_lanes | v.same)) == 0;
    const bool known = s < v.base || (by_warp && (s < v.warp || same_thread));
    return is_over(s, v) || (s >= v.low && known);
}
SOFTGPU_INLINE bool is_after_read(stamp s, stamp mine, const race_view& v) {
    constexpr stamp warps_or_blocks = stamp{2} << check::kind_shift;
    const stamp other = s ^ mine;
    // What the warp has in order is its own, what the block has is not that of other blocks.
    const bool by_warp = (other & check::warp_bits) == 0 && (s & warps_or_blocks) == 0;
    const bool by_block = (~s & check::spread_bits) != 0;
    const bool same_thread = (other & (check::lane_bits | check::spread_bits | v.same)) == 0;
    const bool known = (by_block && s < v.base) || (by_warp && (s < v.warp || same_thread));
    return is_over(s, v) || (s >= v.low && known);
}

SOFTGPU_INLINE bool is_atomic(stamp s) {
    return (s >> check::strength_shift & 3) >= static_cast<stamp>(check::strength::strong);
}

// An atomic behind a plain write of its own thread passes here only where others know of that write: else its stamp
// would hide the write from their atomics.
SOFTGPU_INLINE bool may_hide_write(stamp s, stamp mine, const race_view& v) {
    const bool by_warp = ((s ^ mine) & check::warp_bits) == 0;
    const bool plain = (s >> check::strength_shift & 3) == static_cast<stamp>(check::strength::plain);
    return is_over(s, v) || !plain || (s >= v.low && (s < v.base || (by_warp && s < v.warp)));
}

template <access_verb Verb>
SOFTGPU_INLINE bool may_follow_write(stamp s, stamp mine, const race_view& v) {
    return (is_after_write(s, mine, v) && (Verb != access_verb::update || may_hide_write(s, mine, v))) ||
           (Verb == access_verb::update && is_atomic(s) && is_of_launch(s, mine, v));
}
template <access_verb Verb>
SOFTGPU_INLINE bool may_follow_read(stamp s, stamp mine, const race_view& v) {
    return is_after_read(s, mine, v) ||
           (Verb == access_verb::update && (s & check::strong_read) != 0 && is_of_launch(s, mine, v));
}

// Whether read_stamp() knows what to make of it.
SOFTGPU_INLINE bool is_clear(stamp read, stamp mine, const race_view& v) {
    constexpr stamp warps_or_blocks = stamp{2} << check::kind_shift;
    const bool by_another_warp = ((read ^ mine) & check::warp_bits) != 0 && (read & warps_or_blocks) == 0;
    const bool may_be_met = read < v.met && (read & check::spread_bits) != 0;
    return is_over(read, v) ||
           (read >= v.unclear && is_of_launch(read, mine, v) && !(v.acquires && by_another_warp) && !may_be_met);
}

// The stamp of a word that others have read as well.
template <bool Global>
SOFTGPU_INLINE stamp read_stamp(stamp old, stamp mine, const race_view& v) {
    const stamp by_warp = stamp{1} << check::kind_shift;
    const stamp by_warps = stamp{2} << check::kind_shift;
    const stamp by_blocks = stamp{3} << check::kind_shift;
    const bool same_warp = ((old ^ mine) & check::warp_bits) == 0;
    stamp spread = same_warp ? by_warp : by_warps;
    if constexpr (Global) {
        const bool same_serial = (old ^ mine) >> (check::time_shift + check::serial_time_bits) == 0;
        spread = old < v.low || !same_serial ? by_blocks : spread;
    }
    const stamp before = old & check::spread_bits;
    spread = before > spread ? before : spread;
    const stamp strong = old & mine & check::strong_read;
    const stamp merged = (mine & ~(check::strong_read | check::spread_bits)) | spread | strong;
    // A strong read does not take the place of a plain one.
    const bool stays = (mine & check::strong_read) != 0 && (old & check::strong_read) == 0;
    return is_after_read(old, mine, v) ? mine : stays ? old : merged;
}

// Four stamps side by side.
using four_stamps [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = stamp;

SOFTGPU_INLINE const four_stamps& four_of(const stamp* s) { return *reinterpret_cast<const four_stamps*>(s); }
#ifdef __AVX2__
SOFTGPU_INLINE int signs_of(const four_stamps& s) { return _mm256_movemask_pd(_mm256_castsi256_pd((__m256i)s)); }
SOFTGPU_INLINE bool all_negative(const four_stamps& s) { return signs_of(s) == 15; }
SOFTGPU_INLINE bool any_negative(const four_stamps& s) { return signs_of(s) != 0; }
SOFTGPU_INLINE bool all_zero(const four_stamps& s) { return _mm256_testz_si256((__m256i)s, (__m256i)s) != 0; }
#else
SOFTGPU_INLINE bool all_negative(const four_stamps& s) { return (s[0] & s[1] & s[2] & s[3]) < 0; }
SOFTGPU_INLINE bool any_negative(const four_stamps& s) { return (s[0] | s[1] | s[2] | s[3]) < 0; }
SOFTGPU_INLINE bool all_zero(const four_stamps& s) { return (s[0] | s[1] | s[2] | s[3]) == 0; }
#endif

// Words in a row from lane `first` on, 1 << shift of them a lane.
struct word_row {
    stamp* writes;
    stamp* reads;
    unsigned count;
    unsigned first;
    unsigned shift;

    [[nodiscard]] SOFTGPU_INLINE stamp mine(unsigned k, const race_view& v) const {
        return v.mine + (static_cast<stamp>(first + (k >> shift)) << check::lane_shift);
    }
};

// false: the access needs check_access().
template <access_verb Verb, bool Global>
SOFTGPU_INLINE bool may_pass_row(const word_row& row, const race_view& v) {
    unsigned k = 0;
    four_stamps old = four_stamps{} - 1;
    for (; k + 4 <= row.count; k += 4) {
        old &= four_of(row.writes + k) - v.floor;
        if (Verb != access_verb::load || Global || v.looks_at_reads()) {
            old &= four_of(row.reads + k) - v.floor;
        }
    }
    if (k == row.count && all_negative(old)) [[likely]] {
        return true;
    }
    stamp wrong = 0;
    SOFTGPU_LANES
    for (k = 0; k < row.count; ++k) {
        const stamp mine = row.mine(k, v);
        bool fine = may_follow_write<Verb>(row.writes[k], mine, v);
        if (Verb != access_verb::load) {
            fine = fine && may_follow_read<Verb>(row.reads[k], mine, v);
        } else if (Global || v.looks_at_reads()) {
            fine = fine && is_clear(row.reads[k], mine, v);
        }
        wrong |= fine ? 0 : 1;
    }
    return wrong == 0;
}

SOFTGPU_INLINE void stamp_row(stamp* to, const word_row& row, const race_view& v) {
    SOFTGPU_LANES
    for (unsigned k = 0; k < row.count; ++k) {
        to[k] = row.mine(k, v);
    }
}

// What stays as it is in a word that is read again: where several warps have read in this interval, or several lanes of
// this warp just now. In `bits` such a stamp is equal to `wanted`.
struct settled_stamp {
    stamp bits;
    stamp wanted;
};
SOFTGPU_INLINE settled_stamp settled_by_warps(const race_view& v) {
    return {v.same | check::spread_bits | check::strong_read,
            (v.mine & (v.same | check::strong_read)) | stamp{2} << check::kind_shift};
}
SOFTGPU_INLINE settled_stamp settled_by_lanes(const race_view& v) {
    constexpr stamp time = ~((stamp{1} << check::time_shift) - 1);
    constexpr stamp bits = time | check::warp_bits | check::spread_bits | check::strong_read;
    return {bits, (v.mine & bits) | stamp{1} << check::kind_shift};
}

// What the stamps of reads have in common, four at a time.
struct read_survey {
    settled_stamp warps;
    settled_stamp lanes_of_warp;
    four_stamps old = four_stamps{} - 1;
    four_stamps before = four_stamps{};
    four_stamps not_warps = four_stamps{};
    four_stamps not_lanes = four_stamps{};

    SOFTGPU_INLINE explicit read_survey(const race_view& v)
        : warps(settled_by_warps(v)), lanes_of_warp(settled_by_lanes(v)) {}

    SOFTGPU_INLINE void add(const stamp* four, const race_view& v) {
        const four_stamps& s = four_of(four);
        old &= s - v.floor;
        before |= s - v.base;
        not_warps |= (s ^ warps.wanted) & warps.bits;
        not_lanes |= (s ^ lanes_of_warp.wanted) & lanes_of_warp.bits;
    }
    [[nodiscard]] SOFTGPU_INLINE bool all_old() const { return all_negative(old); }
    [[nodiscard]] SOFTGPU_INLINE bool all_settled() const {
        return (all_zero(not_warps) && !any_negative(before)) || all_zero(not_lanes);
    }
};

template <bool Global>
SOFTGPU_INLINE void note_read_row(const word_row& row, const race_view& v) {
    read_survey survey(v);
    unsigned k = 0;
    for (; k + 4 <= row.count; k += 4) {
        survey.add(row.reads + k, v);
    }
    if (k == row.count) [[likely]] {
        if (survey.all_old()) {
            stamp_row(row.reads, row, v);
            return;
        }
        if (survey.all_settled()) {
            return;
        }
    }
    SOFTGPU_LANES
    for (k = 0; k < row.count; ++k) {
        row.reads[k] = read_stamp<Global>(row.reads[k], row.mine(k, v), v);
    }
}

// Notes an access that may pass.
template <access_verb Verb, bool Global>
SOFTGPU_INLINE void note_row(const word_row& row, const race_view& v) {
    if constexpr (Verb == access_verb::load) {
        note_read_row<Global>(row, v);
    } else {
        stamp_row(row.writes, row, v);
    }
}

template <access_verb Verb, bool Global>
SOFTGPU_INLINE bool pass_row(const word_row& row, const race_view& v) {
    if (!may_pass_row<Verb, Global>(row, v)) {
        return false;
    }
    note_row<Verb, Global>(row, v);
    return true;
}

// A word that all lanes from `first` to `last` read, at least two of them.
SOFTGPU_INLINE bool may_read_together(stamp written, stamp read, unsigned first, unsigned last, const race_view& v) {
    return is_clear(read, v.mine, v) &&
           (is_over(written, v) ||
            (is_after_write(written, v.mine + (static_cast<stamp>(first) << check::lane_shift), v) &&
             is_after_write(written, v.mine + (static_cast<stamp>(last) << check::lane_shift), v)));
}
template <bool Global>
SOFTGPU_INLINE void note_read_together(stamp& read, unsigned first, unsigned last, const race_view& v) {
    const settled_stamp warps = settled_by_warps(v);
    const settled_stamp lanes_of_warp = settled_by_lanes(v);
    const stamp s = read;
    const stamp mine = v.mine + (static_cast<stamp>(last) << check::lane_shift);
    if (is_over(s, v)) {
        read = mine | stamp{1} << check::kind_shift;
        return;
    }
    const bool by_warps = ((s ^ warps.wanted) & warps.bits) == 0 && s >= v.base;
    if (by_warps || ((s ^ lanes_of_warp.wanted) & lanes_of_warp.bits) == 0) {
        return;
    }
    const stamp once = read_stamp<Global>(s, v.mine + (static_cast<stamp>(first) << check::lane_shift), v);
    read = read_stamp<Global>(once, mine, v);
}

// A word that all lanes from `first` to `last` update. Two lanes stand for all: what only the same thread may follow fails for
// one of them.
SOFTGPU_INLINE bool may_update_together(stamp written, stamp read, unsigned first, unsigned last, const race_view& v) {
    const auto may = [&](unsigned lane) {
        const stamp mine = v.mine + (static_cast<stamp>(lane) << check::lane_shift);
        return may_follow_write<access_verb::update>(written, mine, v) &&
               may_follow_read<access_verb::update>(read, mine, v);
    };
    return may(first) && may(last);
}

// Words anywhere: word[l] and the words behind it are lane l's.
template <access_verb Verb, bool Global>
SOFTGPU_INLINE bool pass_apart(stamp* writes, stamp* reads, const std::uint64_t* word, lane_mask mask, unsigned words,
                               const race_view& v) {
    bool fine = true;
    bool settled = Verb == access_verb::load;
    each_lane(mask, [&](unsigned l) {
        const stamp mine = v.mine + (static_cast<stamp>(l) << check::lane_shift);
        for (unsigned k = 0; k < words; ++k) {
            fine = fine && may_follow_write<Verb>(writes[word[l] + k], mine, v);
            const stamp r = reads[word[l] + k];
            if (Verb != access_verb::load) {
                fine = fine && may_follow_read<Verb>(r, mine, v);
            } else {
                fine = fine && ((!Global && !v.looks_at_reads()) || is_clear(r, mine, v));
                // Nothing to note where several lanes of this warp have read just now, or warps in this interval.
                const stamp spread = r & check::spread_bits;
                const bool now = ((r ^ mine) >> check::time_shift) == 0 && ((r ^ mine) & check::warp_bits) == 0;
                settled = settled && r >= v.base && ((r ^ mine) & (v.same | check::strong_read)) == 0 &&
                          (spread == (stamp{2} << check::kind_shift) || (spread != 0 && now));
            }
        }
    });
    if (!fine) {
        return false;
    }
    if (settled) {
        return true;
    }
    stamp twice = 0;
    each_lane(mask, [&](unsigned l) {
        const stamp mine = v.mine + (static_cast<stamp>(l) << check::lane_shift);
        for (unsigned k = 0; k < words; ++k) {
            if (Verb == access_verb::load) {
                reads[word[l] + k] = read_stamp<Global>(reads[word[l] + k], mine, v);
            } else {
                writes[word[l] + k] = mine;
            }
        }
    });
    if (Verb == access_verb::store) {
        // Two lanes that wrote one word: only one of them finds its own stamp.
        each_lane(mask, [&](unsigned l) {
            const stamp mine = v.mine + (static_cast<stamp>(l) << check::lane_shift);
            for (unsigned k = 0; k < words; ++k) {
                twice |= writes[word[l] + k] ^ mine;
            }
        });
    }
    return twice == 0;
}

} // namespace softgpu::machine::SOFTGPU_TARGET
