// SPDX-License-Identifier: MIT
// Deadlock detection. Warps that poll memory give way early. A launch whose live threads all wait or poll, with no change
// for a while, ends with a report.
//
// A warp is quiet when it is again at an earlier place with the same registers, those aside that depend on a clock, and has
// stored nothing since: it repeats this until memory changes. A loop that ends when a time has passed is not quiet. When every
// running warp is quiet and all others wait for them, memory can only change from outside of the grid. Warps that poll memory
// which the host can write therefore never count as quiet, and launch_request::outside says whether other work of the device
// may still come.
//
// A thread of the host may stand still at any place for as long as the host likes, before it sees what another one has stored.
// So each worker measures the time itself, by its turns: between two of them only a share of the limit counts. The launch is
// deadlocked when the time of every worker has passed since the last change.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "softgpu/machine/state/launch_state.hpp"

namespace softgpu::machine {

// The pseudo-instruction before the branch that closes a polling loop; `more`: index into
// program_code::polls.
const instruction* poll(const instruction* i, std::byte* frame, warp* w);

// The running split can only wait, at `at`, in no loop that poll() closes.
void wait_quietly(warp* w, const instruction* at);

// Whether all threads of the block only wait or poll.
[[nodiscard]] bool is_quiet(const block& b);

// Workers that have blocks, and those of them whose time has passed.
class quiet_workers {
public:
    void begin(launch_state& launch);
    void finish(launch_state& launch);
    // The time of one worker has passed after so many of launch_state::changes. true: it was the last.
    [[nodiscard]] bool agree(const launch_state& launch, std::uint64_t changes);

private:
    std::mutex mutex_;
    unsigned all_ = 0;
    unsigned agreed_ = 0;
    std::uint64_t agreed_after_ = 0; // changes
};

// One for each worker; they share quiet_workers, launch_state::restless and changes.
class quiet_watch {
public:
    quiet_watch(launch_state& launch, quiet_workers& all) : launch_(launch), all_(all) { all.begin(launch); }

    // After a block's turn: is the block quiet, how many blocks take turns, and whether another could start. true: the
    // launch is deadlocked.
    [[nodiscard]] bool turn(bool quiet, std::size_t resident, bool more_may_start);
    // The worker has no more blocks.
    void finish();

private:
    void become(bool quiet);

    launch_state& launch_;
    quiet_workers& all_;
    bool quiet_ = false;
    std::size_t quiet_turns_ = 0;
    std::uint64_t seen_changes_ = 0;
    bool timing_ = false;
    std::chrono::steady_clock::time_point last_turn_;
    double waited_ = 0; // seconds since the last change
    bool agreed_ = false;
};

// Changes with every store of the worker's blocks, where accesses are counted.
[[nodiscard]] std::uint64_t stores_of(const worker& host);

// What the threads of a block wait for, in one line: the first few groups of them.
[[nodiscard]] std::string described_waits(const block& b);

} // namespace softgpu::machine
