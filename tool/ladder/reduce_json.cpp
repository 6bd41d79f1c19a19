// SPDX-License-Identifier: MIT
// Writing a report of reductions as JSON.
#include "tool/ladder/reduce_json.hpp"

#include <optional>

#include "tool/ladder/json_parts.hpp"
#include "tool/ladder/reduce_options.hpp"
#include "tool/ladder/step_figures.hpp"

namespace warpfold::tool {
namespace {

using report::json;
using report::number;

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
    out["claims"] = tool::json_of(step.claims);
    return out;
}

} // namespace

json json_of(const ladder::scalar& value) {
    const bool real = value.type == ladder::element_type::float32 || value.type == ladder::element_type::float64;
    return real ? number(value.real) : json(value.integer);
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
