// SPDX-License-Identifier: MIT
// Looks at an access before it happens: has what is read been written, and does anybody else touch it without order?
#include "softgpu/machine/handlers/checks/inspect_lanes.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/inspect/async/copy_checks.hpp"
#include "softgpu/machine/inspect/races/distributed_races.hpp"
#include "softgpu/machine/inspect/races/release_checks.hpp"
#include "softgpu/machine/run/bulk/pending.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

constexpr std::uint64_t window = memory::device_memory::window_bytes;

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
    lane_mask mask = w->mask;
    if constexpr (Space == access_space::shared || Space == access_space::generic) {
        const bool may_be_elsewhere =
            Space == access_space::generic ||
            (mask & test_lanes([](std::uint64_t a) { return a >> cluster_rank_shift != 0; }, at)) != 0;
        mask &= may_be_elsewhere ? ~inspect_distributed(i, w, at, Space == access_space::generic) : all_lanes;
        if (mask == 0) {
            return i + 1;
        }
    }
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

// mbarrier.test_wait and try_wait: bulk copies are complete where their mbarrier says so.
template <access_space Space>
const instruction* inspect_barrier_wait(const instruction* i, std::byte* frame, warp* w) {
    alignas(64) std::uint64_t at[lanes];
    addresses(at, i, w);
    const std::uint64_t base = Space == access_space::generic ? w->host->launch->memory->shared_window() : 0;
    const std::uint64_t* landed = nullptr; // lanes mostly look at one barrier: once is enough
    each_lane(w->mask, [&](unsigned l) {
        if (landed == nullptr || *landed != at[l]) {
            finish_incoming(*w->owner, static_cast<std::uint32_t>(at[l] - base));
            landed = at + l;
        }
    });
    return inspect_any<Space, access_verb::update>(i, frame, w);
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
    case suffix::const_: // lies in global memory
    case suffix::global: return inspect<access_space::global, Verb>;
    case suffix::shared:
    case suffix::shared_cta:
    case suffix::shared_cluster: return inspect<access_space::shared, Verb>;
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
        if (f.has(suffix::test_wait) || f.has(suffix::try_wait)) {
            return f.space == suffix::none ? inspect_barrier_wait<access_space::generic>
                                           : inspect_barrier_wait<access_space::shared>;
        }
        return f.has(suffix::init) ? by_space<access_verb::store>(f) : by_space<access_verb::update>(f);
    case opcode::ldmatrix:
    case opcode::stmatrix:
    case opcode::wmma: return choose_matrix_check(f);
    default: return nullptr;
    }
}

} // namespace softgpu::machine::SOFTGPU_TARGET
