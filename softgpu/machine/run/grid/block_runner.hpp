// SPDX-License-Identifier: MIT
// One thread of the host at work on a launch. It takes blocks in index order and runs each warp by warp, until every warp
// waits or has ended. A block that only spins makes room for others, for as many at once as the card would hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "softgpu/machine/inspect/profile.hpp"
#include "softgpu/machine/module/kernel.hpp"
#include "softgpu/machine/run/schedule/adversary.hpp"
#include "softgpu/machine/run/schedule/deadlock.hpp"
#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

class block_runner {
public:
    block_runner(launch_state& launch, quiet_workers& all, const program_code& code, const kernel& k, unsigned index,
                 bool profiled);

    // Returns when no blocks are left, or at a fault.
    void run();
    // Adds this worker's counters to the result.
    void add_to(launch_result& result);
    // Adds what blocks have printed that have not come to their end to the launch's.
    void add_printed();

private:
    enum class outcome : std::uint8_t { ended, gave_way, stuck };

    void take_turns();
    outcome run_block(block& b);
    // The blocks of a cluster, put before the others that take turns.
    void start_cluster(std::uint64_t number, std::deque<block*>& resident);
    // A block to run, made or used again.
    block* start(std::uint64_t linear);
    // The block has ended. Its shared memory stays until its cluster has.
    static void retire(block& b);
    // What stays the same for all blocks of the launch.
    void prepare(block& b);
    void reset(block& b, std::uint64_t linear);
    // The block is over, and no block is traced until the next is entered.
    void end_trace(block& b);
    // Puts the values of the block into the worker's constants.
    void enter(const block& b);
    // How many blocks take turns.
    [[nodiscard]] std::uint64_t residents() const;

    void shuffle_warps(const block& b);
    // Whether threads wait for ever can only be seen when they take turns in order.
    void calm_down_where_nothing_happens();
    // Nothing in the grid will change any more.
    void report_deadlock(const block& b);

    void hand_over_printed(block& b);
    // Adds the counters by instruction to the result, and to the worker's by barrier interval.
    void take_profile(launch_result& result);

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
    std::vector<std::unique_ptr<cluster>> clusters_; // of more than one block; those without live blocks are free
    bool admit_ = true;
    std::uint32_t turns_ = 0; // of blocks since a cluster was admitted
};

} // namespace softgpu::machine
