// SPDX-License-Identifier: MIT
#include "tool/ladder/ladder_study.hpp"

#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ladder/catalogue.hpp"
#include "ladder/ladder.hpp"
#include "report/json.hpp"
#include "report/output_file.hpp"
#include "softgpu/observe/timeline_trace.hpp"
#include "tool/console.hpp"
#include "tool/error.hpp"
#include "tool/ladder/race_verdict.hpp"
#include "tool/ladder/reduce_json.hpp"
#include "tool/ladder/reduce_options.hpp"
#include "tool/ladder/reduce_table.hpp"
#include "tool/ladder/study_json.hpp"
#include "tool/ladder/study_table.hpp"
#include "tool/progress.hpp"
#include "tool/run/runtime_choice.hpp"

namespace warpfold::tool {
namespace {

struct options {
    std::optional<std::string> n;
    std::string samples = "31";
    std::string seed = "587";
    std::optional<std::string> steps;
    std::optional<std::string> json;
    std::optional<std::string> trace;
    bool claims = false;
    bool no_claims = false;
    bool no_times = false;
    bool list = false;
    device_options device;
};

void add_common_options(CLI::App& app, options& o) {
    app.add_option("--json", o.json,
                   "write every figure to this file, or with - to standard output instead of the table")
        ->type_name("FILE");
    add_device_options(app, o.device);
    app.add_option("--samples", o.samples, "of each timing, on a GPU")->type_name("S")->capture_default_str();
    app.add_option("--seed", o.seed, "of the data")->type_name("S")->capture_default_str();
}

ladder::study_request request_of(const options& o, const std::string& name, device_kind kind) {
    ladder::study_request q;
    q.name = name;
    q.n = o.n ? parse_bounded("--n", *o.n, 1, std::numeric_limits<std::uint64_t>::max()) : 0;
    q.samples = static_cast<unsigned>(parse_bounded("--samples", o.samples, 1, 100'000));
    q.seed = parse_bounded("--seed", o.seed, 0, std::numeric_limits<std::uint64_t>::max());
    q.time = kind == device_kind::gpu && !o.no_times;
    q.count = kind == device_kind::software;
    q.check = q.count && !o.no_claims;
    if (o.steps) {
        q.steps = parse_steps(*o.steps);
    }
    return q;
}

int verdict_of(const std::string& unexpected) {
    if (unexpected.empty()) {
        return 0;
    }
    complain("steps that did not come out as they ought to: " + unexpected);
    return 1;
}

// Throws usage_error where no step has a timeline.
std::string trace_of(const ladder::study_report& report) {
    std::vector<softgpu::observe::traced> all;
    for (const ladder::study_step& step : report.steps) {
        if (step.timeline) {
            all.push_back({step.id, &*step.timeline});
        }
    }
    if (all.empty()) {
        throw usage_error(fmt::format("--trace: the steps of {} have no timelines", report.request.name));
    }
    return softgpu::observe::trace_of(all);
}

int run(const options& o, const std::string& name) {
    const device_kind kind = choose_device(o.device);
    ladder::study_request request = request_of(o, name, kind);
    if (o.list) {
        print(text_of(load_ladder(kind, o.device).study_steps(name), output_style()));
        return 0;
    }
    std::optional<report::output_file> file;
    if (o.json && o.json != "-") {
        file.emplace(*o.json);
    }
    std::optional<report::output_file> trace;
    if (o.trace) {
        if (*o.trace == "-" || o.trace == o.json) {
            throw usage_error("--trace: give a file of its own");
        }
        trace.emplace(*o.trace);
    }
    ladder::ladder_library& ladder = load_ladder(kind, o.device);
    ladder::study_report report;
    {
        progress line;
        request.progress = [&line](const std::string& what, std::size_t done, std::size_t of) {
            line.show(what, done, of);
        };
        report = ladder.study(request);
    }
    if (trace) {
        trace->commit(trace_of(report));
    }
    if (file) {
        file->commit(report::text_of(json_of(report)));
    }
    o.json == "-" ? print_exactly(report::text_of(json_of(report)))
                  : print(text_of(report, !o.no_claims, output_style()));
    return verdict_of(tally_of(report).unexpected);
}

// The ladder of reductions on 2^16 elements (on a GPU 2^24) as one of them all.
ladder::reduce_report reduce_of(ladder::ladder_library& ladder, const options& o, device_kind kind) {
    ladder::reduce_request q;
    q.n = kind == device_kind::gpu ? 1u << 24 : 1u << 16;
    q.time = kind == device_kind::gpu;
    q.count = kind == device_kind::software;
    q.samples = static_cast<unsigned>(parse_bounded("--samples", o.samples, 1, 100'000));
    q.seed = parse_bounded("--seed", o.seed, 0, std::numeric_limits<std::uint64_t>::max());
    ladder::reduce_report report = ladder.reduce(q);
    if (kind == device_kind::software) {
        add_race_verdicts(report);
    }
    return report;
}

study_tally tally_of_reduce(const ladder::reduce_report& report) {
    study_tally all;
    for (const auto& step : report.steps) {
        ++all.steps;
        if (!step.skipped.empty()) {
            ++all.skipped;
        } else if (!step.caution.empty()) {
            ++all.as_told;
        } else if (step.correct) {
            ++all.right;
        } else {
            all.unexpected += (all.unexpected.empty() ? "" : ", ") + step.id;
        }
        for (const auto& claim : step.claims) {
            ++(!claim.holds ? all.unseen : *claim.holds ? all.hold : all.fail);
        }
    }
    return all;
}

std::string summary(const std::vector<std::pair<std::string, study_tally>>& all, const report::style& look) {
    using report::align;
    report::table table({{"ladder", align::left},
                         {"steps"},
                         {"right"},
                         {"wrong or by luck,\nas told"},
                         {"skipped"},
                         {"claims\nthat hold"},
                         {"do not"},
                         {"cannot be\nseen here"},
                         {"not as\nthey ought", align::left, true}});
    for (const auto& [name, t] : all) {
        table.add_row({{name},
                       {std::to_string(t.steps)},
                       {std::to_string(t.right)},
                       {std::to_string(t.as_told)},
                       {std::to_string(t.skipped)},
                       {std::to_string(t.hold)},
                       {std::to_string(t.fail)},
                       {std::to_string(t.unseen)},
                       {t.unexpected.empty() ? "none" : t.unexpected,
                        t.unexpected.empty() ? report::tone::good : report::tone::bad}});
    }
    return table.text(look);
}

int run_all(const options& o) {
    const device_kind kind = choose_device(o.device);
    static_cast<void>(request_of(o, "", kind)); // bad options first
    std::optional<report::output_file> file;
    if (o.json && o.json != "-") {
        file.emplace(*o.json);
    }
    ladder::ladder_library& ladder = load_ladder(kind, o.device);
    std::vector<std::pair<std::string, study_tally>> all;
    report::json document = report::json::array();
    std::string text;
    {
        progress line;
        line.show("reduce", 0, ladder::catalogue.size() + 1);
        const ladder::reduce_report reduce = reduce_of(ladder, o, kind);
        all.emplace_back("reduce", tally_of_reduce(reduce));
        document.push_back(json_of(reduce));
        text += o.claims ? text_of(reduce, true, output_style()) + "\n" : "";
        for (const auto& entry : ladder::catalogue) {
            line.show(entry.name, all.size(), ladder::catalogue.size() + 1);
            const ladder::study_report report = ladder.study(request_of(o, entry.name, kind));
            all.emplace_back(entry.name, tally_of(report));
            document.push_back(json_of(report));
            text += text_of(report, o.claims, output_style()) + "\n";
        }
    }
    if (file) {
        file->commit(report::text_of(document));
    }
    o.json == "-" ? print_exactly(report::text_of(document)) : print(text + summary(all, output_style()));
    std::string unexpected;
    for (const auto& [name, t] : all) {
        unexpected += t.unexpected.empty() ? "" : (unexpected.empty() ? "" : "; ") + name + " " + t.unexpected;
    }
    return verdict_of(unexpected);
}

} // namespace

action add_ladder_study(CLI::App& app, const std::string& name) {
    const auto o = std::make_shared<options>();
    app.add_option("--n", o->n, "size of the problem: 100000, 2^16, 4Ki (default: the ladder's own)")->type_name("N");
    app.add_option("--steps", o->steps, "only these steps: 1,3,cub")->type_name("IDS");
    add_common_options(app, *o);
    app.add_option("--trace", o->trace,
                   "write the steps' timelines to this file, where they have any (streams); ui.perfetto.dev opens it")
        ->type_name("FILE");
    app.add_flag("--claims", o->claims, "show what the lectures claim about each step, checked (the default)");
    app.add_flag("--no-claims", o->no_claims, "show the table only, and make no checks")->excludes("--claims");
    app.add_flag("--no-times", o->no_times, "on a GPU: look at results only, as under compute-sanitizer");
    app.add_flag("--list", o->list, "list the steps and stop");
    return [o, name] { return run(*o, name); };
}

action add_ladder_all(CLI::App& app) {
    const auto o = std::make_shared<options>();
    add_common_options(app, *o);
    app.add_flag("--claims", o->claims, "show what the lectures claim about each step, checked");
    return [o] { return run_all(*o); };
}

} // namespace warpfold::tool
