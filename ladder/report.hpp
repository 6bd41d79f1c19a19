// SPDX-License-Identifier: MIT
// What all ladders report alike: the device, timings, claims, steps by name.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "softgpu/observe/launch_record.hpp"

namespace warpfold::ladder {

// A request that cannot be met, in one clear line.
struct bad_request : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// One timing: device events around all launches of a step; seconds. Of a reduction with finish::host around its one
// round, without the copy and what the host adds.
struct timing {
    double median = 0;
    double low = 0;  // 5th percentile
    double high = 0; // 95th percentile
    unsigned samples = 0;
};

struct claim {
    std::string text;          // as the lecture has it, shortened
    std::string lecture;       // "759, slide 'Idle Threads'"
    std::optional<bool> holds; // empty: cannot be seen on this device; figure says why
    std::string figure;        // what was measured, with its unit
};

struct device_description {
    std::string name;
    bool software = false;
    int compute_major = 0, compute_minor = 0;
    int multiprocessors = 0;
    std::uint64_t memory_bytes = 0, l2_bytes = 0;
    unsigned threads_per_block = 1024;
    std::string driver, runtime;         // versions, "13.0"
    std::optional<double> read_gb_per_s; // ceilings measured in this run, 1e9 bytes a second
    std::optional<double> copy_gb_per_s; // read + written
};

struct step_description {
    std::string id; // "3", "sum_warp", "cub"
    std::string title;
    std::string source; // path in the tree
    std::string idea;
    std::string lecture;
    bool peer = false; // CUB, Thrust, a loop on the CPU
    std::string follows{}; // id of the step that this one takes further; empty: the one before it in the ladder's order
};

} // namespace warpfold::ladder
