// SPDX-License-Identifier: MIT
// What the table and the JSON say about the steps of a reduction beyond what the ladder measured: ratios and sums.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ladder/ladder.hpp"

namespace warpfold::tool {

struct step_figures {
    // Of the software GPU, over all launches of one reduction; empty where nothing of the kind happened.
    std::optional<softgpu::observe::counters> total;
    std::optional<double> instructions_per_element; // thread instructions
    std::optional<double> active_lanes;             // of 32
    std::optional<double> wavefronts_per_request;   // shared loads and stores
    std::optional<double> sectors_per_request;      // global loads and stores
    std::optional<double> bus_utilisation;          // bytes asked for / bytes moved
    std::optional<double> barriers_per_warp;

    // Of a timed step, from the median with a cold cache.
    std::optional<double> gb_per_s;      // n x size of an element / time / 1e9
    std::optional<double> share_of_read; // of the ceiling measured in the same run
    std::optional<double> speed_up_over_step_before;
    std::optional<double> speed_up_in_all; // over the first step
    std::optional<double> speed_of_cub;    // CUB's time / this time
};

// Of the launches of one step of n elements, on the software GPU.
[[nodiscard]] step_figures counted_figures(const std::vector<softgpu::observe::launch_record>& launches,
                                           std::uint64_t n);

// The step ran, and what it gave is right: only then do its times mean anything.
[[nodiscard]] bool timed(const ladder::reduce_step& step) noexcept;

// One for each step of the report.
[[nodiscard]] std::vector<step_figures> figures_of(const ladder::reduce_report& report);

} // namespace warpfold::tool
