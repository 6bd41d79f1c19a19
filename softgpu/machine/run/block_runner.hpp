// SPDX-License-Identifier: MIT
// One of the host's threads at work on a launch, for grid.cpp: it takes blocks in index order and runs a block warp by
// warp until each waits or has ended; a block that only spins makes room for others, as many at once as the card would
// hold.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <new>
#include <numeric>
#include <optional>
#include <thread>

#include "softgpu/machine/inspect/block_checks.hpp"
#include "softgpu/machine/inspect/operation_races.hpp"
#include "softgpu/machine/module/link_group.hpp"
#include "softgpu/machine/module/module.hpp"
#include "softgpu/machine/module/shared_layout.hpp"
#include "softgpu/machine/module/source_place.hpp"
#include "softgpu/machine/run/adversary.hpp"
#include "softgpu/machine/run/calls.hpp"
#include "softgpu/machine/run/deadlock.hpp"
#include "softgpu/machine/run/divergence.hpp"
#include "softgpu/machine/run/fill_constants.hpp"
#include "softgpu/machine/run/thread_pool.hpp"

namespace softgpu::machine {

inline constexpr std::size_t cache_line = 64;
inline constexpr std::size_t largest_local_in_storage = 1 << 20;
inline constexpr std::uint32_t most_idle_turns = 100;

inline std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

enum class outcome : std::uint8_t { ended, gave_way, stuck };

class block_runner {
public:
    block_runner(launch_state& launch, const program_code& code, const kernel& k, unsigned index, bool profiled)
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

    void run() {
        take_turns();
        watch_.finish();
    }

private:
    void take_turns() {
        std::deque<block*> resident;
        bool more = true;
        const std::uint64_t room = residents();
        while (!launch_.stop.load(std::memory_order_acquire)) {
            if (resident.empty() || admit_) {
                admit_ = false;
                if (more && resident.size() < room) {
                    const std::uint64_t next = launch_.next_block.fetch_add(1);
                    if (next < launch_.blocks) {
                        resident.push_front(
                            start(adversary_ ? adversary_->block_at(next, launch_.blocks, room) : next));
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
            switch (run_block(*b)) {
            case outcome::ended:
                hand_over_printed(*b);
                b->resident = false;
                resident.pop_front();
                break;
            case outcome::gave_way:
                resident.pop_front();
                resident.push_back(b);
                admit_ = true;
                if (watch_.turn(is_quiet(*b), resident.size(), more && resident.size() < room)) {
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

public:
    void add_to(launch_result& result) {
        if (profile_) {
            take_profile(result);
        }
        for (std::size_t k = 0; k < self_.intervals_used; ++k) {
            if (result.by_interval.size() <= k) {
                result.by_interval.emplace_back();
            }
            result.total.add(self_.counts[k]);
            self_.counts[k].warp_instructions =
                0; // those are counted by block, and mended where lanes meet inside of one
            result.by_interval[k].add(self_.counts[k]);
        }
        add_executions(result, code_, executions_);
        for (const auto& [entry, f] : self_.functions) {
            add_executions(result, *f->code, f->executions);
        }
    }

    // Of blocks that have not come to their end.
    void add_printed() {
        for (const auto& b : blocks_) {
            hand_over_printed(*b);
        }
    }

private:
    static void add_executions(launch_result& result, const program_code& code,
                               const std::vector<execution_count>& executions) {
        for (std::size_t b = 0; b < executions.size(); ++b) {
            result.total.warp_instructions += executions[b].warps * code.block_instructions[b];
            result.total.thread_instructions += executions[b].lanes * code.block_instructions[b];
        }
    }

    void hand_over_printed(block& b) {
        if (!b.printed.empty()) {
            const std::lock_guard lock(launch_.fault_mutex);
            launch_.printed.emplace_back(b.linear, std::move(b.printed));
            b.printed.clear();
        }
    }

    // Makes intervals and totals of the counts by instruction, and gives those to the result too.
    void take_profile(launch_result& result) {
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

    [[nodiscard]] std::uint64_t residents() const {
        const launch_request& r = *launch_.request;
        if (r.cooperative || r.resident_blocks == 0) {
            return r.cooperative ? launch_.blocks
                                 : std::max<std::uint64_t>(1, 4096 / std::max<std::uint64_t>(1, r.block.count()));
        }
        return r.resident_blocks;
    }

    block* start(std::uint64_t linear) {
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

    // What stays the same for all blocks of the launch.
    void prepare(block& b) {
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

    void reset(block& b, std::uint64_t linear) {
        const extent g = launch_.request->grid;
        b.linear = linear;
        b.id = {static_cast<std::uint32_t>(linear % g.x), static_cast<std::uint32_t>(linear / g.x % g.y),
                static_cast<std::uint32_t>(linear / g.x / g.y)};
        b.resident = true;
        b.threads_live = static_cast<std::uint32_t>(launch_.request->block.count());
        b.at_barriers = 0;
        b.barriers = {};
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
            w.gave_way = false;
            w.copies.clear();
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
        if (launch_.checks != nullptr) {
            b.launch = &launch_;
            start_checks(b);
        }
    }

    // Values of the block go into the worker's constants.
    void enter(const block& b) {
        if (self_.entered == &b) {
            return;
        }
        self_.entered = &b;
        fill_block_values(code_, launch_, b, constants_);
        for (const auto& [entry, f] : self_.functions) {
            fill_block_values(*f->code, launch_, b, f->constants);
        }
    }

    outcome run_block(block& b) {
        for (;;) {
            bool progress = false;
            bool gave_way = true;
            if (adversary_ && !adversary_->is_calm()) {
                shuffle_warps(b);
            }
            for (const std::uint32_t number : order_) {
                warp& w = b.members[number];
                if (w.live == 0) {
                    continue;
                }
                if (!w.running) {
                    next_split(&w);
                    if (!w.running) {
                        continue;
                    }
                }
                progress = true;
                if (w.budget <= 0 || adversary_) {
                    w.budget =
                        adversary_ && !adversary_->is_calm() ? static_cast<int>(adversary_->below(200)) : launch_.turn;
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
                if (adversary_ && b.threads_live != 0 && !adversary_->is_calm() &&
                    adversary_->one_in(adversary_->rotate)) {
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
            if (progress && gave_way) {
                return outcome::gave_way;
            }
        }
    }

    void shuffle_warps(const block& b) {
        for (std::uint32_t k = b.warps; k > 1; --k) {
            std::swap(order_[k - 1], order_[adversary_->below(k)]);
        }
    }

    // Whether threads wait for ever can only be seen when they take turns in order.
    void calm_down_where_nothing_happens() {
        const std::uint64_t stores = stores_of(self_);
        idle_turns_ = stores == stores_before_ ? idle_turns_ + 1 : 0;
        stores_before_ = stores;
        adversary_->calm(idle_turns_ > most_idle_turns);
    }

    // Nothing in the grid will change any more.
    void report_deadlock(const block& b) {
        if (launch_.checks != nullptr) {
            report_stuck(b);
        }
        const std::lock_guard lock(launch_.fault_mutex);
        if (!launch_.first_fault) {
            launch_.first_fault = {fault_kind::deadlock, "kernel " + demangled(launch_.kernel_name) + ", block (" +
                                                             std::to_string(b.id.x) + "," + std::to_string(b.id.y) +
                                                             "," + std::to_string(b.id.z) +
                                                             "): deadlock: " + described_waits(b)};
        }
        launch_.stop.store(true, std::memory_order_release);
    }

    launch_state& launch_;
    const program_code& code_;
    const kernel& kernel_;
    worker self_;
    std::unique_ptr<profile_store> profile_;
    std::vector<std::byte> constant_storage_;
    std::byte* constants_ = nullptr;
    quiet_watch watch_;
    std::optional<adversary> adversary_;
    std::uint64_t stores_before_ = 0;
    std::uint32_t idle_turns_ = 0;     // turns of blocks in a row in which nothing was stored
    std::vector<std::uint32_t> order_; // of the warps of a block, as they take turns
    std::vector<execution_count> executions_;
    std::vector<address_pattern> patterns_;
    std::vector<std::unique_ptr<block>> blocks_;
    bool admit_ = true;
};

} // namespace softgpu::machine
