// SPDX-License-Identifier: MIT
// Ratios of counters and of times.
#include "tool/ladder/step_figures.hpp"

#include <map>
#include <optional>
#include <string>

#include "tool/ladder/reduce_options.hpp"

namespace warpfold::tool {
namespace {

std::optional<double> ratio(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) {
        return std::nullopt;
    }
    return static_cast<double>(part) / static_cast<double>(whole);
}

std::uint64_t warps_of(const softgpu::observe::launch_record& launch) {
    const std::uint64_t blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    const std::uint64_t threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    return blocks * ((threads + 31) / 32);
}

} // namespace

step_figures counted_figures(const std::vector<softgpu::observe::launch_record>& launches, std::uint64_t n) {
    step_figures f;
    softgpu::observe::counters total;
    std::uint64_t warps = 0;
    for (const auto& launch : launches) {
        total.add(launch.total);
        warps += warps_of(launch);
    }
    f.instructions_per_element = ratio(total.thread_instructions, n);
    f.active_lanes = ratio(total.thread_instructions, total.warp_instructions);
    f.wavefronts_per_request = ratio(total.shared_load_wavefronts + total.shared_store_wavefronts,
                                     total.shared_load_requests + total.shared_store_requests);
    f.sectors_per_request = ratio(total.global_load_sectors + total.global_store_sectors,
                                  total.global_load_requests + total.global_store_requests);
    f.bus_utilisation = ratio(total.global_bytes_requested(), total.global_bytes_moved());
    f.barriers_per_warp = ratio(total.barriers, warps);
    f.total = total;
    return f;
}

bool timed(const ladder::reduce_step& step) noexcept {
    return step.skipped.empty() && step.correct && step.cold && step.cold->median > 0;
}

std::vector<step_figures> figures_of(const ladder::reduce_report& report) {
    std::optional<double> first;
    std::optional<double> before;
    std::optional<double> cub;
    std::map<std::string, double> seconds_of;
    for (const auto& step : report.steps) {
        if (step.id == "cub" && timed(step)) {
            cub = step.cold->median;
        }
    }
    const double gigabytes =
        static_cast<double>(report.request.n) * static_cast<double>(size_of(report.request.type)) / 1e9;
    std::vector<step_figures> all;
    for (const auto& step : report.steps) {
        step_figures f;
        if (report.device.software && report.request.count && step.on_device && !step.launches.empty()) {
            f = counted_figures(step.launches, report.request.n);
        }
        if (timed(step)) {
            const double seconds = step.cold->median;
            f.gb_per_s = gigabytes / seconds;
            if (step.on_device && report.device.read_gb_per_s && *report.device.read_gb_per_s > 0) {
                f.share_of_read = *f.gb_per_s / *report.device.read_gb_per_s;
            }
            if (!step.follows.empty()) {
                const auto followed = seconds_of.find(step.follows);
                before = followed == seconds_of.end() ? std::nullopt : std::optional(followed->second);
            }
            if (before && !step.peer) {
                f.speed_up_over_step_before = *before / seconds;
            }
            seconds_of[step.id] = seconds;
            if (first) {
                f.speed_up_in_all = *first / seconds;
            }
            if (cub) {
                f.speed_of_cub = *cub / seconds;
            }
            if (!step.peer) {
                first = first ? first : seconds;
                before = seconds;
            }
        }
        all.push_back(f);
    }
    return all;
}

} // namespace warpfold::tool
