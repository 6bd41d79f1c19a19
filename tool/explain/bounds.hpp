// SPDX-License-Identifier: MIT
// What bounds a step on a card: the least time that each of the card's resources takes for what was counted, if all the
// others took none. Bounds from counts, not a prediction: what overlaps badly takes longer than the longest of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ladder/engine/definition/report.hpp"
#include "softgpu/observe/launch_record.hpp"

namespace warpfold::tool {

// Compute capability 9.0, measured on the H100 by the laboratory `occupancy` (docs/results/ladders/ladders-h100.json).
struct latencies {
    double dram_clocks = 678;
    double shared_clocks = 23;
    double instruction_clocks = 4; // between dependent ones
    double launch_seconds = 4.4e-6;

    // What these accesses and instructions wait for, one after the other.
    [[nodiscard]] double clocks(const softgpu::observe::counters& c) const noexcept {
        return dram_clocks * static_cast<double>(c.global_load_requests) +
               shared_clocks * static_cast<double>(c.shared_load_requests) +
               instruction_clocks * static_cast<double>(c.warp_instructions);
    }
};

enum class resource { issue, shared_memory, l2, dram, latency, launches };
// "instruction issue", "shared-memory wavefronts", ...
[[nodiscard]] const char* name_of(resource r);

struct bound {
    resource of = resource::issue;
    double seconds = 0;
    std::string figure; // what was counted, and the rate that it is held against
};

struct bounds_of_step {
    std::string card;
    std::uint64_t n = 0;    // that the times are of: counts are scaled to it
    std::vector<bound> all; // the longest first; empty: nothing was counted
};

// Counts of `step` are scaled from its n to the ladder's size on a GPU, where it ran on the whole problem.
[[nodiscard]] bounds_of_step bounds_of(const ladder::ladder_report& report, const ladder::step_result& step,
                                       const std::vector<softgpu::observe::launch_record>& launches);

} // namespace warpfold::tool
