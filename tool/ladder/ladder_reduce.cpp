// SPDX-License-Identifier: MIT
// `warpfold ladder reduce`: the lectures' reductions, verified, and counted or timed.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "report/json.hpp"
#include "report/output_file.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/ladder/race_verdict.hpp"
#include "tool/ladder/reduce_json.hpp"
#include "tool/ladder/reduce_options.hpp"
#include "tool/ladder/reduce_table.hpp"
#include "tool/progress.hpp"
#include "tool/run/runtime_choice.hpp"

namespace warpfold::tool {
namespace {

struct options {
    std::string n = "2^22";
    std::string block = "256";
    std::string type = "int32";
    std::string op = "sum";
    std::string finish = "device";
    std::optional<std::string> json;
    std::string samples = "31";
    std::string seed = "587";
    std::optional<std::string> steps;
    bool claims = false; // asked for by name, though they are shown anyway
    bool no_claims = false;
    bool no_times = false;
    bool list = false;
    device_options device;
};

ladder::reduce_request request_of(const options& o) {
    ladder::reduce_request q;
    q.type = parse_type(o.type);
    q.op = parse_operation(o.op);
    q.finish_on = parse_finish(o.finish);
    // No more than a 64-bit address space holds; what the device holds, the ladder says.
    q.n = parse_bounded("--n", o.n, 1, (std::uint64_t{1} << 62) / size_of(q.type));
    q.block = static_cast<unsigned>(parse_bounded("--block", o.block, 1, std::numeric_limits<unsigned>::max()));
    q.samples = static_cast<unsigned>(parse_bounded("--samples", o.samples, 1, 100'000));
    q.seed = parse_bounded("--seed", o.seed, 0, std::numeric_limits<std::uint64_t>::max());
    if (o.steps) {
        q.steps = parse_steps(*o.steps);
    }
    return q;
}

// A step that its own caution calls right only by luck does not claim to be right.
int verdict_of(const ladder::reduce_report& report) {
    std::string wrong;
    std::size_t count = 0;
    for (const auto& step : report.steps) {
        if (step.skipped.empty() && !step.correct && step.caution.empty()) {
            wrong += (count++ == 0 ? "" : ", ") + step.id;
        }
    }
    if (count == 0) {
        return 0;
    }
    complain(fmt::format("{} claim{} to be right and {} not: {}", count == 1 ? "a step" : "steps",
                         count == 1 ? "s" : "", count == 1 ? "is" : "are", wrong));
    return 1;
}

int run(const options& o) {
    ladder::reduce_request request = request_of(o);
    const device_kind kind = choose_device(o.device);
    request.time = kind == device_kind::gpu && !o.no_times;
    request.count = kind == device_kind::software;
    if (o.list) {
        print(text_of(load_ladder(kind, o.device).reduce_steps(), output_style()));
        return 0;
    }
    std::optional<report::output_file> file;
    if (o.json && o.json != "-") {
        file.emplace(*o.json);
    }
    ladder::ladder_library& ladder = load_ladder(kind, o.device);
    ladder::reduce_report report;
    {
        progress line;
        request.progress = [&line](const std::string& what, std::size_t done, std::size_t of) {
            line.show(what, done, of);
        };
        report = ladder.reduce(request);
        if (kind == device_kind::software && !o.no_claims) {
            add_race_verdicts(report);
        }
    }
    if (o.json == "-") {
        print_exactly(report::text_of(json_of(report)));
        return verdict_of(report);
    }
    if (file) {
        file->commit(report::text_of(json_of(report)));
    }
    print(text_of(report, !o.no_claims, output_style()));
    return verdict_of(report);
}

} // namespace

action add_ladder_reduce(CLI::App& app) {
    const auto o = std::make_shared<options>();
    app.add_option("--n", o->n, "elements: 100000, 2^22, 4Ki, 1Mi, 1e6")->type_name("N")->capture_default_str();
    app.add_option("--block", o->block, "threads of a block")->type_name("B")->capture_default_str();
    app.add_option("--type", o->type, type_names)->type_name("T")->capture_default_str();
    app.add_option("--op", o->op, operation_names)->type_name("OP")->capture_default_str();
    app.add_option("--finish", o->finish,
                   "where the partial results are reduced: device (by further launches) or host (after one)")
        ->type_name("WHERE")
        ->capture_default_str();
    app.add_option("--steps", o->steps, "only these steps: 1,3,sum_warp,cub")->type_name("IDS");
    app.add_option("--json", o->json,
                   "write every figure to this file, or with - to standard output instead of the table")
        ->type_name("FILE");
    add_device_options(app, o->device);
    app.add_option("--samples", o->samples, "of each timing, on a GPU")->type_name("S")->capture_default_str();
    app.add_option("--seed", o->seed, "of the data")->type_name("S")->capture_default_str();
    app.add_flag("--claims", o->claims, "show what the lectures claim about each step, checked (the default)");
    app.add_flag("--no-claims", o->no_claims, "show the table and where the steps are")->excludes("--claims");
    app.add_flag("--no-times", o->no_times, "on a GPU: look at results only, as under compute-sanitizer");
    app.add_flag("--list", o->list, "list the steps and stop");
    return [o] { return run(*o); };
}

} // namespace warpfold::tool
