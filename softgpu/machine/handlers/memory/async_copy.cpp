// SPDX-License-Identifier: MIT
// cp.async with its groups, and mbarrier. What they do stands in softgpu/machine/run/memory/async_copy.cpp; here addresses are found and
// checked, lane by lane.
#include "softgpu/machine/run/memory/async_copy.hpp"
#include "softgpu/machine/code/reduction.hpp"
#include "softgpu/machine/code/tensor_kinds.hpp"
#include "softgpu/machine/handlers/choosers.hpp"
#include "softgpu/machine/handlers/memory/access_cost.hpp"
#include "softgpu/machine/run/bulk/bulk_copy.hpp"
#include "softgpu/machine/run/bulk/pending.hpp"
#include "softgpu/machine/run/bulk/tensor_copy.hpp"
#include "softgpu/machine/run/bulk/tensor_map_changes.hpp"
#include "softgpu/machine/run/memory/mbarrier.hpp"
#include "softgpu/machine/run/warp/divergence.hpp"

namespace softgpu::machine::SOFTGPU_TARGET {

namespace {

using ptx::opcode;
using ptx::suffix;

// Bits of `more`, set by the decoder. The lowest eight are the bytes of a copy.
enum : std::uint32_t { size_bits = 255, generic_address = 256, drops = 512 };

SOFTGPU_INLINE std::uint64_t value_at(const warp* w, place p, unsigned width, unsigned lane) {
    return width == 8 ? read<std::uint64_t>(w, p)[lane] : read<std::uint32_t>(w, p)[lane];
}

// A lane's address in shared memory, or a fault.
struct shared_place {
    block* owner = nullptr;
    std::uint32_t offset = 0;
    bool fine = false;
};
// `elsewhere`: it may be another block's of the cluster.
shared_place find_shared(const instruction* i, warp* w, unsigned lane, unsigned bytes, const char* verb,
                         bool elsewhere = false) {
    std::uint64_t at = value_at(w, i->a, i->width[1], lane) + static_cast<std::uint64_t>(i->immediate);
    if (i->width[1] != 8) {
        at &= 0xFFFFFFFFu;
    }
    if ((i->more & generic_address) != 0) {
        at = shared_cluster_address(*w->host->launch, at);
    }
    if (at >> cluster_rank_shift != 0 && (at >> cluster_rank_shift <= w->owner->group->members.size())) [[unlikely]] {
        const auto found = locate_distributed(i, w, lane, at, bytes, bytes, verb);
        if (!found || (found->owner != w->owner && !elsewhere)) {
            if (found) {
                raise(w, i, fault_kind::illegal_address, "shared memory of another block does not belong here",
                      1u << lane);
            }
            return {};
        }
        return {found->owner, static_cast<std::uint32_t>(found->offset), true};
    }
    const std::uint64_t size = w->host->launch->shared_bytes;
    const bool misaligned = (at & (bytes - 1)) != 0;
    if (misaligned || at > size || bytes > size - at) {
        raise_access(w, i, verb, "shared", at, bytes, misaligned, lane);
        return {};
    }
    return {w->owner, static_cast<std::uint32_t>(at), true};
}

// Runs body(lane, place) for each lane until one is at fault; the next instruction, or nullptr then.
template <class Body>
const instruction* each_object(const instruction* i, warp* w, Body&& body) {
    const instruction* next = i + 1;
    each_lane(w->mask, [&](unsigned l) {
        if (next == nullptr) {
            return;
        }
        const shared_place p = find_shared(i, w, l, 8, "use a barrier in", i->d == nowhere);
        if (!p.fine) {
            next = nullptr;
        } else if (const char* const fault = body(l, mbarrier(p.owner->shared + p.offset))) {
            next = raise(w, i, fault_kind::trap, fault, 1u << l);
        }
    });
    return next;
}

// places: the source's address, its offset, the bytes that are there (or nowhere), a predicate that says none are (or
// nowhere).
const instruction* copy(const instruction* i, std::byte* /*frame*/, warp* w) {
    const unsigned bytes = i->more & size_bits;
    const unsigned width = (i->more & copy_source_is_wide) != 0 ? 8 : 4;
    const instruction* next = i + 1;
    lane_mask ignored = 0;
    if (i->places[3] != nowhere) {
        const lane_mask p = read_mask(w, i->places[3]);
        ignored = (i->more & copy_skip_is_negated) != 0 ? ~p : p;
    }
    each_lane(w->mask, [&](unsigned l) {
        if (next == nullptr) {
            return;
        }
        const std::uint64_t from = value_at(w, i->places[0], width, l) + read<std::uint64_t>(w, i->places[1])[l];
        unsigned filled = bytes;
        if (i->places[2] != nowhere) {
            filled = read<std::uint32_t>(w, i->places[2])[l];
            if (filled > bytes) {
                next = raise(w, i, fault_kind::trap, "cp.async of more bytes than it writes", 1u << l);
                return;
            }
        }
        filled = (ignored >> l & 1u) != 0 ? 0 : filled;
        const shared_place to = find_shared(i, w, l, bytes, "write");
        if (!to.fine) {
            next = nullptr;
            return;
        }
        const bool misaligned = (from & (bytes - 1)) != 0;
        if (filled != 0 && (misaligned || !is_allocated(w, from, filled, verb::load))) {
            next = raise_access(w, i, "read", "global", from, filled, misaligned, l);
            return;
        }
        start_copy(w, l, from, to.offset, bytes, filled);
    });
    if (next != nullptr && w->host->count) {
        ++w->counts->async_copy_requests;
        w->counts->async_copy_bytes += static_cast<std::uint64_t>(std::popcount(w->mask)) * bytes;
    }
    return next;
}

const instruction* commit(const instruction* i, std::byte* /*frame*/, warp* w) {
    commit_copies(w, w->mask);
    return i + 1;
}
const instruction* wait_groups(const instruction* i, std::byte* /*frame*/, warp* w) {
    finish_groups(w, w->mask, read<std::uint32_t>(w, i->a)[std::countr_zero(w->mask)]);
    return i + 1;
}
const instruction* wait_all(const instruction* i, std::byte* /*frame*/, warp* w) {
    finish_copies(w, w->mask);
    return i + 1;
}

// cp.async.mbarrier.arrive: the thread's copies are done, so it arrives now; without .noinc for one arrival more than the
// barrier expects.
template <bool Counted>
const instruction* arrive_for_copies(const instruction* i, std::byte* /*frame*/, warp* w) {
    finish_copies(w, w->mask);
    return each_object(i, w, [&](unsigned, mbarrier b) -> const char* {
        if (!Counted && !b.expect_arrival()) {
            return "an mbarrier cannot expect more than 1048575 arrivals";
        }
        return b.arrive(1, false) ? nullptr : "more arrivals at an mbarrier than its phase expects";
    });
}

const instruction* initialise(const instruction* i, std::byte* /*frame*/, warp* w) {
    return each_object(i, w, [&](unsigned l, mbarrier b) -> const char* {
        const std::uint32_t arrivals = read<std::uint32_t>(w, i->b)[l];
        if (arrivals == 0 || arrivals > mbarrier::most_arrivals) {
            return "an mbarrier expects 1 to 1048575 arrivals";
        }
        b.initialise(arrivals);
        return nullptr;
    });
}
const instruction* invalidate(const instruction* i, std::byte* /*frame*/, warp* w) {
    return each_object(i, w, [&](unsigned, mbarrier b) -> const char* {
        b.invalidate();
        return nullptr;
    });
}

// d = the state before; b: how many arrive, or the bytes that are expected (Bytes), or nowhere.
template <bool Bytes>
const instruction* arrive(const instruction* i, std::byte* frame, warp* w) {
    return each_object(i, w, [&](unsigned l, mbarrier b) -> const char* {
        const std::uint64_t before = b.state();
        std::uint32_t count = 1;
        if (Bytes) {
            b.expect_bytes(read<std::uint32_t>(w, i->b)[l]);
        } else if (i->b != nowhere) {
            count = read<std::uint32_t>(w, i->b)[l];
        }
        if (!b.arrive(count, (i->more & drops) != 0)) {
            return "more arrivals at an mbarrier than its phase expects";
        }
        if (i->d != nowhere) {
            written<std::uint64_t>(frame, i->d)[l] = before;
        }
        return nullptr;
    });
}
template <bool Complete>
const instruction* change_bytes(const instruction* i, std::byte* /*frame*/, warp* w) {
    return each_object(i, w, [&](unsigned l, mbarrier b) -> const char* {
        const std::int64_t bytes = read<std::uint32_t>(w, i->b)[l];
        b.expect_bytes(Complete ? -bytes : bytes);
        return nullptr;
    });
}

// d: whether the phase of the state (or parity) b is over. Where it is not, the others get their turn.
template <bool Parity>
const instruction* test_phase(const instruction* i, std::byte* frame, warp* w) {
    lane_mask over = 0;
    std::uint32_t looked_at = ~0u; // lanes mostly look at one barrier: once is enough
    each_lane(w->mask, [&](unsigned l) {
        if (const shared_place p = find_shared(i, w, l, 8, "use a barrier in"); p.fine && p.offset != looked_at) {
            finish_incoming(*w->owner, p.offset);
            looked_at = p.offset;
        }
    });
    const instruction* const next = each_object(i, w, [&](unsigned l, mbarrier b) -> const char* {
        const bool yes =
            Parity ? b.is_over_parity(read<std::uint32_t>(w, i->b)[l]) : b.is_over(read<std::uint64_t>(w, i->b)[l]);
        over |= static_cast<lane_mask>(yes) << l;
        return nullptr;
    });
    if (next == nullptr) {
        return nullptr;
    }
    write_mask(frame, w, i->d, over);
    return over == w->mask ? next : give_way(w, next);
}

const instruction* nothing(const instruction* i, std::byte* /*frame*/, warp* /*w*/) { return i + 1; }

const instruction* pending_count(const instruction* i, std::byte* frame, warp* w) {
    const auto* const a = read<std::uint64_t>(w, i->a);
    auto* const d = written<std::uint32_t>(frame, i->d);
    each_lane(w->mask, [&](unsigned l) { d[l] = mbarrier::pending_of(a[l]); });
    return i + 1;
}

handler choose_tensor(const form& f) {
    if (f.has(suffix::im2col_w) || f.has(suffix::im2col_w_128)) {
        return nullptr; // of sm_100
    }
    if (is_by_rows(f) && (f.has(suffix::reduce) || f.has(suffix::tile_scatter4) != (f.space == suffix::global))) {
        return nullptr;
    }
    if (f.has(suffix::prefetch)) {
        return nothing;
    }
    if (f.space == suffix::global) {
        return f.has(suffix::bulk_group) ? start_tensor_store : nullptr;
    }
    return f.has(suffix::mbarrier_complete_tx_bytes) ? start_tensor_load : nullptr;
}

handler choose_bulk(const form& f) {
    if (f.has(suffix::commit_group)) {
        return commit_bulk_group;
    }
    if (f.has(suffix::wait_group)) {
        return wait_bulk_group;
    }
    if (f.has(suffix::tensor)) {
        return choose_tensor(f);
    }
    if (f.has(suffix::prefetch)) {
        return nothing;
    }
    if (f.has(suffix::cp_mask) || (f.has(suffix::reduce) && reduction_number(f, f.type[0]) == 0)) {
        return nullptr;
    }
    if (f.space == suffix::global) {
        return f.has(suffix::bulk_group) ? start_bulk_store : nullptr;
    }
    if (!f.has(suffix::mbarrier_complete_tx_bytes)) {
        return nullptr;
    }
    return !f.has(suffix::global) ? handler{start_cluster_copy} : f.has(suffix::reduce) ? nullptr : start_bulk_load;
}

handler choose_copy(const form& f) {
    if (!f.has(suffix::async)) {
        return nullptr;
    }
    if (f.has(suffix::bulk)) {
        return choose_bulk(f);
    }
    if (f.has(suffix::reduce)) {
        return nullptr;
    }
    if (f.has(suffix::commit_group)) {
        return commit;
    }
    if (f.has(suffix::wait_group)) {
        return wait_groups;
    }
    if (f.has(suffix::wait_all)) {
        return wait_all;
    }
    if (f.has(suffix::mbarrier)) {
        return f.has(suffix::noinc) ? arrive_for_copies<true> : arrive_for_copies<false>;
    }
    return f.has(suffix::ca) || f.has(suffix::cg) ? copy : nullptr;
}

handler choose_barrier(const form& f) {
    if (f.has(suffix::init)) {
        return initialise;
    }
    if (f.has(suffix::inval)) {
        return invalidate;
    }
    if (f.has(suffix::arrive) || f.has(suffix::arrive_drop)) {
        return f.has(suffix::expect_tx) ? arrive<true> : arrive<false>;
    }
    if (f.has(suffix::expect_tx)) {
        return change_bytes<false>;
    }
    if (f.has(suffix::complete_tx)) {
        return change_bytes<true>;
    }
    if (f.has(suffix::test_wait) || f.has(suffix::try_wait)) {
        return f.has(suffix::parity) ? test_phase<true> : test_phase<false>;
    }
    return f.has(suffix::pending_count) ? pending_count : nullptr;
}

} // namespace

handler choose_async(const form& f) {
    if (f.op == opcode::tensormap) {
        return f.has(suffix::cp_fenceproxy)                         ? publish_tensor_map
               : f.has(suffix::replace) && tensor_map_field(f) != 0 ? replace_in_tensor_map
                                                                    : nullptr;
    }
    return f.op == opcode::cp ? choose_copy(f) : f.op == opcode::mbarrier ? choose_barrier(f) : nullptr;
}

} // namespace softgpu::machine::SOFTGPU_TARGET
