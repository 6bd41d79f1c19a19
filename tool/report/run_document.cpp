// SPDX-License-Identifier: MIT
#include "tool/report/run_document.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "report/output_file.hpp"
#include "report/passing_folder.hpp"
#include "tool/error.hpp"
#include "tool/explain/explanation.hpp"
#include "tool/explain/profile_file.hpp"
#include "tool/explain/source/source_lines.hpp"
#include "tool/explain/step_profile.hpp"
#include "tool/ladder/json_parts.hpp"
#include "tool/ladder/prediction_text.hpp"

namespace warpfold::tool {
namespace {

using report::json;
using softgpu::observe::launch_record;

constexpr line_number neighbours = 3;          // lines shown around those that did something
constexpr std::size_t most_operations = 2'000; // of a timeline

json parsed(const std::string& text, const char* what) {
    json document = json::parse(text, nullptr, false);
    if (!document.is_object()) {
        throw failure(fmt::format("the software GPU left {} that cannot be read", what));
    }
    return document;
}

json launches_of(const json& launches) {
    struct group {
        launch_record sum;
        std::vector<launch_record> all;
    };
    std::vector<group> groups; // in the order of the first launches
    std::map<std::tuple<std::string, std::string>, std::size_t> places;
    for (const json& one : launches) {
        const launch_record launch = launch_of(nlohmann::json(one));
        const json shape = json::array({launch.grid, launch.block, launch.dynamic_shared_bytes});
        const auto [place, is_new] = places.emplace(std::tuple(launch.kernel, shape.dump()), groups.size());
        if (is_new) {
            groups.push_back({launch, {}});
        } else {
            groups[place->second].sum.total.add(launch.total);
        }
        groups[place->second].all.push_back(launch);
    }
    json out = json::array();
    for (group& g : groups) {
        g.sum.predictions = predictions_of(g.all);
        json one = json_of(std::vector<launch_record>{g.sum}, true).front();
        one["times"] = g.all.size();
        out.push_back(std::move(one));
    }
    return out;
}

// The lines that did something with their neighbours, file by file.
json files_of_kernel(const profile_kernel& kernel, source_lines& sources) {
    step_profile profile;
    for (std::size_t k = 0; k < kernel.points.size(); ++k) {
        const auto& at = kernel.points[k].at;
        if (!at.empty() && at.front().line != 0 && kernel.counts[k].counts.warp_instructions != 0) {
            profile.lines[at.front().file][at.front().line].add(kernel.counts[k]);
        }
    }
    json files = json::array();
    for (const auto& [path, lines] : profile.lines) {
        std::map<line_number, std::string> texts;
        for (const auto& [number, counts] : lines) {
            texts[number] = "(source not at hand)";
            for (line_number n = number - std::min(number - 1, neighbours); n <= number + neighbours; ++n) {
                if (const std::string* const text = sources.line(path, n)) {
                    texts[n] = *text;
                }
            }
        }
        shown_file shown{path, {}};
        for (const auto& [number, text] : texts) {
            shown.lines.push_back({number, text});
        }
        files.push_back(json_of(shown, profile));
    }
    return files;
}

json kernels_of(const std::string& text) {
    const report::passing_folder folder("warpfold-report");
    const std::string path = folder.file("profile.json");
    report::output_file(path).commit(text);
    const profile_file file = read_profile(path);
    source_lines sources("", file.sources);
    json out = json::array();
    for (const profile_kernel& kernel : file.kernels) {
        out.push_back(
            {{"kernel", kernel.name}, {"launches", kernel.launches}, {"files", files_of_kernel(kernel, sources)}});
    }
    return out;
}

// The trace has every operation twice, by engine and by stream: those by engine have all that is drawn.
json timelines_of(const json& trace, json& remarks) {
    constexpr std::string_view by_engine = ": engines";
    std::map<int, json> timelines;
    for (const json& event : trace.at("traceEvents")) {
        const int process = event.at("pid").get<int>();
        if (event.at("name") == "process_name") {
            const std::string name = event.at("args").at("name").get<std::string>();
            if (const std::size_t at = name.find(by_engine); at != std::string::npos) {
                const std::string of = name.substr(0, at);
                const json& machines = trace.at("otherData").at("machines");
                timelines[process] = {{"name", of},
                                      {"modelled", name.find("(model)") != std::string::npos},
                                      {"machine", machines.value(of, "")},
                                      {"operations", json::array()}};
            }
        } else if (event.at("ph") == "X" && timelines.contains(process)) {
            const json& args = event.at("args");
            const double start = event.at("ts").get<double>();
            timelines[process]["operations"].push_back({{"name", event.at("name")},
                                                        {"engine", args.at("engine")},
                                                        {"stream", args.at("stream")},
                                                        {"start_us", start},
                                                        {"end_us", start + event.at("dur").get<double>()}});
        }
    }
    json out = json::array();
    for (auto& [process, timeline] : timelines) {
        json& operations = timeline["operations"];
        if (operations.size() > most_operations) {
            remarks.push_back(
                fmt::format("The timeline shows the first {} of {} operations.", most_operations, operations.size()));
            operations.erase(operations.begin() + most_operations, operations.end());
        }
        out.push_back(std::move(timeline));
    }
    return out;
}

} // namespace

json run_document(const run_texts& texts) {
    json out;
    out["remarks"] = texts.remarks;
    try {
        const json counters = parsed(texts.counters, "counters");
        out["device"] = counters.value("device", json(nullptr));
        out["launches"] = launches_of(counters.at("launches"));
        out["kernels"] = texts.profile.empty() ? json::array() : kernels_of(texts.profile);
        out["timelines"] =
            texts.timeline.empty() ? json::array() : timelines_of(parsed(texts.timeline, "a timeline"), out["remarks"]);
        out["findings"] = texts.findings.empty() ? json(nullptr) : parsed(texts.findings, "findings")["findings"];
    } catch (const json::exception& wrong) {
        throw failure(fmt::format("the software GPU left what cannot be read: {}", wrong.what()));
    }
    return out;
}

} // namespace warpfold::tool
