// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/memory/bulk_copy.hpp"

#include <cstring>

#include "softgpu/machine/code/bulk_pieces.hpp"
#include "softgpu/machine/run/fault.hpp"
#include "softgpu/machine/run/memory/mbarrier.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

namespace {

constexpr std::uint64_t alignment = 16;

std::uint64_t lane_value(const warp* w, place p, unsigned width, unsigned lane) {
    std::uint64_t value = 0;
    std::memcpy(&value, lanes_at(w->frame, w, p) + std::size_t{lane} * width, width);
    return value;
}

struct bulk_copy {
    std::uint64_t global = 0;
    std::uint32_t shared = 0;
    std::uint32_t barrier = 0;
    std::uint32_t bytes = 0;
};

// false: a fault was raised.
bool find_copy(const instruction* i, warp* w, unsigned lane, bool loads, bulk_copy& c) {
    const auto own = [&](place p, unsigned width, std::uint64_t offset) {
        const std::uint64_t at = lane_value(w, p, width, lane) + offset;
        return width == 8 ? at : at & 0xFFFFFFFFu;
    };
    const unsigned other_width = (i->more & copy_source_is_wide) != 0 ? 8 : 4;
    const std::uint64_t first = own(i->a, i->width[1], static_cast<std::uint64_t>(i->immediate));
    const std::uint64_t second = own(i->places[0], other_width, lane_value(w, i->places[1], 8, lane));
    c.global = loads ? second : first;
    const std::uint64_t offset = loads ? first : second;
    c.bytes = static_cast<std::uint32_t>(lane_value(w, i->places[2], 4, lane));
    if (c.bytes % alignment != 0) {
        raise(w, i, fault_kind::trap, "cp.async.bulk of a size that is no multiple of 16", 1u << lane);
        return false;
    }
    const std::uint64_t size = w->host->launch->shared_bytes;
    if (offset % alignment != 0 || offset > size || c.bytes > size - offset) {
        raise_access(w, i, loads ? "write" : "read", "shared", offset, c.bytes, offset % alignment != 0, lane);
        return false;
    }
    if (c.bytes != 0 && (c.global % alignment != 0 || !look_up_allocation(w->host, c.global, c.bytes, !loads))) {
        raise_access(w, i, loads ? "read" : "write", "global", c.global, c.bytes, c.global % alignment != 0, lane);
        return false;
    }
    c.shared = static_cast<std::uint32_t>(offset);
    if (loads) {
        const unsigned width = (i->more & bulk_barrier_is_wide) != 0 ? 8 : 4;
        const std::uint64_t barrier = own(i->places[3], width, lane_value(w, i->places[4], 8, lane));
        if (barrier % 8 != 0 || barrier > size || size - barrier < 8) {
            raise_access(w, i, "use a barrier in", "shared", barrier, 8, barrier % 8 != 0, lane);
            return false;
        }
        c.barrier = static_cast<std::uint32_t>(barrier);
    }
    return true;
}

} // namespace

const instruction* start_bulk_load(const instruction* i, std::byte* /*frame*/, warp* w) {
    bool fine = true;
    w->counts->async_copy_requests += w->host->count ? 1 : 0;
    each_lane(w->mask, [&](unsigned l) {
        bulk_copy c;
        fine = fine && find_copy(i, w, l, true, c);
        if (!fine) {
            return;
        }
        if (w->host->count) {
            w->counts->async_copy_bytes += c.bytes;
        }
        w->copies.reserve(w->copies.size() + c.bytes / bulk_piece);
        for (std::uint32_t k = 0; k < c.bytes; k += bulk_piece) {
            w->copies.push_back({c.global + k, c.shared + k, bulk_group_of(c.barrier), static_cast<std::uint8_t>(l),
                                 bulk_piece, bulk_piece});
        }
    });
    return fine ? i + 1 : nullptr;
}

const instruction* run_bulk_store(const instruction* i, std::byte* /*frame*/, warp* w) {
    bool fine = true;
    each_lane(w->mask, [&](unsigned l) {
        bulk_copy c;
        fine = fine && find_copy(i, w, l, false, c);
        if (fine && c.bytes != 0) {
            std::memcpy(reinterpret_cast<void*>(c.global), w->owner->shared + c.shared, c.bytes);
        }
    });
    return fine ? i + 1 : nullptr;
}

const instruction* skip_bulk_group(const instruction* i, std::byte* /*frame*/, warp* /*w*/) { return i + 1; }

void finish_bulk_loads(const warp* w, std::uint32_t barrier) {
    block& b = *w->owner;
    std::int64_t bytes = 0;
    for (warp& one : b.members) {
        bytes += static_cast<std::int64_t>(bulk_piece) *
                 static_cast<std::int64_t>(std::erase_if(one.copies, [&](const pending_copy& c) {
                     if (c.group != bulk_group_of(barrier)) {
                         return false;
                     }
                     std::memcpy(b.shared + c.to, reinterpret_cast<const void*>(c.from), bulk_piece);
                     return true;
                 }));
    }
    if (bytes != 0) {
        mbarrier(b.shared + barrier).expect_bytes(-bytes);
    }
}

} // namespace softgpu::machine
