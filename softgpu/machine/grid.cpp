// SPDX-License-Identifier: MIT
// A launch: worker threads take blocks in index order; a block runs warp by warp until each waits or has ended; a block
// that only spins makes room for others, as many at once as the card would hold.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <thread>

#include "softgpu/machine/module.hpp"
#include "softgpu/machine/pool.hpp"
#include "softgpu/machine/splits.hpp"

namespace softgpu::machine {

namespace {

constexpr std::size_t cache_line = 64;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

template <class T>
void fill_lanes(std::byte* at, T value) {
    for (unsigned l = 0; l < lanes; ++l) {
        std::memcpy(at + l * sizeof(T), &value, sizeof(T));
    }
}

void fill_uniform(std::byte* at, std::uint64_t value, unsigned bytes) {
    if (bytes == 8) {
        fill_lanes(at, value);
    } else if (bytes == 4) {
        fill_lanes(at, static_cast<std::uint32_t>(value));
    } else {
        fill_lanes(at, static_cast<std::uint16_t>(value));
    }
}

// Storage that starts on a cache line.
std::byte* aligned(std::vector<std::byte>& storage, std::size_t bytes) {
    storage.resize(bytes + cache_line);
    const auto at = reinterpret_cast<std::uintptr_t>(storage.data());
    return storage.data() + (round_up(at, cache_line) - at);
}

enum class outcome : std::uint8_t { ended, gave_way, stuck };

class block_runner {
public:
    block_runner(launch_state& launch, const program_code& code, const kernel& k, unsigned index)
        : launch_(launch), code_(code), kernel_(k) {
        self_.launch = &launch;
        self_.index = index;
        self_.count = launch.request->count;
        executions_.resize(code.block_instructions.size());
        self_.executions = executions_.data();
        patterns_.resize(std::bit_ceil(std::clamp(4 * code.address_registers, 64u, 512u)));
        self_.patterns = patterns_.data();
        self_.patterns_last = static_cast<std::uint32_t>(patterns_.size() - 1);
        fill_constants();
    }

    void run() {
        std::deque<block*> resident;
        bool more = true;
        const std::uint64_t room = residents();
        while (!launch_.stop.load(std::memory_order_acquire)) {
            if (resident.empty() || admit_) {
                admit_ = false;
                if (more && resident.size() < room) {
                    const std::uint64_t next = launch_.next_block.fetch_add(1);
                    if (next < launch_.blocks) {
                        resident.push_front(start(next));
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
                b->resident = false;
                resident.pop_front();
                break;
            case outcome::gave_way:
                resident.pop_front();
                resident.push_back(b);
                admit_ = true;
                break;
            case outcome::stuck: report_deadlock(*b); return;
            }
        }
    }

    void add_to(launch_result& result) const {
        for (std::size_t k = 0; k < self_.intervals_used; ++k) {
            if (result.by_interval.size() <= k) {
                result.by_interval.emplace_back();
            }
            result.by_interval[k].add(self_.counts[k]);
            result.total.add(self_.counts[k]);
        }
        for (std::size_t b = 0; b < executions_.size(); ++b) {
            result.total.warp_instructions += executions_[b].warps * code_.block_instructions[b];
            result.total.thread_instructions += executions_[b].lanes * code_.block_instructions[b];
        }
    }

private:
    [[nodiscard]] std::uint64_t residents() const {
        const launch_request& r = *launch_.request;
        if (r.cooperative || r.resident_blocks == 0) {
            return r.cooperative ? launch_.blocks : std::max<std::uint64_t>(1, 4096 / std::max<std::uint64_t>(1, r.block.count()));
        }
        return r.resident_blocks;
    }

    void fill_constants() {
        self_.constants = aligned(constants_, code_.constants.size());
        std::copy(code_.constants.begin(), code_.constants.end(), self_.constants);
        const launch_request& r = *launch_.request;
        for (const uniform_place& u : code_.of_launch) {
            fill_uniform(slot(u.at), launch_value(u.what), u.bytes);
        }
        for (const parameter_place& p : code_.parameters) {
            std::uint64_t value[2] = {0, 0};
            if (p.offset + p.bytes <= kernel_.facts.parameter_bytes) {
                std::memcpy(value, r.parameters + p.offset, p.bytes);
            }
            if (p.is_signed && p.bytes < 8 && (value[0] >> (8 * p.bytes - 1) & 1) != 0) {
                value[0] |= ~0ull << (8 * p.bytes);
            }
            for (unsigned l = 0; l < lanes; ++l) {
                std::memcpy(slot(p.at) + l * p.lane_bytes, value, p.lane_bytes);
            }
        }
        for (const place at : code_.parameter_address) {
            for (unsigned l = 0; l < lanes; ++l) {
                std::uint64_t value;
                std::memcpy(&value, slot(at) + 8 * l, 8);
                value += launch_.constant_base;
                std::memcpy(slot(at) + 8 * l, &value, 8);
            }
        }
    }

    std::byte* slot(place at) const { return self_.constants + (at & ~in_constants); }

    [[nodiscard]] std::uint64_t launch_value(uniform what) const {
        const launch_request& r = *launch_.request;
        switch (what) {
        case uniform::ntid_x: return r.block.x;
        case uniform::ntid_y: return r.block.y;
        case uniform::ntid_z: return r.block.z;
        case uniform::nctaid_x: return r.grid.x;
        case uniform::nctaid_y: return r.grid.y;
        case uniform::nctaid_z: return r.grid.z;
        case uniform::nwarpid: return 64;
        case uniform::nsmid: return r.multiprocessors;
        case uniform::dynamic_shared_bytes: return r.dynamic_shared_bytes;
        case uniform::total_shared_bytes: return launch_.shared_bytes;
        case uniform::grid_workspace_high: return launch_.grid_workspace >> 32;
        case uniform::grid_workspace_low: return launch_.grid_workspace & 0xFFFFFFFFu;
        default: return 0;
        }
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
        const std::size_t frame = round_up(code_.frame_bytes, cache_line) + cache_line; // off the same cache sets
        const std::size_t shared = round_up(launch_.shared_bytes, cache_line);
        const std::size_t local = round_up(std::size_t{launch_.local_bytes} * b.warps * lanes, cache_line);
        // Partial runs in shared memory are moved as whole ones: a warp's width of padding on either side.
        constexpr std::size_t padding = 8 * lanes;
        std::byte* at = aligned(b.storage, frame * b.warps + shared + 2 * padding + local);
        b.shared = at + padding;
        at += shared + 2 * padding;
        b.local = at;
        at += local;
        for (std::uint32_t k = 0; k < b.warps; ++k) {
            warp& w = b.members[k];
            w.frame = at;
            at += frame;
            w.owner = &b;
            w.host = &self_;
            w.constants = self_.constants;
            w.index = k;
            for (const warp_place& p : code_.of_warp) {
                for (unsigned l = 0; l < lanes; ++l) {
                    const std::uint32_t thread = k * lanes + l;
                    const std::uint32_t value = p.what == per_warp::tid_x   ? thread % r.block.x
                                                : p.what == per_warp::tid_y ? thread / r.block.x % r.block.y
                                                : p.what == per_warp::tid_z ? thread / r.block.x / r.block.y
                                                                            : k;
                    std::memcpy(w.frame + p.at + 4 * l, &value, 4);
                }
            }
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
            w.parked = 0;
            for (std::uint16_t k = 1; k <= w.joins_used; ++k) {
                w.joins[k] = {};
            }
            w.joins_used = 0;
        }
        entered_ = nullptr;
    }

    // Values of the block go into the worker's constants.
    void enter(const block& b) {
        if (entered_ == &b) {
            return;
        }
        entered_ = &b;
        for (const uniform_place& u : code_.of_block) {
            const std::uint64_t value = u.what == uniform::ctaid_x   ? b.id.x
                                        : u.what == uniform::ctaid_y ? b.id.y
                                        : u.what == uniform::ctaid_z ? b.id.z
                                                                     : b.linear % launch_.request->multiprocessors;
            fill_uniform(slot(u.at), value, u.bytes);
        }
    }

    outcome run_block(block& b) {
        const int budget = launch_.request->cooperative ? 64 : turn_budget;
        for (;;) {
            bool progress = false;
            bool gave_way = true;
            for (warp& w : b.members) {
                if (w.live == 0 || (!w.running && next_split(&w) == nullptr)) {
                    continue;
                }
                progress = true;
                w.budget = budget;
                w.gave_way = false;
                for (const instruction* i = w.pc; i != nullptr;) {
                    i = i->run(i, w.frame, &w);
                }
                if (launch_.stop.load(std::memory_order_relaxed)) {
                    return outcome::ended;
                }
                gave_way = gave_way && w.gave_way;
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

    void report_deadlock(const block& b) {
        std::uint32_t waiting = 0;
        for (const warp& w : b.members) {
            waiting += static_cast<std::uint32_t>(std::popcount(w.live));
        }
        const std::lock_guard lock(launch_.fault_mutex);
        if (!launch_.first_fault) {
            launch_.first_fault = {fault_kind::deadlock,
                                   "kernel " + launch_.kernel_name + ", block (" + std::to_string(b.id.x) + "," +
                                       std::to_string(b.id.y) + "," + std::to_string(b.id.z) + "): deadlock: " +
                                       std::to_string(waiting) +
                                       " threads wait at a barrier or for lanes that never come"};
        }
        launch_.stop.store(true, std::memory_order_release);
    }

    launch_state& launch_;
    const program_code& code_;
    const kernel& kernel_;
    worker self_;
    std::vector<std::byte> constants_;
    std::vector<execution_count> executions_;
    std::vector<address_pattern> patterns_;
    std::vector<std::unique_ptr<block>> blocks_;
    const block* entered_ = nullptr;
    bool admit_ = true;
};

fault not_runnable(fault_kind kind, const std::string& kernel, const std::string& why) {
    return {kind, "kernel " + kernel + ": " + why};
}

void run_blocks(launch_state& state, const program_code& code, const kernel& k, launch_result& result) {
    const launch_request& request = *state.request;
    const unsigned all = request.workers != 0 ? request.workers : std::max(1u, std::thread::hardware_concurrency());
    const auto workers = static_cast<unsigned>(std::min<std::uint64_t>(all, std::max<std::uint64_t>(1, state.blocks)));
    std::vector<std::unique_ptr<block_runner>> runners(workers);
    run_on_workers(workers, [&](unsigned n) {
        if (n != 0 && state.next_block.load(std::memory_order_relaxed) >= state.blocks) {
            return; // too late to help
        }
        runners[n] = std::make_unique<block_runner>(state, code, k, n);
        runners[n]->run();
    });
    if (request.count) {
        for (const auto& r : runners) {
            if (r != nullptr) { // one that found a thread to run on
                r->add_to(result);
            }
        }
    }
    result.error = state.first_fault;
}

} // namespace

launch_result launch(module& owner, const kernel& k, const launch_request& request) {
    launch_result result;
    const program_code* code = nullptr;
    module::implementation& inside = owner.inside();
    try {
        const std::lock_guard lock(inside.mutex);
        code = &inside.code_of(const_cast<kernel&>(k), request.count);
    } catch (const ptx::error& e) {
        result.error = not_runnable(fault_kind::invalid_ptx, k.name, std::string("PTX ") + e.what());
        return result;
    }
    launch_state state;
    state.request = &request;
    state.memory = inside.memory;
    const auto dynamic_at = static_cast<std::uint32_t>(round_up(k.shared_bytes, std::max(16u, k.shared_alignment)));
    state.shared_bytes = request.dynamic_shared_bytes == 0 ? k.shared_bytes : dynamic_at + request.dynamic_shared_bytes;
    state.local_bytes = k.facts.local_bytes;
    state.parameter_bytes = k.facts.parameter_bytes;
    state.blocks = request.grid.count();
    state.kernel_name = k.name;
    state.code = code;
    try {
        if (k.uses_parameter_address && k.facts.parameter_bytes != 0) {
            state.constant_base =
                inside.memory->allocate(k.facts.parameter_bytes, memory::allocation_kind::constant, "(parameters)");
            std::memcpy(reinterpret_cast<void*>(state.constant_base), request.parameters, k.facts.parameter_bytes);
        }
        if (code->uses_grid_workspace && request.cooperative) {
            // As the driver lays it out: its size, then the barrier's counter.
            const std::uint32_t workspace[2] = {sizeof(workspace), 0};
            state.grid_workspace =
                inside.memory->allocate(sizeof(workspace), memory::allocation_kind::device, "(grid workspace)");
            std::memcpy(reinterpret_cast<void*>(state.grid_workspace), workspace, sizeof(workspace));
        }
    } catch (const memory::out_of_memory& e) {
        result.error = not_runnable(fault_kind::illegal_address, k.name, e.what());
    }
    if (!result.error) {
        run_blocks(state, *code, k, result);
    }
    for (const memory::address taken : {state.constant_base, state.grid_workspace}) {
        if (taken != 0) {
            inside.memory->release(taken);
        }
    }
    return result;
}

} // namespace softgpu::machine
