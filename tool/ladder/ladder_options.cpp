// SPDX-License-Identifier: MIT
#include "tool/ladder/ladder_options.hpp"

#include <array>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "report/number.hpp"
#include "tool/error.hpp"

namespace warpfold::tool {
namespace {

// "int32, int64, float, double"
template <class Value, std::size_t count>
std::string names_of(const std::array<ladder::named<Value>, count>& all) {
    std::string text;
    for (const auto& one : all) {
        text += (text.empty() ? "" : ", ") + std::string(one.name);
    }
    return text;
}

template <class Value, std::size_t count>
Value parse(const std::array<ladder::named<Value>, count>& all, std::string_view option, std::string_view text) {
    for (const auto& one : all) {
        if (one.name == text) {
            return one.value;
        }
    }
    throw usage_error(fmt::format("{}: '{}' is none of {}", option, text, names_of(all)));
}

// Ids between commas: "1,3,sum_warp,cub".
std::vector<std::string> parse_steps(std::string_view list) {
    std::vector<std::string> steps;
    for (;;) {
        const std::size_t comma = list.find(',');
        steps.emplace_back(list.substr(0, comma));
        if (steps.back().empty()) {
            throw usage_error("--steps: a step without a name (write 1,3,cub)");
        }
        if (comma == std::string_view::npos) {
            return steps;
        }
        list.remove_prefix(comma + 1);
    }
}

constexpr std::uint64_t most_count = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 62; // more than any device's memory

} // namespace

void add_common_options(CLI::App& app, ladder_options& o) {
    app.add_option("--json", o.json,
                   "write every figure to this file, or with - to standard output instead of the table")
        ->type_name("FILE");
    add_device_options(app, o.device);
    add_predict_options(app, o.predict);
    app.add_option("--samples", o.samples, "samples of each timing, on a GPU")->type_name("S")->capture_default_str();
    app.add_option("--seed", o.seed, "seed of the data")->type_name("S")->capture_default_str();
}

void add_claim_options(CLI::App& app, ladder_options& o) {
    app.add_flag("--claims", o.claims, "list every claim of the lectures with its evidence");
    app.add_flag("--counterexamples", o.counterexamples,
                 "as --claims, and hold the check of every claim against its counter-example, on which it has to fail");
}

void add_ladder_options(CLI::App& app, ladder_options& o, const ladder::catalogue_entry& ladder) {
    app.add_option("--n", o.n, "size of the problem: 100000, 2^22, 4Ki, 1e6 (default: the ladder's own)")
        ->type_name("N");
    if (ladder.takes.block) {
        app.add_option("--block", o.block, "threads of a block")->type_name("B")->capture_default_str();
    }
    if (ladder.takes.type) {
        app.add_option("--type", o.type, "element type: " + names_of(ladder::element_types))
            ->type_name("T")
            ->capture_default_str();
    }
    if (ladder.takes.op) {
        app.add_option("--op", o.op, "operation: " + names_of(ladder::operations))
            ->type_name("OP")
            ->capture_default_str();
    }
    if (ladder.takes.finish) {
        app.add_option("--finish", o.finish,
                       "where the partial results are reduced: device (by further launches) or host (after one)")
            ->type_name("WHERE")
            ->capture_default_str();
    }
    app.add_option("--steps", o.steps, "only these steps, by id: 1,3,cub")->type_name("IDS");
    add_common_options(app, o);
    app.add_option("--trace", o.trace,
                   "write the steps' timelines to this file, where they have any (streams); ui.perfetto.dev opens it")
        ->type_name("FILE");
    add_claim_options(app, o);
    app.add_flag("--no-claims", o.no_claims, "check no claims, and run no checks")
        ->excludes("--claims")
        ->excludes("--counterexamples");
    app.add_flag("--no-times", o.no_times, "on a GPU: check results only, as under compute-sanitizer");
    app.add_flag("--list", o.list, "list the steps and stop");
}

ladder::ladder_request request_of(const ladder_options& o, const ladder::catalogue_entry& ladder, device_kind kind) {
    ladder::ladder_request q;
    q.name = ladder.name;
    q.parameters.type = parse(ladder::element_types, "--type", o.type);
    q.parameters.op = parse(ladder::operations, "--op", o.op);
    q.parameters.finish_on = parse(ladder::finishes, "--finish", o.finish);
    if (o.n) {
        const std::uint64_t most = ladder.takes.type ? most_bytes / ladder::bytes_of(q.parameters.type) : most_count;
        q.n = parse_bounded("--n", *o.n, 1, most);
    }
    q.parameters.block =
        static_cast<unsigned>(parse_bounded("--block", o.block, 1, std::numeric_limits<unsigned>::max()));
    q.samples = static_cast<unsigned>(parse_bounded("--samples", o.samples, 1, 100'000));
    q.seed = parse_bounded("--seed", o.seed, 0, most_count);
    q.time = kind == device_kind::gpu && !o.no_times;
    q.count = kind == device_kind::software;
    q.check = q.count && !o.no_claims;
    q.counterexamples = o.counterexamples;
    if (o.steps) {
        q.steps = parse_steps(*o.steps);
    }
    return q;
}

std::uint64_t parse_bounded(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most) {
    std::uint64_t value = 0;
    try {
        value = report::parse_count(text);
    } catch (const report::bad_number& error) {
        throw usage_error(fmt::format("{}: {}", option, error.what()));
    }
    if (value < least) {
        throw usage_error(fmt::format("{}: {} is too small; the least is {}", option, value, least));
    }
    if (value > most) {
        throw usage_error(fmt::format("{}: {} is too large; the most is {}", option, value, most));
    }
    return value;
}

void set_predictions(const ladder_options& o, device_kind kind) {
    if (!set_predicted_cards(o.predict).empty() && kind == device_kind::gpu) {
        throw usage_error("--predict: launches on a GPU are measured; give --device softgpu");
    }
}

} // namespace warpfold::tool
