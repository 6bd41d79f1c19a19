// SPDX-License-Identifier: MIT
// What the model of a card (docs/model.md) says of one launch. Times are modelled, never measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softgpu::observe {

// How long the launch would take if this alone limited it.
struct bound_time {
    std::string name; // "issue", "dram", "latency", ... : the list is in docs/model-rules.md
    double nanoseconds = 0;
};

struct prediction {
    std::string card;               // "h200"
    double nanoseconds = 0;         // warm: the caches hold what the launches before have left there
    double cold_nanoseconds = 0;    // the L2 cache is empty when the launch begins
    std::string bound;              // of the warm time: the name of the slowest
    double share_of_roof = 0;       // of the warm time, the part that the bound itself takes: 0 to 1
    std::string next_bound;         // the second slowest; empty: nothing else takes time
    std::vector<bound_time> bounds; // warm, the slowest first
    std::vector<bound_time> cold_bounds;
    double launch_nanoseconds = 0; // the part of either time that is the launch itself, not its kernel
    // Simulated caches.
    double l1_load_hit_rate = 0; // sectors of global loads that L1 had, over all of them; 0 where there are none
    double l2_read_hit_rate = 0; // likewise of sectors of loads that L2 was asked for, warm; atomics are none
    double cold_l2_read_hit_rate = 0;
    std::uint64_t dram_read_bytes = 0;
    std::uint64_t dram_write_bytes = 0; // lines that were written back in this launch
    std::uint64_t cold_dram_read_bytes = 0;
    std::uint64_t cold_dram_write_bytes = 0;
};

} // namespace softgpu::observe
