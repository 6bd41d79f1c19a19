// SPDX-License-Identifier: MIT
// Claims as data: what a lecture says about a step, written as a check over what was counted, launched and timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladder/ladder.hpp"
#include "ladder/verdict.hpp"

namespace warpfold::ladder {

// What a check may look at: one step of a finished report, and the others by id.
struct evidence {
    const reduce_report& report;
    const reduce_step& step;
    bool counted = false;                                       // the launches carry counters
    std::function<std::uint64_t(std::uint64_t n)> first_blocks; // blocks that the step's first launch takes for n
    std::vector<std::string>* missing = nullptr;                // where to note whom other() did not find

    [[nodiscard]] std::uint64_t n() const { return report.request.n; }
    [[nodiscard]] unsigned block() const { return report.request.block; }
    [[nodiscard]] unsigned warps() const { return (block() + 31) / 32; }
    [[nodiscard]] std::size_t element_bytes() const;
    [[nodiscard]] const softgpu::observe::launch_record& first() const { return step.launches.front(); }
    [[nodiscard]] std::uint64_t blocks() const { return first().grid[0]; }

    // The step of that id if it ran in the same report and came out right, else nullptr.
    [[nodiscard]] const reduce_step* other(const std::string& id) const;
};

struct claim_check {
    std::string text;
    std::string lecture;
    std::function<verdict(const evidence&)> check;
};

} // namespace warpfold::ladder
