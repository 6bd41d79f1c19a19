// SPDX-License-Identifier: MIT
#include "tool/ladder/ladder_json.hpp"

#include <optional>
#include <utility>

#include "tool/ladder/json_parts.hpp"
#include "tool/ladder/prediction_text.hpp"
#include "tool/ladder/step_figures.hpp"

namespace warpfold::tool {
namespace {

using report::json;
using report::number;

const char* name_of(ladder::outcome outcome) {
    switch (outcome) {
    case ladder::outcome::wrong: return "wrong";
    case ladder::outcome::by_luck: return "right by luck";
    case ladder::outcome::right: break;
    }
    return "right";
}

json json_of(const softgpu::observe::timeline& t) {
    json out;
    out["modelled"] = t.modelled;
    out["machine"] = t.machine;
    out["time_us"] = number(t.seconds() * 1e6);
    out["operations"] = json::array();
    for (const auto& e : t.events) {
        json one;
        one["name"] = e.name;
        one["engine"] = name_of(e.on);
        one["stream"] = e.stream;
        one["issued_us"] = number(e.issued * 1e6);
        one["start_us"] = number(e.start * 1e6);
        one["end_us"] = number(e.end * 1e6);
        one["bytes"] = e.bytes;
        one["pageable"] = e.pageable;
        one["after"] = e.after;
        out["operations"].push_back(std::move(one));
    }
    return out;
}

json json_of(const ladder::scalar& value) {
    const bool real = value.type == ladder::element_type::float32 || value.type == ladder::element_type::float64;
    return real ? number(value.real) : json(value.integer);
}

// Where all steps solve one problem: the value, and figures that compare the steps.
void add_comparison(json& out, const ladder::step_result& step, const step_figures& f) {
    const bool failed = !step.error.empty();
    out["caution"] = text_or_null(step.lesson);
    out["result"] = step.value && !failed ? json_of(step.value->result) : json(nullptr);
    out["expected"] = step.value ? json_of(step.value->expected) : json(nullptr);
    out["tolerance"] = number(step.value ? step.value->tolerance : 0.0);
    const auto warm = step.timed() ? step.warm : std::nullopt;
    out["warm_time_us_low"] = microseconds(warm, &ladder::timing::low);
    out["warm_time_us_high"] = microseconds(warm, &ladder::timing::high);
    out["samples"] = step.timed() ? json(step.cold->samples) : json(nullptr);
    out["gb_per_s"] = number(f.gb_per_s);
    out["share_of_read"] = number(f.share_of_ceiling);
    out["speed_up_over_step_before"] = number(f.speed_up_over_step_before);
    out["speed_up_in_all"] = number(f.speed_up_in_all);
    out["speed_of_cub"] = number(f.speed_of_cub);
    out["thread_instructions_per_element"] = number(f.instructions_per_element);
    out["shared_wavefronts_per_request"] = number(f.wavefronts_per_request);
    out["global_sectors_per_request"] = number(f.sectors_per_request);
    out["bus_utilisation"] = number(f.bus_utilisation);
    out["barriers_per_warp"] = number(f.barriers_per_warp);
    out["counters"] = f.total ? tool::json_of(*f.total) : json(nullptr);
}

void add_parameters(json& out, const ladder::ladder_report& report) {
    const ladder::step_parameters& p = report.request.parameters;
    if (report.takes.block) {
        out["block"] = p.block;
    }
    if (report.takes.type) {
        out["type"] = name_of(p.type);
    }
    if (report.takes.op) {
        out["op"] = name_of(p.op);
    }
    if (report.takes.finish) {
        out["finish"] = name_of(p.finish_on);
    }
}

} // namespace

json json_of(const ladder::step_result& step, bool counted) {
    json out;
    out["id"] = step.id;
    out["title"] = step.title;
    out["source"] = step.source;
    out["lecture"] = step.lecture;
    out["idea"] = step.idea;
    out["lesson"] = text_or_null(step.lesson);
    out["peer"] = step.peer;
    out["on_device"] = step.on_device;
    out["apart"] = step.in_child_process;
    out["n"] = step.n;
    out["skipped"] = text_or_null(step.skipped);
    out["error"] = text_or_null(step.error);
    out["ought_to_be"] = name_of(step.expected);
    const bool ran = step.skipped.empty();
    out["correct"] = ran ? json(step.correct) : json(nullptr);
    out["as_told"] = ran ? json(step.as_expected()) : json(nullptr);
    out["difference"] = text_or_null(step.difference);
    const auto cold = step.timed() ? step.cold : std::nullopt;
    const auto warm = step.timed() ? step.warm : std::nullopt;
    out["time_us"] = microseconds(cold, &ladder::timing::median);
    out["time_us_low"] = microseconds(cold, &ladder::timing::low);
    out["time_us_high"] = microseconds(cold, &ladder::timing::high);
    out["warm_time_us"] = microseconds(warm, &ladder::timing::median);
    out["least_bytes"] = step.least_bytes == 0 ? json(nullptr) : json(step.least_bytes);
    out["launches"] = json_of(step.launches, counted);
    if (const auto predicted = predictions_of(step.launches); !predicted.empty()) {
        json all = json::object();
        for (const auto& p : predicted) {
            all[p.card] = {{"nanoseconds", p.nanoseconds},
                           {"cold_nanoseconds", p.cold_nanoseconds},
                           {"bound", p.bound},
                           {"share_of_roof", p.share_of_roof},
                           {"next_bound", p.next_bound}};
        }
        for (const auto& [card, moves, timeline] : step.on_cards) {
            all[card]["fills_and_copies_nanoseconds"] = 1e9 * moves;
            if (timeline) {
                all[card]["timeline_nanoseconds"] = 1e9 * *timeline;
            }
        }
        out["predictions"] = std::move(all);
    }
    if (step.timeline) {
        out["timeline"] = json_of(*step.timeline);
    }
    out["claims"] = json_of(step.claims);
    return out;
}

json json_of(const ladder::ladder_report& report) {
    json out;
    out["ladder"] = report.request.name;
    out["device"] = json_of(report.device);
    out["data"] = report.data;
    out["n"] = report.n;
    add_parameters(out, report);
    out["seed"] = report.request.seed;
    out["steps"] = json::array();
    const auto figures = figures_of(report);
    for (std::size_t k = 0; k < report.steps.size(); ++k) {
        json step = json_of(report.steps[k], report.device.software && report.request.count);
        if (report.one_problem) {
            add_comparison(step, report.steps[k], figures[k]);
        }
        out["steps"].push_back(std::move(step));
    }
    out["tables"] = json::array();
    for (const auto& table : report.tables) {
        json one;
        one["title"] = table.title;
        one["head"] = table.head;
        one["rows"] = table.rows;
        out["tables"].push_back(std::move(one));
    }
    return out;
}

} // namespace warpfold::tool
