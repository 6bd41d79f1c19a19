// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/grid/block_runner.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <string>

#include "softgpu/check/launch_checks.hpp"
#include "softgpu/machine/code/alignment.hpp"
#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/demangle.hpp"
#include "softgpu/machine/inspect/barrier_checks.hpp"
#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/races/distributed_races.hpp"
#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/module/shared_layout.hpp"
#include "softgpu/machine/run/fill_constants.hpp"
#include "softgpu/machine/run/warp/divergence.hpp"

namespace softgpu::machine {

namespace {

constexpr std::size_t largest_local_in_storage = 1 << 20;
constexpr std::uint32_t most_idle_turns = 100;

void add_executions(launch_result& result, const program_code& code, const std::vector<execution_count>& executions) {
    for (std::size_t b = 0; b < executions.size(); ++b) {
        result.total.warp_instructions += executions[b].warps * code.block_instructions[b];
        result.total.thread_instructions += executions[b].lanes * code.block_instructions[b];
    }
    for (std::size_t b = 0; b < code.block_mixes.size(); ++b) {
        for (std::size_t c = 0; c < observe::instruction_classes; ++c) {
            result.mix.of[c] += executions[b].warps * code.block_mixes[b].of[c];
        }
    }
}

} // namespace

block_runner::block_runner(launch_state& launch, const program_code& code, const kernel& k, unsigned index,
                           bool profiled)
    : launch_(launch), code_(code), kernel_(k), watch_(launch) {
    if (launch.request->seed) {
        adversary_.emplace(*launch.request->seed);
        self_.against = &*adversary_;
    }
    const std::uint64_t threads = launch.request->block.count();
    order_.resize((threads + lanes - 1) / lanes);
    std::iota(order_.begin(), order_.end(), 0u);
    self_.launch = &launch;
    self_.index = index;
    self_.count = launch.request->count || launch.request->seed;
    executions_.resize(code.block_instructions.size());
    patterns_.resize(std::bit_ceil(std::clamp(8 * code.address_registers, 256u, 1024u)));
    self_.patterns = patterns_.data();
    self_.patterns_last = static_cast<std::uint32_t>(patterns_.size() - 1);
    constants_ = constants_of_launch(code, launch, constant_storage_);
    if (profiled) {
        profile_ = std::make_unique<profile_store>();
        self_.profile = profile_.get();
    }
}

void block_runner::run() {
    traced_block::select(nullptr);
    take_turns();
    traced_block::select(nullptr);
    watch_.finish();
}

void block_runner::take_turns() {
    std::deque<block*> resident;
    bool more = true;
    const std::uint64_t size = launch_.cluster_blocks;
    const std::uint64_t room = residents();
    const auto has_room = [&] { return resident.empty() || resident.size() + size <= room; };
    while (!launch_.stop.load(std::memory_order_acquire)) {
        if (resident.empty() || admit_) {
            admit_ = false;
            if (more && has_room()) {
                const std::uint64_t next = launch_.next_cluster.fetch_add(1);
                if (next < launch_.clusters) {
                    start_cluster(adversary_ ? adversary_->block_at(next, launch_.clusters, room / size) : next,
                                  resident);
                } else {
                    more = false;
                }
            }
            if (resident.empty()) {
                return;
            }
        }
        block* const b = resident.front();
        enter(*b);
        if (launch_.request->trace != nullptr) {
            traced_block::select(traced_[b].get());
        }
        switch (run_block(*b)) {
        case outcome::ended:
            hand_over_printed(*b);
            end_trace(*b);
            retire(*b);
            resident.pop_front();
            break;
        case outcome::gave_way:
            resident.pop_front();
            resident.push_back(b);
            admit_ = size == 1 || ++turns_ > resident.size(); // first the blocks of the clusters that have begun
            if (watch_.turn(is_quiet(*b), resident.size(), more && has_room())) {
                report_deadlock(*b);
                return;
            }
            if (adversary_) {
                calm_down_where_nothing_happens();
                if (!adversary_->is_calm()) {
                    std::swap(resident.front(),
                              resident[adversary_->below(static_cast<std::uint32_t>(resident.size()))]);
                    admit_ = adversary_->one_in(adversary_->admit);
                }
            }
            break;
        case outcome::stuck: report_deadlock(*b); return;
        }
    }
}

void block_runner::add_to(launch_result& result) {
    if (profile_) {
        take_profile(result);
    }
    for (std::size_t k = 0; k < self_.intervals_used; ++k) {
        if (result.by_interval.size() <= k) {
            result.by_interval.emplace_back();
        }
        result.total.add(self_.counts[k]);
        self_.counts[k].warp_instructions = 0; // those are counted by block, and mended where lanes meet inside of one
        result.by_interval[k].add(self_.counts[k]);
    }
    add_executions(result, code_, executions_);
    for (const auto& [entry, f] : self_.functions) {
        add_executions(result, *f->code, f->executions);
    }
}

void block_runner::add_printed() {
    for (const auto& b : blocks_) {
        hand_over_printed(*b);
    }
}

void block_runner::hand_over_printed(block& b) {
    if (!b.printed.empty()) {
        const std::lock_guard lock(launch_.fault_mutex);
        launch_.printed.emplace_back(b.linear, std::move(b.printed));
        b.printed.clear();
    }
}

void block_runner::take_profile(launch_result& result) {
    profile_->each([&](std::uint32_t interval, std::uint32_t point, const observe::point_counts& c) {
        if (c.counts == observe::counters{}) {
            return;
        }
        if (result.profile.size() <= point) {
            result.profile.resize(point + 1);
        }
        result.profile[point].add(c);
        observe::counters without_instructions = c.counts; // those come from the blocks
        without_instructions.warp_instructions = 0;
        without_instructions.thread_instructions = 0;
        self_.counts[interval].add(without_instructions);
    });
}

std::uint64_t block_runner::residents() const {
    const launch_request& r = *launch_.request;
    if (r.cooperative || r.resident_blocks == 0) {
        return r.cooperative ? launch_.blocks
                             : std::max<std::uint64_t>(1, 4096 / std::max<std::uint64_t>(1, r.block.count()));
    }
    return r.resident_blocks;
}

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
        traced_[&b] = std::make_unique<traced_block>(to->begin(), b.warps, code_.latency_tables,
                                                     code_.carried_registers, to->words());
    }
    if (launch_.checks != nullptr) {
        b.launch = &launch_;
        start_checks(b);
    }
}

void block_runner::end_trace(const block& b) {
    if (const auto traced = traced_.find(&b); traced != traced_.end() && traced->second != nullptr) {
        traced_block::select(nullptr);
        traced->second->end();
        traced->second.reset();
    }
}

void block_runner::enter(const block& b) {
    if (self_.entered == &b) {
        return;
    }
    self_.entered = &b;
    fill_block_values(code_, launch_, b, constants_);
    for (const auto& [entry, f] : self_.functions) {
        fill_block_values(*f->code, launch_, b, f->constants);
    }
}

block_runner::outcome block_runner::run_block(block& b) {
    std::uint32_t turns = 0; // used up by warps. In a loop with a barrier they do not use them up in the same round
    for (;;) {
        bool progress = false;
        bool gave_way = true;
        std::uint32_t alive = 0;
        if (adversary_ && !adversary_->is_calm()) {
            shuffle_warps(b);
        }
        for (const std::uint32_t number : order_) {
            warp& w = b.members[number];
            if (w.live == 0) {
                continue;
            }
            ++alive;
            if (!w.running) {
                next_split(&w);
                if (!w.running) {
                    continue;
                }
            }
            progress = true;
            if (adversary_ && !adversary_->is_calm()) {
                w.budget = static_cast<int>(adversary_->below(200));
            }
            w.gave_way = false;
            do { // again, where it goes on in another frame
                w.switched = false;
                std::byte* const frame = w.frame;
                for (const instruction* i = w.pc; i != nullptr;) {
                    i = i->run(i, frame, &w);
                }
            } while (w.switched && !w.gave_way);
            if (launch_.stop.load(std::memory_order_relaxed)) {
                return outcome::ended;
            }
            gave_way = gave_way && w.gave_way;
            turns += w.gave_way ? 1 : 0;
            if (adversary_ && b.threads_live != 0 && !adversary_->is_calm() && adversary_->one_in(adversary_->rotate)) {
                return outcome::gave_way;
            }
        }
        if (b.threads_live == 0) {
            return outcome::ended;
        }
        if (!progress) {
            bool any = false;
            for (warp& w : b.members) {
                any = let_go(&w) || any;
            }
            if (!any) {
                return outcome::stuck;
            }
        }
        if (progress && (gave_way || turns >= alive)) {
            return outcome::gave_way;
        }
    }
}

void block_runner::shuffle_warps(const block& b) {
    for (std::uint32_t k = b.warps; k > 1; --k) {
        std::swap(order_[k - 1], order_[adversary_->below(k)]);
    }
}

void block_runner::calm_down_where_nothing_happens() {
    const std::uint64_t stores = stores_of(self_);
    idle_turns_ = stores == stores_before_ ? idle_turns_ + 1 : 0;
    stores_before_ = stores;
    adversary_->calm(idle_turns_ > most_idle_turns);
}

void block_runner::report_deadlock(const block& b) {
    if (launch_.checks != nullptr) {
        report_stuck(b);
    }
    const std::lock_guard lock(launch_.fault_mutex);
    if (!launch_.first_fault) {
        launch_.first_fault = {fault_kind::deadlock, "kernel " + demangled(launch_.kernel_name) + ", block " +
                                                         index_text({b.id.x, b.id.y, b.id.z}) +
                                                         ": deadlock: " + described_waits(b)};
    }
    launch_.stop.store(true, std::memory_order_release);
}

} // namespace softgpu::machine
