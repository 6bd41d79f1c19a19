// SPDX-License-Identifier: MIT
// Looks at an access before it happens: has what is read been written, and does anybody else touch it without order?
// Here the cases in which all is well are passed quickly: lanes side by side, lanes apart, words that only this thread,
// this warp since its last synchronisation, or the block before its last barrier has touched. The rest goes to
// inspect_access().
#include "softgpu/machine/families/access.hpp"
#include "softgpu/machine/families/families.hpp"
#include "softgpu/machine/site.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using check::stamp;
using ptx::opcode;
using ptx::suffix;

constexpr std::uint64_t window = memory::device_memory::window_bytes;

// One warp's access to words of shared or of global memory.
struct race_view {
    stamp floor;   // below it: in order
    stamp low;     // from here on the block's own ...
    stamp base;    // ... and below this in order too,
    stamp warp;    // or below this if it is the warp's
    stamp mine;    // of lane 0
    stamp same;    // bits that are equal for one and the same block
    stamp first;   // from here on the launch's own,
    stamp end;     // ... up to here
};

constexpr stamp serial_bits_of_stamp = -(stamp{1} << (check::time_shift + check::serial_time_bits));

SOFTGPU_INLINE race_view shared_view(const check::block_view& v, unsigned warp_index, stamp rest) {
    const auto at = [](std::uint64_t time) { return static_cast<stamp>(time << check::time_shift); };
    return {at(v.base), at(v.base), at(v.base), at(v.warps[warp_index].base), at(v.time) | rest, 0, 0, INT64_MAX};
}

SOFTGPU_INLINE race_view global_view(const check::block_view& v, unsigned warp_index, stamp rest) {
    const auto at = [&](std::uint64_t time) {
        return static_cast<stamp>((time + v.global_offset) << check::time_shift);
    };
    return {v.launch_floor, v.own_floor, at(v.base), at(v.warps[warp_index].base), at(v.time) | rest, serial_bits_of_stamp,
            v.launch_first, v.launch_end};
}

// Of a block of this launch, or of what is over before it.
SOFTGPU_INLINE bool is_of_launch(stamp s, stamp mine, const race_view& v) {
    return ((s >= v.first || s < v.floor) && s < v.end) || ((s ^ mine) & v.same) == 0;
}

// Whether the access with stamp `mine` may follow the one of s. `same`: bits that are equal for one and the same thread.
SOFTGPU_INLINE bool in_order(stamp s, stamp mine, stamp same, const race_view& v) {
    const stamp other = s ^ mine;
    const bool by_warp = (other & check::warp_bits) == 0;
    const bool known = s < v.base || (by_warp && (s < v.warp || (other & (same | v.same)) == 0));
    return s < v.floor || (s >= v.low && known);
}

constexpr stamp same_writer = check::lane_bits | check::several_lanes;
constexpr stamp same_reader = check::lane_bits | check::spread_bits;

SOFTGPU_INLINE bool is_atomic(stamp s) {
    return (s >> check::strength_shift & 3) >= static_cast<stamp>(check::strength::strong);
}

template <access_verb Verb>
SOFTGPU_INLINE bool may_follow_write(stamp s, stamp mine, const race_view& v) {
    return in_order(s, mine, same_writer, v) || (Verb == access_verb::update && is_atomic(s) && is_of_launch(s, mine, v));
}
template <access_verb Verb>
SOFTGPU_INLINE bool may_follow_read(stamp s, stamp mine, const race_view& v) {
    return in_order(s, mine, same_reader, v) ||
           (Verb == access_verb::update && (s & check::strong_read) != 0 && is_of_launch(s, mine, v));
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
        spread = old < v.low || ((old ^ mine) >> (check::time_shift + check::serial_time_bits)) != 0 ? by_blocks : spread;
    }
    const stamp before = old & check::spread_bits;
    spread = before > spread ? before : spread;
    const stamp strong = old & mine & check::strong_read;
    const stamp merged = (mine & ~check::strong_read) | spread | strong;
    // A strong read does not take the place of a plain one.
    const bool stays = (mine & check::strong_read) != 0 && (old & check::strong_read) == 0;
    return in_order(old, mine, same_reader, v) ? mine : stays ? old : merged;
}

// `count` words in a row from lane `first` on, 1 << shift of them a lane. false: not all is well.
template <access_verb Verb, bool Global>
SOFTGPU_INLINE bool pass_run(stamp* writes, stamp* reads, unsigned count, unsigned first, unsigned shift,
                             const race_view& v) {
    stamp wrong = 0;
    SOFTGPU_LANES
    for (unsigned k = 0; k < count; ++k) {
        const stamp mine = v.mine + (static_cast<stamp>(first + (k >> shift)) << check::lane_shift);
        bool fine = may_follow_write<Verb>(writes[k], mine, v);
        if (Verb != access_verb::load) {
            fine = fine && may_follow_read<Verb>(reads[k], mine, v);
        } else if (Global) {
            fine = fine && is_of_launch(reads[k], mine, v);
        }
        wrong |= fine ? 0 : 1;
    }
    if (wrong != 0) {
        return false;
    }
    SOFTGPU_LANES
    for (unsigned k = 0; k < count; ++k) {
        const stamp mine = v.mine + (static_cast<stamp>(first + (k >> shift)) << check::lane_shift);
        if (Verb == access_verb::load) {
            reads[k] = read_stamp<Global>(reads[k], mine, v);
        } else {
            writes[k] = mine;
        }
    }
    return true;
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
                fine = fine && (!Global || is_of_launch(r, mine, v));
                // Nothing to note where several lanes of this warp have read just now, or several warps in this interval.
                const stamp spread = r & check::spread_bits;
                const bool now = ((r ^ mine) >> check::time_shift) == 0 && ((r ^ mine) & check::warp_bits) == 0;
                settled = settled && r >= v.base && ((r ^ mine) & check::strong_read) == 0 &&
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

SOFTGPU_INLINE bool all_valid(const std::uint8_t* valid, std::uint64_t begin, std::uint64_t bytes) {
    const std::uint64_t end = begin + bytes - 1;
    const std::uint8_t* const first = valid + (begin >> 3);
    const std::uint8_t* const last = valid + (end >> 3);
    const auto from = static_cast<std::uint8_t>(0xFFu << (begin & 7));
    const auto upto = static_cast<std::uint8_t>(0xFFu >> (7 - (end & 7)));
    if (first == last) {
        const auto both = static_cast<std::uint8_t>(from & upto);
        return (*first & both) == both;
    }
    std::uint8_t missing = static_cast<std::uint8_t>((~*first & from) | (~*last & upto));
    for (const std::uint8_t* p = first + 1; p < last; ++p) {
        missing = static_cast<std::uint8_t>(missing | static_cast<std::uint8_t>(~*p));
    }
    return missing == 0;
}

// Other blocks may write bytes next to these at the same time: the outer bits are set atomically.
SOFTGPU_INLINE void set_valid(std::uint8_t* valid, std::uint64_t begin, std::uint64_t bytes) {
    if (all_valid(valid, begin, bytes)) {
        return;
    }
    const std::uint64_t end = begin + bytes - 1;
    std::uint8_t* const first = valid + (begin >> 3);
    std::uint8_t* const last = valid + (end >> 3);
    const auto from = static_cast<std::uint8_t>(0xFFu << (begin & 7));
    const auto upto = static_cast<std::uint8_t>(0xFFu >> (7 - (end & 7)));
    if (first == last) {
        __atomic_fetch_or(first, static_cast<std::uint8_t>(from & upto), __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_or(first, from, __ATOMIC_RELAXED);
    for (std::uint8_t* p = first + 1; p < last; ++p) {
        *p = 0xFF;
    }
    __atomic_fetch_or(last, upto, __ATOMIC_RELAXED);
}

// false: something that is read may not have been written.
template <access_verb Verb>
SOFTGPU_INLINE bool pass_valid(std::uint8_t* valid, std::uint64_t begin, std::uint64_t bytes) {
    if (Verb != access_verb::store && !all_valid(valid, begin, bytes)) {
        return false;
    }
    if (Verb == access_verb::store) {
        set_valid(valid, begin, bytes);
    }
    return true;
}

// `at` counts from the start of shared memory or of the arena; `size` bytes are there.
template <access_verb Verb, bool Global>
SOFTGPU_INLINE bool pass_access(const instruction* i, warp* w, const std::uint64_t* at, lane_mask mask,
                                std::uint64_t size, stamp* writes, stamp* reads, std::uint8_t* valid) {
    const access_site& site = *i->access;
    check::block_view& view = *w->owner->view;
    const unsigned bytes = site.bytes;
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const auto last = 31u - static_cast<unsigned>(std::countl_zero(mask));
    const bool gapless = mask >> first == all_lanes >> (31 - last + first);
    const stamp kind = Verb == access_verb::load
                           ? (site.strength == check::strength::plain ? 0 : check::strong_read)
                           : static_cast<stamp>(site.strength) << check::strength_shift;
    const stamp rest = static_cast<stamp>(w->index) << check::warp_shift | static_cast<stamp>(site.id) << check::site_shift |
                       kind | check::bytes_bits;
    view.warps[w->index].touched = view.time;
    if (gapless && is_run(mask, at, at[first] - std::uint64_t{first} * bytes, bytes) && (at[first] & (bytes - 1)) == 0) {
        const std::uint64_t begin = at[first];
        const std::uint64_t length = std::uint64_t{last - first + 1} * bytes;
        if (begin > size || length > size - begin) {
            return false;
        }
        if (valid != nullptr && !pass_valid<Verb>(valid, begin, length)) {
            return false;
        }
        if (writes == nullptr) {
            return true;
        }
        race_view v = Global ? global_view(view, w->index, rest) : shared_view(view, w->index, rest);
        stamp* const own_writes = writes + begin / 4;
        stamp* const own_reads = reads + begin / 4;
        if (bytes == 4) {
            return pass_run<Verb, Global>(own_writes, own_reads, last - first + 1, first, 0, v);
        }
        if (bytes > 4) {
            const unsigned shift = bytes == 8 ? 1 : bytes == 16 ? 2 : 3;
            return pass_run<Verb, Global>(own_writes, own_reads, static_cast<unsigned>(length / 4), first, shift, v);
        }
        if (((begin | length) & 3) != 0) {
            return false;
        }
        // Several lanes share a word: none of them stands for all.
        v.mine |= Verb == access_verb::load ? stamp{1} << check::kind_shift : check::several_lanes;
        return pass_run<Verb, Global>(own_writes, own_reads, static_cast<unsigned>(length / 4), 0, 0, v);
    }
    std::uint64_t ored = 0;
    std::uint64_t highest = 0;
    each_lane(mask, [&](unsigned l) {
        ored |= at[l];
        highest = at[l] > highest ? at[l] : highest;
    });
    if ((ored & (bytes - 1)) != 0 || highest > size || bytes > size - highest) {
        return false;
    }
    if (valid != nullptr) {
        bool fine = true;
        each_lane(mask, [&](unsigned l) { fine = pass_valid<Verb>(valid, at[l], bytes) && fine; });
        if (!fine) {
            return false;
        }
    }
    if (writes == nullptr) {
        return true;
    }
    if (bytes < 4) {
        return false;
    }
    std::uint64_t word[lanes];
    each_lane(mask, [&](unsigned l) { word[l] = at[l] / 4; });
    const race_view v = Global ? global_view(view, w->index, rest) : shared_view(view, w->index, rest);
    return pass_apart<Verb, Global>(writes, reads, word, mask, bytes / 4, v);
}

template <access_verb Verb>
SOFTGPU_INLINE void inspect_shared(const instruction* i, std::byte* frame, warp* w, const std::uint64_t* at,
                                   lane_mask mask) {
    check::block_view& v = *w->owner->view;
    if (!pass_access<Verb, false>(i, w, at, mask, w->host->launch->shared_bytes, v.shared_writes, v.shared_reads,
                                  v.shared_valid)) {
        inspect_access(i, frame, w, at, mask, access_space::shared);
    }
}

template <access_verb Verb>
SOFTGPU_INLINE void inspect_global(const instruction* i, std::byte* frame, warp* w, const std::uint64_t* at,
                                   lane_mask mask) {
    const check::shadow_view& s = *w->host->launch->shadow;
    const bool stamps = w->owner->view->stamps_global;
    std::uint64_t within[lanes];
    SOFTGPU_LANES
    for (unsigned l = 0; l < lanes; ++l) {
        within[l] = at[l] - s.arena;
    }
    if (!pass_access<Verb, true>(i, w, within, mask, s.bytes, stamps ? s.writes : nullptr, s.reads, s.valid)) {
        inspect_access(i, frame, w, at, mask, access_space::global);
    }
}

template <access_verb Verb>
SOFTGPU_INLINE void inspect_local(const instruction* i, std::byte* frame, warp* w, const std::uint64_t* at,
                                  lane_mask mask) {
    std::uint8_t* const valid = w->owner->view->local_valid;
    if (valid == nullptr) {
        return;
    }
    const std::uint64_t size = w->host->launch->local_bytes;
    const unsigned bytes = i->access->bytes;
    bool fine = true;
    each_lane(mask, [&](unsigned l) {
        const std::uint64_t begin = (std::uint64_t{w->index} * lanes + l) * size + at[l];
        fine = fine && at[l] <= size && bytes <= size - at[l] && pass_valid<Verb>(valid, begin, bytes);
    });
    if (!fine) {
        inspect_access(i, frame, w, at, mask, access_space::local);
    }
}

template <access_space Space, access_verb Verb>
const instruction* inspect(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    const auto offset = static_cast<std::uint64_t>(i->immediate);
    if (i->width[1] == 8) {
        const auto* const a = read<std::uint64_t>(frame, w, i->a);
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            at[l] = a[l] + offset;
        }
    } else {
        const auto* const a = read<std::uint32_t>(frame, w, i->a);
        SOFTGPU_LANES
        for (unsigned l = 0; l < lanes; ++l) {
            at[l] = static_cast<std::uint32_t>(a[l] + offset);
        }
    }
    if (i->access->acquires) {
        std::memcpy(w->owner->view->acquired_at[w->index], at, sizeof(at));
    }
    if (Verb != access_verb::load &&
        (i->access->releases || (w->owner->view->has_fenced && i->access->strength != check::strength::plain))) {
        inspect_release(i, w, at, Space);
    }
    const lane_mask mask = w->mask;
    if constexpr (Space == access_space::shared) {
        inspect_shared<Verb>(i, frame, w, at, mask);
    } else if constexpr (Space == access_space::global) {
        inspect_global<Verb>(i, frame, w, at, mask);
    } else if constexpr (Space == access_space::local) {
        inspect_local<Verb>(i, frame, w, at, mask);
    } else {
        const std::uint64_t shared_base = w->host->launch->memory->shared_window();
        const std::uint64_t local_base = w->host->launch->memory->local_window();
        lane_mask in_shared = 0;
        lane_mask in_local = 0;
        each_lane(mask, [&](unsigned l) {
            in_shared |= (at[l] - shared_base < window ? 1u : 0u) << l;
            in_local |= (at[l] - local_base < window ? 1u : 0u) << l;
        });
        const lane_mask in_global = mask & ~in_shared & ~in_local;
        if (in_global != 0) {
            inspect_global<Verb>(i, frame, w, at, in_global);
        }
        if (in_shared != 0) {
            std::uint64_t within[lanes];
            for (unsigned l = 0; l < lanes; ++l) {
                within[l] = at[l] - shared_base;
            }
            inspect_shared<Verb>(i, frame, w, within, in_shared);
        }
        if (in_local != 0) {
            std::uint64_t within[lanes];
            for (unsigned l = 0; l < lanes; ++l) {
                within[l] = at[l] - local_base;
            }
            inspect_local<Verb>(i, frame, w, within, in_local);
        }
    }
    return i + 1;
}

template <access_verb Verb>
handler by_space(const form& f) {
    switch (f.space) {
    case suffix::global: return inspect<access_space::global, Verb>;
    case suffix::shared:
    case suffix::shared_cta: return inspect<access_space::shared, Verb>;
    case suffix::local: return inspect<access_space::local, Verb>;
    case suffix::none: return inspect<access_space::generic, Verb>;
    default: return nullptr;
    }
}

} // namespace

handler choose_inspection(const form& f) {
    switch (f.op) {
    case opcode::ld:
    case opcode::ldu: return by_space<access_verb::load>(f);
    case opcode::st: return by_space<access_verb::store>(f);
    case opcode::atom:
    case opcode::red: return by_space<access_verb::update>(f);
    // Of the shared side: the copy as a store when it is begun, a barrier object as something that is synchronised on.
    case opcode::cp: return f.has(suffix::mbarrier) ? by_space<access_verb::update>(f) : by_space<access_verb::store>(f);
    case opcode::mbarrier:
        return f.has(suffix::init) ? by_space<access_verb::store>(f) : by_space<access_verb::update>(f);
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
