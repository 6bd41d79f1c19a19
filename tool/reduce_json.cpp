// SPDX-License-Identifier: MIT
// Writing a report of reductions as JSON.
#include "tool/reduce_json.hpp"

#include <cstdint>
#include <string>

#include "tool/reduce_options.hpp"
#include "tool/step_figures.hpp"

namespace warpfold::tool {
namespace {

using report::json;
using report::number;

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json microseconds(const std::optional<ladder::timing>& timing, double ladder::timing::*which) {
    return timing ? number((*timing).*which * 1e6) : json(nullptr);
}

json json_of(const ladder::claim& claim) {
    json out;
    out["text"] = claim.text;
    out["lecture"] = claim.lecture;
    out["holds"] = claim.holds ? json(*claim.holds) : json(nullptr);
    out["figure"] = claim.figure;
    return out;
}

json json_of(const ladder::reduce_step& step, const step_figures& f) {
    json out;
    out["id"] = step.id;
    out["title"] = step.title;
    out["source"] = step.source;
    out["lecture"] = step.lecture;
    out["idea"] = step.idea;
    out["caution"] = text_or_null(step.caution);
    out["peer"] = step.peer;
    out["on_device"] = step.on_device;
    out["skipped"] = text_or_null(step.skipped);
    out["error"] = text_or_null(step.error);
    const bool ran = step.skipped.empty();
    out["correct"] = ran ? json(step.correct) : json(nullptr);
    out["result"] = ran && step.error.empty() ? tool::json_of(step.result) : json(nullptr);
    out["expected"] = ran ? tool::json_of(step.expected) : json(nullptr);
    out["tolerance"] = number(step.tolerance);
    const auto cold = timed(step) ? step.cold : std::nullopt;
    const auto warm = timed(step) ? step.warm : std::nullopt;
    out["time_us"] = microseconds(cold, &ladder::timing::median);
    out["time_us_low"] = microseconds(cold, &ladder::timing::low);
    out["time_us_high"] = microseconds(cold, &ladder::timing::high);
    out["warm_time_us"] = microseconds(warm, &ladder::timing::median);
    out["warm_time_us_low"] = microseconds(warm, &ladder::timing::low);
    out["warm_time_us_high"] = microseconds(warm, &ladder::timing::high);
    out["samples"] = cold ? json(cold->samples) : json(nullptr);
    out["gb_per_s"] = number(f.gb_per_s);
    out["share_of_read"] = number(f.share_of_read);
    out["speed_up_over_step_before"] = number(f.speed_up_over_step_before);
    out["speed_up_in_all"] = number(f.speed_up_in_all);
    out["speed_of_cub"] = number(f.speed_of_cub);
    out["thread_instructions_per_element"] = number(f.instructions_per_element);
    out["shared_wavefronts_per_request"] = number(f.wavefronts_per_request);
    out["global_sectors_per_request"] = number(f.sectors_per_request);
    out["bus_utilisation"] = number(f.bus_utilisation);
    out["barriers_per_warp"] = number(f.barriers_per_warp);
    out["counters"] = f.total ? tool::json_of(*f.total) : json(nullptr);
    out["launches"] = tool::json_of(step.launches, f.total.has_value());
    out["claims"] = json::array();
    for (const auto& claim : step.claims) {
        out["claims"].push_back(json_of(claim));
    }
    return out;
}

} // namespace

json json_of(const ladder::device_description& device) {
    json out;
    out["name"] = device.name;
    out["software"] = device.software;
    out["compute_capability"] = std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor);
    out["multiprocessors"] = device.multiprocessors;
    out["memory_bytes"] = device.memory_bytes;
    out["l2_bytes"] = device.l2_bytes;
    out["threads_per_block"] = device.threads_per_block;
    out["driver"] = text_or_null(device.driver);
    out["runtime"] = text_or_null(device.runtime);
    out["read_gb_per_s"] = number(device.read_gb_per_s);
    out["copy_gb_per_s"] = number(device.copy_gb_per_s);
    return out;
}

json json_of(const ladder::scalar& value) {
    const bool real = value.type == ladder::element_type::float32 || value.type == ladder::element_type::float64;
    return real ? number(value.real) : json(value.integer);
}

json json_of(const softgpu::observe::counters& counters) {
    json out;
    softgpu::observe::for_each_counter(counters, [&](std::string_view name, std::uint64_t value, std::string_view) {
        out[std::string(name)] = value;
    });
    out["average_active_lanes"] = counters.average_active_lanes();
    return out;
}

json json_of(const std::vector<softgpu::observe::launch_record>& launches, bool counted) {
    json out = json::array();
    for (const auto& launch : launches) {
        json one;
        one["kernel"] = launch.kernel;
        one["symbol"] = launch.symbol;
        one["grid"] = launch.grid;
        one["block"] = launch.block;
        one["dynamic_shared_bytes"] = launch.dynamic_shared_bytes;
        one["static_shared_bytes"] = launch.static_shared_bytes;
        one["fault"] = text_or_null(launch.fault);
        one["counters"] = counted ? json_of(launch.total) : json(nullptr);
        out.push_back(std::move(one));
    }
    return out;
}

json json_of(const ladder::reduce_report& report) {
    json out;
    out["ladder"] = "reduce";
    out["device"] = json_of(report.device);
    out["n"] = report.request.n;
    out["block"] = report.request.block;
    out["type"] = name_of(report.request.type);
    out["op"] = name_of(report.request.op);
    out["finish"] = name_of(report.request.finish_on);
    out["seed"] = report.request.seed;
    out["steps"] = json::array();
    const auto figures = figures_of(report);
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        out["steps"].push_back(json_of(report.steps[i], figures[i]));
    }
    return out;
}

} // namespace warpfold::tool
