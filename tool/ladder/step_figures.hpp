// SPDX-License-Identifier: MIT
// Ratios and sums that the table and the JSON add to a step's counters and times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ladder/engine/definition/report.hpp"

namespace warpfold::tool {

struct step_figures {
    // Of a step that was counted on the software GPU, over all its launches; empty where nothing of the kind happened.
    std::optional<softgpu::observe::counters> total;
    std::optional<double> instructions_per_element; // thread instructions
    std::optional<double> active_lanes;             // of 32
    std::optional<double> wavefronts_per_request;   // shared loads and stores
    std::optional<double> sectors_per_request;      // global loads and stores
    std::optional<double> bus_utilisation;          // bytes requested / bytes moved
    std::optional<double> barriers_per_warp;

    // Of a timed step, from the median with a cold cache.
    std::optional<double> gb_per_s; // least bytes / time / 1e9
    std::optional<double>
        share_of_ceiling; // read where the steps solve one problem, else copy; measured in the same run
    // Where the steps solve one problem.
    std::optional<double> speed_up_over_step_before;
    std::optional<double> speed_up_in_all; // over the first step
    std::optional<double> speed_of_cub;    // CUB's time / this time
};

// One for each step of the report.
[[nodiscard]] std::vector<step_figures> figures_of(const ladder::ladder_report& report);

} // namespace warpfold::tool
