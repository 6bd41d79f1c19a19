// SPDX-License-Identifier: MIT
// Warps that only look at memory until somebody changes it. They give way early; and where every thread of a grid that has
// not ended waits or looks at memory like that, and nothing has changed for a while, the launch ends with a report instead
// of never.
//
// A warp is quiet where it stands again, with the same registers, where it has stood before, and has not stored anything
// since: it will do the same again until memory changes. When all that runs is quiet and all the rest waits for it, memory
// will not change, unless somebody outside the grid does it: warps that look at memory which the host can write never
// count as quiet, and launch_request::outside says whether other work of the device may still come.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "softgpu/machine/code/program_code.hpp"
#include "softgpu/machine/decode/waiting_loops.hpp"

namespace softgpu::machine {

// The pseudo-instruction before the branch that closes a loop which looks at memory; `more`: index into
// program_code::polls.
const instruction* poll(const instruction* i, std::byte* frame, warp* w);

// Whether none of the block's threads will do anything but wait and look.
[[nodiscard]] bool is_quiet(const block& b);

// One for each worker; they agree by what launch_state::quiet holds.
class quiet_watch {
public:
    explicit quiet_watch(launch_state& launch) : launch_(launch) { ++launch.restless; }

    // After a block's turn: is it quiet, how many blocks take turns, and whether another could start. true: the launch has
    // been quiet for so long that it will stay so.
    [[nodiscard]] bool turn(bool quiet, std::size_t resident, bool more_may_start);
    // The worker has no more blocks.
    void finish() { become(true); }

private:
    void become(bool quiet);

    launch_state& launch_;
    bool quiet_ = false;
    std::size_t quiet_turns_ = 0;
    std::uint64_t seen_changes_ = 0;
    bool timing_ = false;
    std::chrono::steady_clock::time_point since_;
};

// Changes whenever the worker's blocks have stored something, where accesses are counted.
[[nodiscard]] std::uint64_t stores_of(const worker& host);

// What the threads of a block wait for: a line's worth, the first few groups of them.
[[nodiscard]] std::string described_waits(const block& b);

} // namespace softgpu::machine
