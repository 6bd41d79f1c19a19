// SPDX-License-Identifier: MIT
#include "tool/ladder/ladder_commands.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ladder/engine/engine.hpp"
#include "report/json.hpp"
#include "report/output_file.hpp"
#include "softgpu/observe/timeline_trace.hpp"
#include "tool/console.hpp"
#include "tool/error.hpp"
#include "tool/ladder/ladder_json.hpp"
#include "tool/ladder/ladder_options.hpp"
#include "tool/ladder/ladder_table.hpp"
#include "tool/progress.hpp"
#include "tool/run/runtime_choice.hpp"

namespace warpfold::tool {
namespace {

// The exit status: 0 where every step came out as expected, and every check failed on its counter-example.
int status_of(const std::string& unexpected, const std::string& unrefuted) {
    if (!unexpected.empty()) {
        complain("these steps did not give the expected result: " + unexpected);
    }
    if (!unrefuted.empty()) {
        complain("these claims are not refuted by their counter-examples: " + unrefuted);
    }
    return unexpected.empty() && unrefuted.empty() ? 0 : 1;
}

// "step 3, '...'; step 4, '...'"
std::string unrefuted_in(const ladder::ladder_report& report) {
    std::string all;
    for (const auto& step : report.steps) {
        for (const auto& claim : step.claims) {
            if (claim.refutation && claim.refutation->holds != false) {
                all += fmt::format("{}step {}, '{}'", all.empty() ? "" : "; ", step.id, claim.text);
            }
        }
    }
    return all;
}

bool lists_claims(const ladder_options& o) { return o.claims || o.counterexamples; }

// Throws usage_error where no step has a timeline.
std::string trace_of(const ladder::ladder_report& report) {
    std::vector<softgpu::observe::traced> all;
    for (const ladder::step_result& step : report.steps) {
        if (step.timeline) {
            all.push_back({step.id, &*step.timeline});
        }
    }
    if (all.empty()) {
        throw usage_error(fmt::format("--trace: the steps of {} have no timelines", report.request.name));
    }
    return softgpu::observe::trace_of(all);
}

// Opens the file of --json, if it names one.
void open_json(const ladder_options& o, std::optional<report::output_file>& file) {
    if (o.json && o.json != "-") {
        file.emplace(*o.json);
    }
}

int run(const ladder_options& o, const ladder::catalogue_entry& ladder) {
    const device_kind kind = choose_device(o.device);
    set_predictions(o, kind);
    ladder::ladder_request request = request_of(o, ladder, kind);
    if (o.list) {
        print(text_of(load_ladder_engine(kind, o.device).steps(ladder.name), output_style()));
        return 0;
    }
    std::optional<report::output_file> file;
    open_json(o, file);
    std::optional<report::output_file> trace;
    if (o.trace) {
        if (*o.trace == "-" || o.trace == o.json) {
            throw usage_error("--trace: give a file of its own");
        }
        trace.emplace(*o.trace);
    }
    ladder::ladder_report report;
    {
        progress line;
        request.progress = [&line](const std::string& what, std::size_t done, std::size_t of) {
            line.show(what, done, of);
        };
        report = load_ladder_engine(kind, o.device).run(request);
    }
    if (trace) {
        trace->commit(trace_of(report));
    }
    if (file) {
        file->commit(report::text_of(json_of(report)));
    }
    const detail shown = o.no_claims ? detail::sources : lists_claims(o) ? detail::claims : detail::tally;
    o.json == "-" ? print_exactly(report::text_of(json_of(report))) : print(text_of(report, shown, output_style()));
    return status_of(tally_of(report).unexpected, unrefuted_in(report));
}

std::string summary(const std::vector<std::pair<std::string, ladder_tally>>& all, const report::style& look) {
    using report::align;
    report::table table({{"ladder", align::left},
                         {"steps"},
                         {"right"},
                         {"wrong or by luck,\nas expected"},
                         {"skipped"},
                         {"claims\nthat hold"},
                         {"do not"},
                         {"cannot be\nseen here"},
                         {"not as\nexpected", align::left, true}});
    for (const auto& [name, t] : all) {
        table.add_row({{name},
                       {std::to_string(t.steps)},
                       {std::to_string(t.right)},
                       {std::to_string(t.faulty_as_expected)},
                       {std::to_string(t.skipped)},
                       {std::to_string(t.claims.hold)},
                       {std::to_string(t.claims.fail)},
                       {std::to_string(t.claims.unseen)},
                       {t.unexpected.empty() ? "none" : t.unexpected,
                        t.unexpected.empty() ? report::tone::good : report::tone::bad}});
    }
    return table.text(look);
}

int run_all(const ladder_options& o) {
    const device_kind kind = choose_device(o.device);
    set_predictions(o, kind);
    static_cast<void>(request_of(o, ladder::catalogue.front(), kind)); // bad options first
    std::optional<report::output_file> file;
    open_json(o, file);
    ladder::ladder_engine& engine = load_ladder_engine(kind, o.device);
    const std::vector<std::string> names = engine.ladders();
    std::vector<std::pair<std::string, ladder_tally>> all;
    report::json document = report::json::array();
    std::string text;
    std::string unrefuted;
    {
        progress line;
        for (const ladder::catalogue_entry& entry : ladder::catalogue) {
            if (std::find(names.begin(), names.end(), entry.name) == names.end()) {
                continue;
            }
            line.show(entry.name, all.size(), names.size());
            ladder::ladder_request request = request_of(o, entry, kind);
            const std::uint64_t n = kind == device_kind::gpu ? entry.brief_n_timed : entry.brief_n_counted;
            request.n = n == 0 ? std::nullopt : std::optional(n);
            const ladder::ladder_report report = engine.run(request);
            all.emplace_back(entry.name, tally_of(report));
            const std::string claims = unrefuted_in(report);
            unrefuted +=
                claims.empty() ? "" : fmt::format("{}{} {}", unrefuted.empty() ? "" : "; ", entry.name, claims);
            document.push_back(json_of(report));
            text += text_of(report, lists_claims(o) ? detail::claims : detail::table, output_style()) + "\n";
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
    return status_of(unexpected, unrefuted);
}

} // namespace

action add_ladder_run(CLI::App& app, const ladder::catalogue_entry& ladder) {
    const auto o = std::make_shared<ladder_options>();
    add_ladder_options(app, *o, ladder);
    return [o, ladder] { return run(*o, ladder); };
}

action add_ladder_all(CLI::App& app) {
    const auto o = std::make_shared<ladder_options>();
    add_common_options(app, *o);
    add_claim_options(app, *o);
    return [o] { return run_all(*o); };
}

} // namespace warpfold::tool
