// SPDX-License-Identifier: MIT
#include "softgpu/machine/run/grid/block_runner.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/demangle.hpp"
#include "softgpu/machine/inspect/barrier_checks.hpp"
#include "softgpu/machine/inspect/report.hpp"
#include "softgpu/machine/inspect/trace/traced_block.hpp"
#include "softgpu/machine/run/fill_constants.hpp"
#include "softgpu/machine/run/warp/divergence.hpp"

namespace softgpu::machine {

namespace {

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

block_runner::block_runner(launch_state& launch, quiet_workers& all, const program_code& code, const kernel& k,
                           unsigned index, bool profiled)
    : launch_(launch), code_(code), kernel_(k), watch_(launch, all) {
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
    take_turns();
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
        if (b.traced != nullptr) {
            b.traced->end_turns();
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
