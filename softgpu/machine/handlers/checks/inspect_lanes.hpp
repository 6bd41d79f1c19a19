// SPDX-License-Identifier: MIT
// Checks of the lanes of one access, by memory. The cases in which all is well are passed quickly: lanes side by side, lanes
// apart, words that only this thread, this warp since its last synchronisation, or the block before its last barrier has
// touched. The rest goes to check_access().
#pragma once

#include "softgpu/machine/handlers/checks/known_blocks.hpp"
#include "softgpu/machine/handlers/memory/lane_addresses.hpp"
#include "softgpu/machine/inspect/access_checks.hpp"
#include "softgpu/machine/inspect/races/distributed_races.hpp"
#include "softgpu/machine/inspect/races/operation_races.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

// `at` counts from the start of shared memory or of the arena; `size` bytes are there.
template <access_verb Verb, bool Global>
SOFTGPU_INLINE bool pass_access(const instruction* i, warp* w, const std::uint64_t* at, lane_mask mask,
                                std::uint64_t size, stamp* writes, stamp* reads, std::uint8_t* valid) {
    const access_site& site = *i->access;
    check::block_view& view = *w->owner->view;
    const unsigned bytes = site.bytes;
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const auto last = 31u - static_cast<unsigned>(std::countl_zero(mask));
    const bool gapless = is_gapless(mask);
    const stamp rest = stamp_of<Verb>(site, w->index);
    view.warps[w->index].touched = view.time;
    const std::uint64_t begin = at[first];
    if (gapless && is_run(mask, at, begin - std::uint64_t{first} * bytes, bytes) && (begin & (bytes - 1)) == 0) {
        const std::uint64_t length = std::uint64_t{last - first + 1} * bytes;
        if (begin > size || length > size - begin) {
            return false;
        }
        if (valid != nullptr && !pass_valid<Verb>(valid, begin, length)) {
            return false;
        }
        if (!Global && Verb == access_verb::store && valid != nullptr) {
            extend_written(view, begin, length);
        }
        if (writes == nullptr) {
            return true;
        }
        race_view v = Global ? global_view(view, w->index, rest) : shared_view(view, w->index, rest);
        stamp* const own_writes = writes + begin / 4;
        stamp* const own_reads = reads + begin / 4;
        if (bytes == 4) {
            return pass_row<Verb, Global>({own_writes, own_reads, last - first + 1, first, 0}, v);
        }
        if (bytes > 4) {
            const unsigned shift = bytes == 8 ? 1 : bytes == 16 ? 2 : 3;
            return pass_row<Verb, Global>({own_writes, own_reads, static_cast<unsigned>(length / 4), first, shift}, v);
        }
        // Several lanes share a word: its number in the warp's row stands for them.
        const unsigned lanes_a_word = 4 / bytes;
        if (((begin | length) & 3) != 0 || first % lanes_a_word != 0) {
            return false;
        }
        v.mine |= Verb == access_verb::load ? stamp{1} << check::kind_shift : check::several_lanes;
        return pass_row<Verb, Global>({own_writes, own_reads, static_cast<unsigned>(length / 4),
                                       check::row_start(bytes) + first / lanes_a_word, 0},
                                      v);
    }
    if (Verb == access_verb::update &&
        (mask & ~test_lanes([begin](std::uint64_t a) { return a == begin; }, at)) == 0) { // a counter, or an mbarrier
        if (bytes < 4 || (begin & (bytes - 1)) != 0 || begin > size || bytes > size - begin ||
            (valid != nullptr && !pass_valid<Verb>(valid, begin, bytes))) {
            return false;
        }
        if (writes == nullptr) {
            return true;
        }
        const race_view v = Global ? global_view(view, w->index, rest) : shared_view(view, w->index, rest);
        const std::uint64_t end = begin / 4 + bytes / 4;
        for (std::uint64_t k = begin / 4; k < end; ++k) {
            if (!may_update_together(writes[k], reads[k], first, last, v)) {
                return false;
            }
        }
        for (std::uint64_t k = begin / 4; k < end; ++k) {
            writes[k] = v.mine + (static_cast<stamp>(last) << check::lane_shift);
        }
        return true;
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
        check_access(i, frame, w, at, mask, access_space::shared);
    }
    if (v.has_remote) [[unlikely]] {
        meet_distributed(i, w, at, mask);
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
    unsigned met = 0; // a view has two operations
    while (!pass_access<Verb, true>(i, w, within, mask, s.bytes, stamps ? s.writes : nullptr, s.reads, s.valid)) {
        if (pass_known<Verb>(i, w, within, mask)) {
            return;
        }
        if (!stamps || met++ == 2 || !meet_ordered(i, w, at, mask)) {
            check_access(i, frame, w, at, mask, access_space::global);
            return;
        }
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
        check_access(i, frame, w, at, mask, access_space::local);
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
