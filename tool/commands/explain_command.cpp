// SPDX-License-Identifier: MIT
// `warpfold explain LADDER/STEP`: a step's source with what each line did, its claims, and what the next step changes.
#include <algorithm>
#include <cctype>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ladder/engine/definition/catalogue.hpp"
#include "report/output_file.hpp"
#include "report/text.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/explain/explanation.hpp"
#include "tool/ladder/ladder_options.hpp"
#include "tool/ladder/ladder_table.hpp"
#include "tool/progress.hpp"
#include "tool/run/predicted_cards.hpp"
#include "tool/run/runtime_choice.hpp"

namespace warpfold::tool {
namespace {

struct explain_options {
    std::string what;
    std::optional<std::string> n;
    std::optional<std::string> block;
    std::optional<std::string> json;
    bool whole = false;
    predict_options predict;
    device_options device{.device = "softgpu", .card = {}, .workers = {}};
};

// A name as people may type it: "Two-Paths" for "two paths".
std::string plain(std::string_view name) {
    std::string out;
    for (const char c : name) {
        out += c == '-' || c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return out;
}

// Characters to add, remove or replace.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
        }
    }
    return row[b.size()];
}

// The name that is meant. Throws usage_error, which has the nearest three.
std::string meant(std::string_view wish, const std::vector<std::string>& names, const std::string& what) {
    for (const std::string& name : names) {
        if (name == wish) {
            return name;
        }
    }
    for (const std::string& name : names) {
        if (plain(name) == plain(wish)) {
            return name;
        }
    }
    std::vector<std::string> near = names;
    std::stable_sort(near.begin(), near.end(), [&](const std::string& a, const std::string& b) {
        return distance(plain(wish), plain(a)) < distance(plain(wish), plain(b));
    });
    near.resize(std::min<std::size_t>(near.size(), 3));
    throw usage_error(
        fmt::format("there is no {} '{}'; the nearest: {}", what, report::printable(wish), fmt::join(near, ", ")));
}

std::vector<std::string> ladder_names() {
    std::vector<std::string> names;
    names.reserve(ladder::catalogue.size());
    for (const auto& entry : ladder::catalogue) {
        names.emplace_back(entry.name);
    }
    return names;
}

const ladder::catalogue_entry& entry_of(const std::string& ladder) {
    return *std::find_if(ladder::catalogue.begin(), ladder::catalogue.end(),
                         [&](const auto& entry) { return entry.name == ladder; });
}

// The ladders that take a block size.
std::string with_blocks() {
    std::vector<std::string> names;
    for (const auto& entry : ladder::catalogue) {
        if (entry.takes.block) {
            names.emplace_back(entry.name);
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> ids_of(const std::vector<ladder::step_description>& steps) {
    std::vector<std::string> ids;
    ids.reserve(steps.size());
    for (const auto& step : steps) {
        ids.push_back(step.id);
    }
    return ids;
}

// Steps that take this one further: first the one that its definition names, then those that name it, and the one after it,
// in the ladder's order.
std::vector<ladder::step_description> successors(const std::vector<ladder::step_description>& steps,
                                                 const std::string& id) {
    std::vector<ladder::step_description> out;
    const auto here = std::find_if(steps.begin(), steps.end(), [&](const auto& s) { return s.id == id; });
    for (std::size_t k = 0; k < steps.size(); ++k) {
        const bool behind = k > 0 && steps[k - 1].id == id && steps[k].follows.empty() && !steps[k - 1].peer;
        if (steps[k].id == here->next) {
            out.insert(out.begin(), steps[k]);
        } else if (behind || steps[k].follows == id) {
            out.push_back(steps[k]);
        }
    }
    return out;
}

ladder::ladder_report run_steps(ladder::ladder_engine& engine, const step_place& place,
                                const std::vector<std::string>& steps, bool check) {
    ladder::ladder_request q;
    q.name = place.ladder;
    q.n = place.n;
    q.parameters.block = place.block.value_or(q.parameters.block);
    q.steps = steps;
    q.count = true;
    q.check = check;
    ladder::ladder_report report = engine.run(q);
    std::erase_if(report.steps, [&](const auto& s) { return s.id != place.step; });
    return report;
}

// Runs the step, and again with the steps that its claims are compared with, until none is missing: a claim may name them
// one after the other. The report has this step alone.
ladder::ladder_report run_step(ladder::ladder_engine& engine, const step_place& place) {
    ladder::ladder_report report = run_steps(engine, place, {place.step}, true);
    const std::vector<ladder::claim> alone = report.steps.front().claims;
    std::vector<std::string> steps{place.step};
    while (true) {
        const std::size_t before = steps.size();
        for (const std::string& id : report.steps.front().missing) {
            if (std::find(steps.begin(), steps.end(), id) == steps.end()) {
                steps.push_back(id);
            }
        }
        if (steps.size() == before) {
            break;
        }
        report = run_steps(engine, place, steps, false);
    }
    std::vector<ladder::claim>& claims = report.steps.front().claims;
    if (claims.size() + 1 == alone.size()) {
        claims.push_back(alone.back()); // of the checks
    }
    return report;
}

explanation explained(ladder::ladder_engine& engine, step_place place, const explain_options& o) {
    const auto steps = engine.steps(place.ladder);
    progress line;
    line.show(place.step, 0, 3);
    const ladder::ladder_report ran = run_step(engine, place);
    explanation e{.ladder = place.ladder, .data = ran.data, .device = ran.device, .step = ran.steps.front()};
    line.show("profile", 1, 3);
    const auto counted = [](const ladder::step_result& s) {
        return s.on_device && !s.in_child_process && s.skipped.empty();
    };
    if (counted(e.step)) {
        e.profile = profile_step(place, engine.sources());
        e.predicted = predicted_steps(e.profile);
        e.bounds = bounds_of(ran, e.step, e.profile.launches);
    }
    if (!e.bounds.all.empty()) {
        e.costly = costly_lines(e.profile, cost_of(e.bounds.all.front().of), 3);
    }
    e.files = files_of(e.step, e.profile, engine.sources(), o.whole);
    e.note = note_on(e.step, e.profile);
    const auto after = successors(steps, place.step);
    if (after.empty()) {
        return e;
    }
    line.show("the next step", 2, 3);
    next_step next{after.front(), {}, {}, {}, {}};
    for (std::size_t k = 1; k < after.size(); ++k) {
        e.others.push_back(after[k].id);
    }
    place.step = next.about.id;
    if (counted(e.step)) {
        next.profile = profile_step(place, engine.sources());
    }
    ladder::step_result shell;
    static_cast<ladder::step_description&>(shell) = next.about;
    compare(e, files_of(shell, next.profile, engine.sources(), false), next);
    e.next = std::move(next);
    return e;
}

int run_explain(const explain_options& o) {
    const std::size_t slash = o.what.find('/');
    step_place place;
    place.ladder = meant(o.what.substr(0, slash), ladder_names(), "ladder");
    const ladder::catalogue_entry& entry = entry_of(place.ladder);
    if (o.n) {
        place.n = parse_bounded("--n", *o.n, 1, std::uint64_t{1} << 60);
    } else if (entry.brief_n_counted != 0) {
        place.n = entry.brief_n_counted;
    }
    if (o.block) {
        if (!entry.takes.block) {
            throw usage_error(fmt::format("--block: only {} takes it", with_blocks()));
        }
        place.block =
            static_cast<unsigned>(parse_bounded("--block", *o.block, 1, std::numeric_limits<unsigned>::max()));
    }
    static_cast<void>(set_predicted_cards(o.predict));
    ladder::ladder_engine& engine = load_ladder_engine(device_kind::software, o.device);
    const auto steps = engine.steps(place.ladder);
    if (slash == std::string::npos || slash + 1 == o.what.size()) {
        print(text_of(steps, output_style()));
        return 0;
    }
    place.step = meant(o.what.substr(slash + 1), ids_of(steps), fmt::format("step of {}", place.ladder));
    std::optional<report::output_file> file;
    if (o.json && o.json != "-") {
        file.emplace(*o.json);
    }
    const explanation e = explained(engine, place, o);
    if (file) {
        file->commit(report::text_of(json_of(e)));
    }
    o.json == "-" ? print_exactly(report::text_of(json_of(e))) : print(text_of(e, output_style()));
    return 0;
}

} // namespace

action add_explain(CLI::App& app) {
    const auto o = std::make_shared<explain_options>();
    app.footer("The step runs on the software GPU, which counts events by source line: warpfold explain scan/6");
    app.add_option("STEP", o->what, "LADDER/STEP, as the tables name them; LADDER alone lists its steps")
        ->required()
        ->type_name("");
    app.add_option("--n", o->n, "size of the problem: 100000, 2^16, 4Ki (default: the ladder's own)")->type_name("N");
    app.add_option("--block", o->block, "threads of a block (of " + with_blocks() + ")")->type_name("B");
    app.add_flag("--whole", o->whole, "the step's own file from its first line to its last");
    app.add_option("--json", o->json, "write it all to this file, or with - to standard output instead of the text")
        ->type_name("FILE");
    add_predict_options(app, o->predict);
    add_software_options(app, o->device);
    return [o] { return run_explain(*o); };
}

} // namespace warpfold::tool
