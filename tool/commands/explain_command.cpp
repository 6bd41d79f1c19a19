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

#include "ladder/catalogue.hpp"
#include "report/output_file.hpp"
#include "report/text.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/explain/explanation.hpp"
#include "tool/ladder/race_verdict.hpp"
#include "tool/ladder/reduce_options.hpp"
#include "tool/ladder/reduce_table.hpp"
#include "tool/progress.hpp"
#include "tool/run/runtime_choice.hpp"

namespace warpfold::tool {
namespace {

constexpr const char* reductions = "reduce";
constexpr std::uint64_t reduce_elements = 1u << 16;

struct options {
    std::string what;
    std::optional<std::string> n;
    std::optional<std::string> block;
    std::optional<std::string> json;
    bool whole = false;
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
    std::vector<std::string> names{reductions};
    for (const auto& entry : ladder::catalogue) {
        names.emplace_back(entry.name);
    }
    return names;
}

std::vector<ladder::step_description> steps_of(const ladder::ladder_library& library, const std::string& ladder) {
    return ladder == reductions ? library.reduce_steps() : library.study_steps(ladder);
}

std::vector<std::string> ids_of(const std::vector<ladder::step_description>& steps) {
    std::vector<std::string> ids;
    for (const auto& step : steps) {
        ids.push_back(step.id);
    }
    return ids;
}

// Steps that take this one further, in the ladder's order: those that say so, and the one behind it.
std::vector<ladder::step_description> successors(const std::vector<ladder::step_description>& steps,
                                                 const std::string& id) {
    std::vector<ladder::step_description> out;
    for (std::size_t k = 0; k < steps.size(); ++k) {
        const bool behind = k > 0 && steps[k - 1].id == id && steps[k].follows.empty();
        if ((behind && !steps[k - 1].peer) || steps[k].follows == id) {
            out.push_back(steps[k]);
        }
    }
    return out;
}

ladder::study_step as_study_step(const ladder::reduce_step& from, std::uint64_t n) {
    ladder::study_step to;
    static_cast<ladder::step_description&>(to) = from;
    to.on_device = from.on_device;
    to.ought = from.caution.empty() ? ladder::fate::right : ladder::fate::by_luck;
    to.lesson = from.caution;
    to.skipped = from.skipped;
    to.error = from.error;
    to.n = n;
    to.correct = from.correct;
    if (from.skipped.empty() && from.error.empty() && !from.correct) {
        to.difference = fmt::format("gave {} where {} is right", text_of(from.result), text_of(from.expected));
    }
    to.launches = from.launches;
    to.claims = from.claims;
    to.missing = from.missing;
    return to;
}

// What is known of a step that ran with the others of `steps`.
struct outcome {
    ladder::device_description device;
    std::string data;
    ladder::study_step step;
};

const auto& step_in(const auto& steps, const std::string& id) {
    return *std::find_if(steps.begin(), steps.end(), [&](const auto& s) { return s.id == id; });
}

outcome run_reduce(ladder::ladder_library& library, const step_place& place, const std::vector<std::string>& steps) {
    ladder::reduce_request q;
    q.n = place.n.value_or(reduce_elements);
    q.block = place.block.value_or(q.block);
    q.steps = steps;
    q.count = true;
    ladder::reduce_report report = library.reduce(q);
    std::erase_if(report.steps, [&](const auto& s) { return s.id != place.step; });
    add_race_verdicts(report);
    return {report.device, fmt::format("the sum of int32 in blocks of {} threads", q.block),
            as_study_step(report.steps.front(), q.n)};
}

outcome run_study(ladder::ladder_library& library, const step_place& place, const std::vector<std::string>& steps,
                  bool check) {
    ladder::study_request q;
    q.name = place.ladder;
    q.n = place.n.value_or(0);
    q.steps = steps;
    q.count = true;
    q.check = check;
    const ladder::study_report report = library.study(q);
    return {report.device, report.data, step_in(report.steps, place.step)};
}

// The step, its claims with every other step that they are compared with.
outcome run_step(ladder::ladder_library& library, const step_place& place) {
    const bool reduce = place.ladder == reductions;
    std::vector<std::string> steps{place.step};
    outcome out = reduce ? run_reduce(library, place, steps) : run_study(library, place, steps, true);
    if (out.step.missing.empty()) {
        return out;
    }
    steps.insert(steps.end(), out.step.missing.begin(), out.step.missing.end());
    if (reduce) {
        return run_reduce(library, place, steps);
    }
    outcome beside = run_study(library, place, steps, false);
    if (!out.step.claims.empty() && beside.step.claims.size() + 1 == out.step.claims.size()) {
        beside.step.claims.push_back(out.step.claims.back()); // what the checks said
    }
    return beside;
}

explanation explained(ladder::ladder_library& library, step_place place, const options& o) {
    const auto steps = steps_of(library, place.ladder);
    progress line;
    line.show(place.step, 0, 3);
    outcome ran = run_step(library, place);
    if (place.ladder == reductions && !place.n) {
        place.n = reduce_elements;
    }
    explanation e{place.ladder, ran.data, ran.device, ran.step, {}, {}, {}, {}, {}};
    line.show("profile", 1, 3);
    const auto counted = [](const ladder::study_step& s) { return s.on_device && !s.apart && s.skipped.empty(); };
    if (counted(e.step)) {
        e.profile = profile_step(place, library.sources());
    }
    e.files = files_of(e.step, e.profile, library.sources(), o.whole);
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
        next.profile = profile_step(place, library.sources());
    }
    ladder::study_step shell;
    static_cast<ladder::step_description&>(shell) = next.about;
    compare(e, files_of(shell, next.profile, library.sources(), false), next);
    e.next = std::move(next);
    return e;
}

int run(const options& o) {
    const std::size_t slash = o.what.find('/');
    step_place place;
    place.ladder = meant(o.what.substr(0, slash), ladder_names(), "ladder");
    if (o.n) {
        place.n = parse_bounded("--n", *o.n, 1, std::uint64_t{1} << 60);
    }
    if (o.block) {
        if (place.ladder != reductions) {
            throw usage_error(fmt::format("--block: only {} takes it", reductions));
        }
        place.block =
            static_cast<unsigned>(parse_bounded("--block", *o.block, 1, std::numeric_limits<unsigned>::max()));
    }
    ladder::ladder_library& library = load_ladder(device_kind::software, o.device);
    const auto steps = steps_of(library, place.ladder);
    if (slash == std::string::npos || slash + 1 == o.what.size()) {
        print(text_of(steps, output_style()));
        return 0;
    }
    place.step = meant(o.what.substr(slash + 1), ids_of(steps), fmt::format("step of {}", place.ladder));
    std::optional<report::output_file> file;
    if (o.json && o.json != "-") {
        file.emplace(*o.json);
    }
    const explanation e = explained(library, place, o);
    if (file) {
        file->commit(report::text_of(json_of(e)));
    }
    o.json == "-" ? print_exactly(report::text_of(json_of(e))) : print(text_of(e, output_style()));
    return 0;
}

} // namespace

action add_explain(CLI::App& app) {
    const auto o = std::make_shared<options>();
    app.footer("The step runs on the software GPU, where what every line does is counted: warpfold explain scan/6");
    app.add_option("STEP", o->what, "LADDER/STEP, as the tables name them; LADDER alone lists its steps")
        ->required()
        ->type_name("");
    app.add_option("--n", o->n, "size of the problem: 100000, 2^16, 4Ki (default: the ladder's own)")->type_name("N");
    app.add_option("--block", o->block, "threads of a block, of reduce")->type_name("B");
    app.add_flag("--whole", o->whole, "the step's own file from its first line to its last");
    app.add_option("--json", o->json, "write it all to this file, or with - to standard output instead of the text")
        ->type_name("FILE");
    add_software_options(app, o->device);
    return [o] { return run(*o); };
}

} // namespace warpfold::tool
