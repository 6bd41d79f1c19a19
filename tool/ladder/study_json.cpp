// SPDX-License-Identifier: MIT
#include "tool/ladder/study_json.hpp"

#include <utility>

#include "tool/ladder/json_parts.hpp"

namespace warpfold::tool {
namespace {

using report::json;
using report::number;

const char* name_of(ladder::fate fate) {
    switch (fate) {
    case ladder::fate::wrong: return "wrong";
    case ladder::fate::by_luck: return "right by luck";
    case ladder::fate::right: break;
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

} // namespace

json json_of(const ladder::study_step& step, bool counted) {
    json out;
    out["id"] = step.id;
    out["title"] = step.title;
    out["source"] = step.source;
    out["lecture"] = step.lecture;
    out["idea"] = step.idea;
    out["lesson"] = text_or_null(step.lesson);
    out["peer"] = step.peer;
    out["on_device"] = step.on_device;
    out["apart"] = step.apart;
    out["n"] = step.n;
    out["skipped"] = text_or_null(step.skipped);
    out["error"] = text_or_null(step.error);
    out["ought_to_be"] = name_of(step.ought);
    const bool ran = step.skipped.empty();
    out["correct"] = ran ? json(step.correct) : json(nullptr);
    out["as_told"] = ran ? json(step.as_told()) : json(nullptr);
    out["difference"] = text_or_null(step.difference);
    out["time_us"] = microseconds(step.cold, &ladder::timing::median);
    out["time_us_low"] = microseconds(step.cold, &ladder::timing::low);
    out["time_us_high"] = microseconds(step.cold, &ladder::timing::high);
    out["warm_time_us"] = microseconds(step.warm, &ladder::timing::median);
    out["least_bytes"] = step.least_bytes == 0 ? json(nullptr) : json(step.least_bytes);
    out["launches"] = tool::json_of(step.launches, counted);
    if (step.timeline) {
        out["timeline"] = json_of(*step.timeline);
    }
    out["claims"] = tool::json_of(step.claims);
    return out;
}

json json_of(const ladder::study_report& report) {
    json out;
    out["ladder"] = report.request.name;
    out["device"] = json_of(report.device);
    out["data"] = report.data;
    out["n"] = report.request.n;
    out["seed"] = report.request.seed;
    out["steps"] = json::array();
    for (const auto& step : report.steps) {
        out["steps"].push_back(json_of(step, report.device.software && report.request.count));
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
