// SPDX-License-Identifier: MIT
// Ratios of counters and of times.
#include "tool/ladder/step_figures.hpp"

#include <map>
#include <optional>
#include <string>

namespace warpfold::tool {
namespace {

std::optional<double> ratio(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) {
        return std::nullopt;
    }
    return static_cast<double>(part) / static_cast<double>(whole);
}

step_figures counted_figures(const std::vector<softgpu::observe::launch_record>& launches, std::uint64_t n) {
    step_figures f;
    softgpu::observe::counters total;
    std::uint64_t warps = 0;
    for (const auto& launch : launches) {
        total.add(launch.total);
        warps += launch.warps();
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

// Speed-ups of the steps of one problem, in their order.
class comparison {
public:
    explicit comparison(const ladder::ladder_report& report) {
        for (const auto& step : report.steps) {
            if (step.id == "cub" && step.timed()) {
                cub_ = step.cold->median;
            }
        }
    }

    void add(const ladder::step_result& step, step_figures& f) {
        const double seconds = step.cold->median;
        if (!step.follows.empty()) {
            const auto followed = seconds_of_.find(step.follows);
            before_ = followed == seconds_of_.end() ? std::nullopt : std::optional(followed->second);
        }
        if (before_ && !step.peer) {
            f.speed_up_over_step_before = *before_ / seconds;
        }
        if (first_) {
            f.speed_up_in_all = *first_ / seconds;
        }
        if (cub_) {
            f.speed_of_cub = *cub_ / seconds;
        }
        seconds_of_[step.id] = seconds;
        if (!step.peer) {
            first_ = first_ ? first_ : seconds;
            before_ = seconds;
        }
    }

private:
    std::optional<double> first_, before_, cub_;
    std::map<std::string, double> seconds_of_;
};

} // namespace

std::vector<step_figures> figures_of(const ladder::ladder_report& report) {
    comparison speeds(report);
    const auto& ceiling = report.one_problem ? report.device.read_gb_per_s : report.device.copy_gb_per_s;
    std::vector<step_figures> all;
    for (const auto& step : report.steps) {
        step_figures f;
        if (report.device.software && report.request.count && step.on_device && !step.launches.empty()) {
            f = counted_figures(step.launches, step.n);
        }
        if (step.timed() && step.least_bytes != 0) {
            f.gb_per_s = static_cast<double>(step.least_bytes) / step.cold->median / 1e9;
            if (step.on_device && ceiling && *ceiling > 0) {
                f.share_of_ceiling = *f.gb_per_s / *ceiling;
            }
        }
        if (step.timed() && report.one_problem) {
            speeds.add(step, f);
        }
        all.push_back(f);
    }
    return all;
}

} // namespace warpfold::tool
