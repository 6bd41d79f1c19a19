// SPDX-License-Identifier: MIT
#include "tool/report/ladder_document.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ladder/engine/definition/catalogue.hpp"
#include "tool/explain/explanation.hpp"
#include "tool/explain/step_profile.hpp"
#include "tool/ladder/json_parts.hpp"
#include "tool/ladder/ladder_json.hpp"
#include "tool/ladder/ladder_table.hpp"
#include "tool/report/results.hpp"

namespace warpfold::tool {
namespace {

using report::json;

// On the software GPU: of the run's n, or after times on a GPU of the n that explain takes.
json profile_of(ladder::ladder_engine& engine, const ladder::ladder_report& report, const ladder::step_result& step) {
    step_place place;
    place.ladder = report.request.name;
    place.step = step.id;
    place.n = report.request.n;
    if (!report.device.software) {
        const auto entry = std::find_if(ladder::catalogue.begin(), ladder::catalogue.end(),
                                        [&](const auto& e) { return e.name == place.ladder; });
        place.n = entry->brief_n_counted == 0 ? std::nullopt : std::optional(entry->brief_n_counted);
    }
    const step_profile profile = profile_step(place, engine.sources());
    json out;
    softgpu::observe::counters total;
    for (const auto& launch : profile.launches) {
        total.add(launch.total);
    }
    out["n"] = profile.n;
    out["counters"] = json_of(total);
    if (report.device.software) { // else the profile is of another n
        const bounds_of_step bounds = bounds_of(report, step, profile.launches);
        out["bounds"] = json_of(bounds, bounds.all.empty() ? std::vector<costly_line>{}
                                                           : costly_lines(profile, cost_of(bounds.all.front().of), 3));
    }
    if (const auto predicted = predicted_steps(profile); !predicted.empty()) {
        out["predictions"] = json_of(predicted);
    }
    out["note"] = note_on(step, profile);
    out["files"] = json::array();
    for (const shown_file& file : files_of(step, profile, engine.sources(), false)) {
        out["files"].push_back(json_of(file, profile));
    }
    return out;
}

json sweep_of(ladder::ladder_engine& engine, ladder::ladder_request request) {
    request.steps = {"1", "2", "3", "4", "5", "6", "7"};
    request.parameters.block = 128; // as the lecture's table
    request.check = false;
    json all = json::array();
    for (const unsigned power :
         {17u, 19u, 21u, 22u, 23u, 25u}) { // the sizes of the lecture's diagram, and of its table
        request.n = std::uint64_t{1} << power;
        const ladder::ladder_report report = engine.run(request);
        json run{{"source", "this run"}, {"card", report.device.name}, {"ladder", "reduce"}, {"n", report.n},
                 {"block", 128},         {"steps", json::array()}};
        for (const auto& step : report.steps) {
            if (step.timed()) {
                run["steps"].push_back({{"id", step.id}, {"n", step.n}, {"time_us", step.cold->median * 1e6}});
            }
        }
        all.push_back(std::move(run));
    }
    return all;
}

} // namespace

json ladder_document(ladder::ladder_engine& engine, const ladder::ladder_request& request, std::string& unexpected) {
    const ladder::ladder_report report = engine.run(request);
    unexpected = tally_of(report).unexpected;
    json out = json_of(report);
    for (std::size_t k = 0; k < report.steps.size(); ++k) {
        const ladder::step_result& step = report.steps[k];
        if (request.progress) {
            request.progress("profile of " + step.id, k, report.steps.size());
        }
        if (step.on_device && !step.in_child_process && step.skipped.empty()) {
            out["steps"][k]["profile"] = profile_of(engine, report, step);
        }
    }
    out["elsewhere"] = measured_times(request.name);
    out["verdicts"] = measured_verdicts(request.name);
    if (request.name == "reduce") {
        out["published"] = published_times();
        out["sweep"] = request.time ? sweep_of(engine, request) : json::array();
    }
    return out;
}

} // namespace warpfold::tool
