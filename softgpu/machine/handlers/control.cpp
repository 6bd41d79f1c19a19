// SPDX-License-Identifier: MIT
// Where control goes: branches and where lanes meet again, the end, barriers, fences, traps, and the decoder's
// pseudo-instructions.
#include <atomic>
#include <chrono>
#include <cstdint>

#include "softgpu/machine/calls/calls.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/lanes.hpp"
#include "softgpu/machine/run/bulk/pending.hpp"
#include "softgpu/machine/run/cluster/cluster_barrier.hpp"
#include "softgpu/machine/run/fault.hpp"
#include "softgpu/machine/run/warp/divergence.hpp"
#include "softgpu/machine/run/warp/warp_sync.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

SOFTGPU_INLINE void count_block(const instruction* i, warp* w) {
    execution_count& n = w->executions[i->more];
    ++n.warps;
    n.lanes += static_cast<std::uint64_t>(std::popcount(w->mask));
}

const instruction* enter(const instruction* i, std::byte* frame, warp* w) {
    count_block(i, w);
    return go_on(i + 1, frame, w);
}
const instruction* enter_meeting(const instruction* i, std::byte* frame, warp* w) {
    if (w->meeting == i) {
        return arrive(w);
    }
    count_block(i, w);
    return go_on(i + 1, frame, w);
}
const instruction* meet(const instruction* i, std::byte* frame, warp* w) {
    return w->meeting == i ? arrive(w) : go_on(i + 1, frame, w);
}

const instruction* leave_loops(const instruction* i, std::byte* frame, warp* w) {
    if (w->join_index != 0) {
        give_up_meetings(w, i);
    }
    return go_on(i + 1, frame, w);
}

const instruction* guard_begin(const instruction* i, std::byte* frame, warp* w) {
    lane_mask p = read_mask(w, i->e);
    p = (i->more != 0 ? ~p : p) & w->mask;
    if (p == 0) {
        return i + i->immediate;
    }
    w->guarded_from = w->mask;
    w->mask = p;
    return go_on(i + 1, frame, w);
}
const instruction* guard_end(const instruction* i, std::byte* frame, warp* w) {
    w->mask = w->guarded_from;
    return go_on(i + 1, frame, w);
}

// After a backward branch the others may be due.
SOFTGPU_INLINE const instruction* go(const instruction* from, const instruction* to, std::byte* frame, warp* w) {
    if (to <= from) {
        return --w->budget < 0 ? give_way(w, to) : to;
    }
    return go_on(to, frame, w);
}

const instruction* jump(const instruction* i, std::byte* frame, warp* w) { return go(i, i->target, frame, w); }

template <bool Counted>
const instruction* branch(const instruction* i, std::byte* frame, warp* w) {
    const lane_mask p = read_mask(w, i->e);
    const lane_mask taken = (i->more != 0 ? ~p : p) & w->mask;
    if constexpr (Counted) {
        ++w->counts->branches;
    }
    if (taken == w->mask) {
        return go(i, i->target, frame, w);
    }
    if (taken == 0) {
        return go_on(i + 1, frame, w);
    }
    if constexpr (Counted) {
        ++w->counts->divergent_branches;
    }
    // A loop that loses lanes one by one must give way as well.
    if (i->target <= i) {
        --w->budget;
    }
    return diverge(w, i, taken, i + 1);
}

// brx.idx: each lane its own target, from the list.
const instruction* branch_indexed(const instruction* i, std::byte* frame, warp* w) {
    const auto* const index = read<std::uint32_t>(w, i->a);
    ++w->counts->branches;
    const std::uint32_t first = index[std::countr_zero(w->mask)];
    lane_mask same = 0;
    each_lane(w->mask, [&](unsigned l) { same |= (index[l] == first ? 1u : 0u) << l; });
    if (first >= i->more) {
        return raise(w, i, fault_kind::trap, "indexed branch beyond its list", same);
    }
    if (same == w->mask) {
        return go(i, i->targets[first], frame, w);
    }
    // One target at a time: the rest comes back to this instruction.
    ++w->counts->divergent_branches;
    instruction part = *i;
    part.target = i->targets[first];
    part.meeting = i->target;
    return diverge(w, &part, same, i);
}

const instruction* leave_lanes(const instruction* i, std::byte* /*frame*/, warp* w) {
    lane_mask gone = w->mask;
    if (i->e != nowhere) {
        const lane_mask p = read_mask(w, i->e);
        gone &= i->more != 0 ? ~p : p;
        if (gone == 0) {
            return i + 1;
        }
    }
    leave_cluster(w, gone);
    if (!w->outgoing.empty()) [[unlikely]] {
        leave_outgoing(w, gone);
    }
    return leave(w, gone, i + 1);
}

const instruction* unsupported(const instruction* i, std::byte* /*frame*/, warp* w) {
    return raise(w, i, fault_kind::unsupported, "instruction is not supported", w->mask);
}

const instruction* trap(const instruction* i, std::byte* /*frame*/, warp* w) {
    return raise(w, i, fault_kind::trap, "trap", w->mask);
}

// `a`: which barrier, `b`: how many threads or nowhere. Red collects predicate `e` (negated if bit 8 of more).
enum : std::uint32_t { negated = 256 };

template <bool Waits, bool Red>
const instruction* barrier(const instruction* i, std::byte* /*frame*/, warp* w) {
    const auto first = static_cast<unsigned>(std::countr_zero(w->mask));
    const std::uint32_t id = read<std::uint32_t>(w, i->a)[first];
    const std::uint32_t wanted = i->b == nowhere ? 0 : read<std::uint32_t>(w, i->b)[first];
    if (id >= w->owner->barriers.size()) {
        return raise(w, i, fault_kind::trap, "a block has barriers 0 to 15 only", w->mask);
    }
    ++w->counts->barriers;
    if constexpr (Red) {
        const lane_mask p = read_mask(w, i->e);
        const lane_mask yes = ((i->more & negated) != 0 ? ~p : p) & w->mask;
        w->owner->barriers[id].count += static_cast<std::uint32_t>(std::popcount(yes));
    }
    if (w->interval + 1 < intervals) {
        ++w->interval;
        if (w->host->profile == nullptr) [[likely]] {
            ++w->counts;
        }
        if (w->host->intervals_used <= w->interval) {
            w->host->intervals_used = w->interval + 1;
        }
    }
    return wait_at_barrier(w, id, wanted, Waits, i + 1);
}

// `more`: 0 popc, 1 and, 2 or.
const instruction* barrier_result(const instruction* i, std::byte* frame, warp* w) {
    const auto first = static_cast<unsigned>(std::countr_zero(w->mask));
    const barrier_state& s = w->owner->barriers[read<std::uint32_t>(w, i->a)[first]];
    if ((i->more & 3) == 0) {
        auto* const d = written<std::uint32_t>(frame, i->d);
        each_lane(w->mask, [&](unsigned l) { d[l] = s.result_count; });
    } else {
        const bool r = (i->more & 3) == 1 ? s.result_count == s.result_threads : s.result_count != 0;
        write_mask(frame, w, i->d, r ? all_lanes : 0);
    }
    return i + 1;
}

const instruction* warp_barrier(const instruction* i, std::byte* /*frame*/, warp* w) {
    const lane_mask members = members_of_first(w, read<std::uint32_t>(w, i->a), i);
    if (((members & w->live) & ~w->mask) == 0) [[likely]] {
        ++w->counts->warp_barriers;
        return i + 1;
    }
    const instruction* next = nullptr;
    const lane_mask gathered = gather_lanes(w, members, i, false, &next);
    if (gathered == 0) {
        return next;
    }
    ++w->counts->warp_barriers;
    release_lanes(w, gathered & ~w->mask, nullptr);
    merge_lanes(w, i + 1);
    return i + 1;
}

const instruction* fence(const instruction* i, std::byte* /*frame*/, warp* w) {
    ++w->counts->fences;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return i + 1;
}

const instruction* sleep(const instruction* i, std::byte* /*frame*/, warp* w) { return give_way(w, i + 1); }

const instruction* nothing(const instruction* i, std::byte* /*frame*/, warp* /*w*/) { return i + 1; }

const instruction* mask_to_value(const instruction* i, std::byte* frame, warp* w) {
    const lane_mask yes = read_mask(w, i->a);
    if (i->width[0] == 2) {
        auto* const narrow = written<std::uint16_t>(frame, i->d);
        each_lane(w->mask, [&](unsigned l) {
            narrow[l] = (yes >> l & 1u) != 0 ? static_cast<std::uint16_t>(i->immediate) : std::uint16_t{0};
        });
        return i + 1;
    }
    auto* const d = written<std::uint32_t>(frame, i->d);
    each_lane(w->mask, [&](unsigned l) { d[l] = (yes >> l & 1u) != 0 ? static_cast<std::uint32_t>(i->immediate) : 0; });
    return i + 1;
}

template <class Clock>
std::uint64_t nanoseconds_of() {
    const auto now = Clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// %globaltimer is Unix time. It never steps back: the host's clock is read once.
std::uint64_t start_of_global_time() {
    static const std::uint64_t start =
        nanoseconds_of<std::chrono::system_clock>() - nanoseconds_of<std::chrono::steady_clock>();
    return start;
}

const instruction* read_clock(const instruction* i, std::byte* frame, warp* w) {
    const bool is_global = i->more == 2 || i->more > 3;
    const std::uint64_t nanoseconds =
        nanoseconds_of<std::chrono::steady_clock>() + (is_global ? start_of_global_time() : 0);
    const std::uint64_t shift = i->more == 3 || i->more == 5 ? 32 : 0;
    const std::uint64_t value = nanoseconds >> shift;
    if (i->width[0] == 8) {
        auto* const d = written<std::uint64_t>(frame, i->d);
        each_lane(w->mask, [&](unsigned l) { d[l] = value; });
    } else {
        auto* const d = written<std::uint32_t>(frame, i->d);
        each_lane(w->mask, [&](unsigned l) { d[l] = static_cast<std::uint32_t>(value); });
    }
    return i + 1;
}

} // namespace

handler choose_control(const form& f) {
    switch (f.op) {
    case opcode::trap:
    case opcode::brkpt: return trap;
    case opcode::brx: return branch_indexed;
    case opcode::bar:
    case opcode::barrier:
        if (f.has(suffix::warp)) {
            return warp_barrier;
        }
        if (f.has(suffix::cluster)) {
            return f.has(suffix::arrive) ? arrive_at_cluster : wait_for_cluster;
        }
        if (f.has(suffix::red)) {
            return barrier<true, true>;
        }
        return f.has(suffix::arrive) ? handler{barrier<false, false>} : handler{barrier<true, false>};
    case opcode::membar:
    case opcode::fence: return fence;
    case opcode::nanosleep: return sleep;
    case opcode::griddepcontrol: // the grids before have ended
    case opcode::setmaxnreg:
    case opcode::pmevent: return nothing;
    case opcode::alloca: return allocate_on_stack;
    case opcode::stacksave: return save_stack;
    case opcode::stackrestore: return restore_stack;
    default: return nullptr;
    }
}

void fill_control(handler_set& s) {
    s.enter = enter;
    s.enter_meeting = enter_meeting;
    s.meet = meet;
    s.leave_loops = leave_loops;
    s.guard_begin = guard_begin;
    s.guard_end = guard_end;
    s.skip = branch<false>;
    s.branch = branch<true>;
    s.jump = jump;
    s.leave = leave_lanes;
    s.unsupported = unsupported;
    s.barrier_result = barrier_result;
    s.mask_to_value = mask_to_value;
    s.read_clock = read_clock;
}

} // namespace softgpu::machine::SOFTGPU_TARGET
