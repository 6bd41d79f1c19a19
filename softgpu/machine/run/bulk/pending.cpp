// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/bulk/pending.hpp"

#include <cstring>
#include <utility>

#include "softgpu/machine/inspect/async/bulk_checks.hpp"
#include "softgpu/machine/run/fault.hpp"
#include "softgpu/machine/run/memory/mbarrier.hpp"
#include "softgpu/machine/run/schedule/adversary.hpp"

namespace softgpu::machine {

namespace {

constexpr std::uint32_t early = 4; // one in so many happens at once, under an adversarial schedule

bool happens_at_once(const warp* w) {
    adversary* const a = w->host->against;
    return a != nullptr && !a->is_calm() && a->one_in(early);
}

void land(block& target, incoming_copy& c) {
    if (target.view != nullptr) {
        land_incoming(target, c);
    }
    c.write(target.shared + c.to);
    mbarrier(target.shared + c.barrier).expect_bytes(-std::int64_t{c.counted});
}

} // namespace

void begin_incoming(const instruction* i, warp* w, unsigned lane, block& target, incoming_copy what) {
    if (w->host->count) {
        ++w->counts->async_copy_requests;
        w->counts->async_copy_bytes += what.counted;
    }
    if (w->owner->view != nullptr) {
        check_incoming(i, w, lane, target, what);
    }
    if (happens_at_once(w)) {
        land(target, what);
    } else {
        target.incoming.push_back(std::move(what));
    }
}

void finish_incoming(block& target, std::uint32_t barrier) {
    std::erase_if(target.incoming, [&](incoming_copy& c) {
        if (c.barrier != barrier) {
            return false;
        }
        land(target, c);
        return true;
    });
}

void begin_outgoing(const instruction* i, warp* w, unsigned lane, outgoing_copy what) {
    if (w->host->count) {
        ++w->counts->async_copy_requests;
        w->counts->async_copy_bytes += what.bytes;
    }
    if (w->owner->view != nullptr) {
        check_outgoing(i, w, lane, what);
    }
    what.lane = static_cast<std::uint8_t>(lane);
    what.group = w->bulk_groups[lane];
    if (happens_at_once(w)) {
        what.write(w->owner->shared + what.from);
        what.write = nullptr; // the checks go on until its thread waits
    }
    w->outgoing.push_back(std::move(what));
}

void finish_outgoing(warp* w, lane_mask by, std::uint32_t keep) {
    std::erase_if(w->outgoing, [&](const outgoing_copy& c) {
        if ((by >> c.lane & 1u) == 0 || std::uint64_t{c.group} + keep >= w->bulk_groups[c.lane]) {
            return false;
        }
        if (w->owner->view != nullptr) {
            finish_outgoing_check(w, c);
        }
        if (c.write != nullptr) {
            c.write(w->owner->shared + c.from);
        }
        return true;
    });
}

void leave_outgoing(warp* w, lane_mask gone) {
    each_lane(gone, [&](unsigned l) { ++w->bulk_groups[l]; });
    finish_outgoing(w, gone, 0);
}

const instruction* commit_bulk_group(const instruction* i, std::byte* /*frame*/, warp* w) {
    each_lane(w->mask, [&](unsigned l) { ++w->bulk_groups[l]; });
    return i + 1;
}

const instruction* wait_bulk_group(const instruction* i, std::byte* frame, warp* w) {
    const auto first = static_cast<unsigned>(std::countr_zero(w->mask));
    std::uint32_t keep = 0;
    std::memcpy(&keep, lanes_at(frame, w, i->a) + first * sizeof(keep), sizeof(keep));
    finish_outgoing(w, w->mask, keep);
    return i + 1;
}

std::optional<std::uint32_t> locate_barrier(const instruction* i, warp* w, unsigned lane, std::uint64_t at,
                                            const block& target) {
    const auto found = locate_distributed(i, w, lane, at, 8, 8, "use a barrier in");
    if (!found) {
        return std::nullopt;
    }
    if (found->owner != &target) {
        raise(w, i, fault_kind::trap, "the mbarrier is not in the shared memory of the block that the bytes go to",
              1u << lane);
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(found->offset);
}

} // namespace softgpu::machine
