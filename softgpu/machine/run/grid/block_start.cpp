// SPDX-License-Identifier: MIT
// How a worker's blocks begin, are used again, and end.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/races/distributed_races.hpp"
#include "softgpu/machine/inspect/trace/traced_block.hpp"
#include "softgpu/machine/module/shared_layout.hpp"
#include "softgpu/machine/run/fill_constants.hpp"
#include "softgpu/machine/run/grid/block_runner.hpp"
#include "softgpu/machine/run/warp/divergence.hpp"
#include "softgpu/memory/alignment.hpp"

namespace softgpu::machine {

namespace {

constexpr std::size_t largest_local_in_storage = 1 << 20;

} // namespace

void block_runner::start_cluster(std::uint64_t number, std::deque<block*>& resident) {
    turns_ = 0;
    const extent& size = launch_.request->cluster;
    const extent& grid = launch_.request->grid;
    if (launch_.cluster_blocks == 1) {
        block* const b = start(number);
        b->rank = 0;
        b->group = &b->alone;
        b->alone.members.assign(1, b);
        b->alone.blocks_live = 1;
        b->alone.threads_live = b->threads_live;
        b->alone.arrived = 0;
        resident.push_front(b);
        return;
    }
    cluster* c = nullptr;
    for (const auto& kept : clusters_) {
        if (kept->blocks_live == 0) {
            c = kept.get();
            break;
        }
    }
    if (c == nullptr) {
        c = clusters_.emplace_back(std::make_unique<cluster>()).get();
    }
    *c = {};
    const auto [x, y, z] = extent{grid.x / size.x, grid.y / size.y, grid.z / size.z}.index(number);
    for (std::uint32_t rank = 0; rank < launch_.cluster_blocks; ++rank) {
        const auto [dx, dy, dz] = size.index(rank);
        block* const b = start((x * size.x + dx) +
                               std::uint64_t{grid.x} * ((y * size.y + dy) + std::uint64_t{grid.y} * (z * size.z + dz)));
        b->rank = rank;
        b->group = c;
        c->members.push_back(b);
        ++c->blocks_live;
        c->threads_live += b->threads_live;
    }
    resident.insert(resident.begin(), c->members.begin(), c->members.end());
}

void block_runner::retire(block& b) {
    if (b.view != nullptr) {
        check_end_of_block(b);
    }
    if (--b.group->blocks_live == 0) {
        for (block* const of_cluster : b.group->members) {
            of_cluster->resident = false;
        }
    }
}

block* block_runner::start(std::uint64_t linear) {
    block* b = nullptr;
    for (const auto& kept : blocks_) {
        if (!kept->resident) {
            b = kept.get();
            break;
        }
    }
    if (b == nullptr) {
        b = blocks_.emplace_back(std::make_unique<block>()).get();
        prepare(*b);
    }
    reset(*b, linear);
    return b;
}

void block_runner::prepare(block& b) {
    const launch_request& r = *launch_.request;
    const auto threads = static_cast<std::uint32_t>(r.block.count());
    b.warps = (threads + lanes - 1) / lanes;
    b.members.resize(b.warps);
    // A cache line more, off the same cache sets.
    const std::size_t frame = sizeof(call_frame) + round_up(code_.frame_bytes, cache_line) + cache_line;
    const std::size_t shared = round_up(launch_.shared_bytes, cache_line);
    const std::size_t local = round_up(std::size_t{launch_.local_bytes} * b.warps * lanes, cache_line);
    const bool large = local > largest_local_in_storage;
    // Partial runs in shared memory are moved as whole ones: a warp's width of padding on either side.
    constexpr std::size_t padding = 8 * lanes;
    std::byte* at = aligned(b.storage, frame * b.warps + shared + 2 * padding + (large ? 0 : local));
    b.shared = at + padding;
    at += shared + 2 * padding;
    if (large) {
        b.stack = lazy_memory(local);
        b.local = b.stack.data();
    } else {
        b.local = at;
        at += local;
    }
    for (std::uint32_t k = 0; k < b.warps; ++k) {
        warp& w = b.members[k];
        call_frame* const f = new (at) call_frame;
        f->code = &code_;
        f->constants = constants_;
        f->executions = executions_.data();
        w.kernel_frame = f->registers();
        at += frame;
        w.owner = &b;
        w.host = &self_;
        w.index = k;
        w.joins.resize(2 * lanes + 2);
        fill_warp_values(code_, launch_, k, w.kernel_frame);
    }
}

void block_runner::reset(block& b, std::uint64_t linear) {
    const auto [x, y, z] = launch_.request->grid.index(linear);
    b.linear = linear;
    b.id = {x, y, z};
    b.resident = true;
    b.threads_live = static_cast<std::uint32_t>(launch_.request->block.count());
    b.at_barriers = 0;
    b.barriers = {};
    b.incoming.clear();
    std::uint32_t left = b.threads_live;
    for (warp& w : b.members) {
        const std::uint32_t mine = std::min<std::uint32_t>(left, lanes);
        left -= mine;
        w.live = mine == lanes ? all_lanes : (1u << mine) - 1;
        w.mask = w.live;
        w.join_index = 0;
        w.meeting = nullptr;
        w.pc = code_.code.data();
        w.carry = 0;
        w.counts = self_.counts.data();
        w.interval = 0;
        w.running = true;
        w.budget = launch_.turn;
        w.gave_way = false;
        w.copies.clear();
        w.outgoing.clear();
        w.at_cluster = 0;
        w.waits = false;
        w.quiet = 0;
        w.history.fill(0);
        w.parked = 0;
        w.held = 0;
        for (std::uint32_t k = 1; k <= w.joins_used; ++k) {
            w.joins[k] = {};
        }
        w.joins_used = 0;
        w.free_joins = 0;
        enter_frame(&w, w.kernel_frame);
        call_frame* const f = frame_of(w.kernel_frame);
        f->inside = w.live;
        f->top.fill(code_.local_bytes);
    }
    self_.entered = nullptr;
    if (kernel_.uses_reserved_shared) {
        const shared_layout l = shared_layout_of(kernel_, *launch_.request);
        std::memset(b.shared + l.reserved_at, 0, l.reserved);
    }
    if (launch_trace* const to = launch_.request->trace; to != nullptr && code_.latency_tables != 0) {
        b.traced = std::make_shared<traced_block>(to->begin(), b.warps, code_.latency_tables, code_.carried_registers,
                                                  to->words());
    }
    if (launch_.checks != nullptr) {
        b.launch = &launch_;
        start_checks(b);
    }
}

void block_runner::end_trace(block& b) {
    if (const std::shared_ptr<traced_block> traced = std::exchange(b.traced, nullptr); traced != nullptr) {
        traced->end();
    }
}

} // namespace softgpu::machine
