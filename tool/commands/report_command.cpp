// SPDX-License-Identifier: MIT
// `warpfold report`: ladders as one HTML page.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ladder/engine/definition/catalogue.hpp"
#include "report/output_file.hpp"
#include "report/text.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/ladder/ladder_options.hpp"
#include "tool/progress.hpp"
#include "tool/report/ladder_document.hpp"
#include "tool/report/page.hpp"
#include "tool/run/runtime_choice.hpp"

namespace warpfold::tool {
namespace {

struct report_options {
    std::vector<std::string> names{"reduce"};
    std::string output = "report.html";
    ladder_options ladder;
};

// In the catalogue's order. Throws usage_error.
std::vector<ladder::catalogue_entry> chosen(const std::vector<std::string>& names) {
    std::vector<std::string> known;
    known.reserve(std::size(ladder::catalogue));
    for (const auto& entry : ladder::catalogue) {
        known.emplace_back(entry.name);
    }
    for (const std::string& name : names) {
        if (name != "all" && std::find(known.begin(), known.end(), name) == known.end()) {
            throw usage_error(fmt::format("there is no ladder '{}'; there are {}, and all", report::printable(name),
                                          fmt::join(known, ", ")));
        }
    }
    std::vector<ladder::catalogue_entry> out;
    for (const auto& entry : ladder::catalogue) {
        if (std::any_of(names.begin(), names.end(), [&](const auto& n) { return n == "all" || n == entry.name; })) {
            out.push_back(entry);
        }
    }
    return out;
}

int run_report(const report_options& o) {
    const auto entries = chosen(o.names);
    if (o.output == "-") {
        throw usage_error("--output: give a file");
    }
    const device_kind kind = choose_device(o.ladder.device);
    set_predictions(o.ladder, kind);
    std::vector<ladder::ladder_request> requests;
    for (const auto& entry : entries) {
        requests.push_back(request_of(o.ladder, entry, kind));
        const std::uint64_t brief = kind == device_kind::gpu ? entry.brief_n_timed : entry.brief_n_counted;
        if (!requests.back().n && brief != 0) {
            requests.back().n = brief;
        }
    }
    const std::string library = charts_library();
    report::output_file file(o.output);
    const std::string names = fmt::format("{}", fmt::join(o.names, " "));
    report::json document = new_document(fmt::format("warpfold: {}", names), "warpfold report " + names);
    document["ladders"] = report::json::array();
    document["errata"] = report_file("docs/lectures/errata.md");
    std::string unexpected;
    {
        progress line;
        ladder::ladder_engine& engine = load_ladder_engine(kind, o.ladder.device);
        for (ladder::ladder_request& request : requests) {
            request.progress = [&](const std::string& what, std::size_t done, std::size_t of) {
                line.show(request.name + " " + what, done, of);
            };
            std::string wrong;
            document["ladders"].push_back(ladder_document(engine, request, wrong));
            unexpected += wrong.empty() ? "" : fmt::format(" {} {}", request.name, wrong);
        }
    }
    file.commit(page_of(document, library));
    if (!unexpected.empty()) {
        complain("these steps did not give the expected result:" + unexpected);
    }
    return unexpected.empty() ? 0 : 1;
}

} // namespace

action add_report(CLI::App& app) {
    const auto o = std::make_shared<report_options>();
    app.footer(
        "The page needs nothing but itself: no network, no server. Its charts are drawn by d3 5 (apt-get install "
        "node-d3).\nOf any other program: warpfold run --report FILE -- PROGRAM");
    app.add_option("LADDERS", o->names, "ladders, or all (default: reduce)")->type_name("");
    app.add_option("-o,--output", o->output, "write the page to this file")->type_name("FILE")->capture_default_str();
    app.add_option("--n", o->ladder.n, "size of the problem: 100000, 2^16, 4Ki (default: as ladder all has it)")
        ->type_name("N");
    add_predict_options(app, o->ladder.predict);
    add_device_options(app, o->ladder.device);
    return [o] { return run_report(*o); };
}

} // namespace warpfold::tool
