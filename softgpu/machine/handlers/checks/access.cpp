// SPDX-License-Identifier: MIT
// Looks at an access before it happens: has what is read been written, and does anybody else touch it without order?
// Here the cases in which all is well are passed quickly: lanes side by side, lanes apart, words that only this thread,
// this warp since its last synchronisation, or the block before its last barrier has touched. The rest goes to
// check_access().
#include "softgpu/machine/handlers/checks/pattern.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/memory/lane_addresses.hpp"
#include "softgpu/machine/inspect/access_checks.hpp"
#include "softgpu/machine/inspect/copy_checks.hpp"
#include "softgpu/machine/inspect/release_checks.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

constexpr std::uint64_t window = memory::device_memory::window_bytes;

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
        return pass_row<Verb, Global>(
            {own_writes, own_reads, static_cast<unsigned>(length / 4), first / lanes_a_word, 0}, v);
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
        check_access(i, frame, w, at, mask, access_space::global);
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

template <access_space Space, access_verb Verb>
__attribute__((noinline)) const instruction* inspect_any(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, w);
    if (i->access->acquires) {
        std::memcpy(w->owner->view->acquired_at[w->index], at, sizeof(at));
    }
    if (Verb != access_verb::load &&
        (i->access->releases || (w->owner->view->has_fenced && i->access->strength != check::strength::plain))) {
        note_release(i, w, at, Space);
    }
    if (Verb != access_verb::load && Space != access_space::global) {
        w->owner->view->shared_stored = w->owner->view->time;
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

template <access_space Space, access_verb Verb>
const instruction* inspect(const instruction* i, std::byte* frame, warp* w) {
    if constexpr ((Space == access_space::shared || Space == access_space::global) && Verb != access_verb::update) {
        if (pass_pattern<Verb, Space == access_space::global>(i, w)) [[likely]] {
            return go_on(i + 1, frame, w);
        }
    }
    return inspect_any<Space, Verb>(i, frame, w);
}

// cp.async: reads its source and begins to write its destination.
const instruction* inspect_copy(const instruction* i, std::byte* frame, warp* w) {
    const access_site& site = *i->access;
    const unsigned bytes = site.bytes;
    const place* const places = site.source_places;
    const bool wide = (site.source_flags & copy_source_is_wide) != 0;
    lane_mask ignored = 0;
    if (places[3] != nowhere) {
        const lane_mask p = read_mask(w, places[3]);
        ignored = (site.source_flags & copy_skip_is_negated) != 0 ? ~p : p;
    }
    std::uint64_t from[lanes];
    lane_mask whole = 0;
    each_lane(w->mask, [&](unsigned l) {
        from[l] = (wide ? read<std::uint64_t>(w, places[0])[l] : read<std::uint32_t>(w, places[0])[l]) +
                  read<std::uint64_t>(w, places[1])[l];
        const std::uint32_t there = places[2] != nowhere ? read<std::uint32_t>(w, places[2])[l] : bytes;
        const std::uint32_t filled = (ignored >> l & 1u) != 0 ? 0 : there;
        whole |= (filled == bytes ? 1u : 0u) << l;
        if (filled != 0 && filled < bytes) {
            inspect_short_source(i, frame, w, from, l, filled);
        }
    });
    if (whole != 0) {
        instruction read = *i;
        read.access = site.from;
        inspect_global<access_verb::load>(&read, frame, w, from, whole);
    }
    alignas(64) std::uint64_t to[lanes];
    addresses(to, i, w);
    check::block_view& v = *w->owner->view;
    v.shared_stored = v.time;
    if (v.shared_writes != nullptr &&
        !pass_access<access_verb::store, false>(i, w, to, w->mask, w->host->launch->shared_bytes, v.shared_writes,
                                                v.shared_reads, nullptr)) {
        check_access(i, frame, w, to, w->mask, access_space::shared);
    }
    begin_copies(i, w, to, w->mask);
    return i + 1;
}

// cp.async.mbarrier.arrive: who waits at the barrier finds the thread's copies there.
template <access_space Space>
const instruction* inspect_copy_arrival(const instruction* i, std::byte* frame, warp* w) {
    land_copies(frame, w, w->mask);
    return inspect_any<Space, access_verb::update>(i, frame, w);
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

handler choose_access_check(const form& f) {
    switch (f.op) {
    case opcode::ld:
    case opcode::ldu: return by_space<access_verb::load>(f);
    case opcode::st: return by_space<access_verb::store>(f);
    case opcode::atom:
    case opcode::red: return by_space<access_verb::update>(f);
    // A barrier object is something that is synchronised on.
    case opcode::cp:
        return !f.has(suffix::mbarrier)  ? inspect_copy
               : f.space == suffix::none ? inspect_copy_arrival<access_space::generic>
                                         : inspect_copy_arrival<access_space::shared>;
    case opcode::mbarrier:
        return f.has(suffix::init) ? by_space<access_verb::store>(f) : by_space<access_verb::update>(f);
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
