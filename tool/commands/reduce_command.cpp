// SPDX-License-Identifier: MIT
// `warpfold reduce FILE`: reduces an array from a file on the chosen device.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "report/array_file.hpp"
#include "report/json.hpp"
#include "report/output_file.hpp"
#include "report/text.hpp"
#include "tool/arrays/exact_integer.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/ladder/json_parts.hpp"
#include "tool/ladder/reduce_json.hpp"
#include "tool/ladder/reduce_options.hpp"
#include "tool/progress.hpp"
#include "tool/run/runtime_choice.hpp"

namespace warpfold::tool {
namespace {

// One launch, 16-byte loads, right on every architecture.
constexpr const char* best_step = "12";

struct options {
    std::string file;
    std::optional<std::string> type; // of a raw file
    std::string op = "sum";
    std::string finish = "device";
    std::optional<std::string> json;
    device_options device;
};

// Throws failure for a type that the ladder does not have.
ladder::element_type type_of(report::array_type type) {
    switch (type) {
    case report::array_type::int32: return ladder::element_type::int32;
    case report::array_type::int64: return ladder::element_type::int64;
    case report::array_type::float32: return ladder::element_type::float32;
    case report::array_type::float64: return ladder::element_type::float64;
    default: break;
    }
    throw failure(fmt::format("elements of type {} cannot be reduced ({} can)", report::name_of(type), type_names));
}

std::optional<report::array_type> raw_type(const options& o) {
    if (!o.type) {
        return std::nullopt;
    }
    switch (parse_type(*o.type)) {
    case ladder::element_type::int32: return report::array_type::int32;
    case ladder::element_type::int64: return report::array_type::int64;
    case ladder::element_type::float32: return report::array_type::float32;
    case ladder::element_type::float64: return report::array_type::float64;
    }
    return std::nullopt;
}

std::unique_ptr<report::array_file> open_array(const options& o) {
    const auto raw = raw_type(o);
    try {
        return std::make_unique<report::array_file>(o.file, raw);
    } catch (const report::bad_array& error) {
        throw failure(fmt::format("{}: {}", report::printable(o.file), error.what()));
    }
}

report::json json_of(const options& o, const report::array_file& array, const ladder::reduce_report& report,
                     const std::optional<bool>& wrapped) {
    const ladder::reduce_step& step = report.steps.front();
    report::json out;
    out["file"] = o.file;
    out["format"] = array.npy() ? "npy" : "raw";
    out["shape"] = array.layout().shape;
    out["n"] = array.layout().count;
    out["type"] = name_of(report.request.type);
    out["op"] = name_of(report.request.op);
    out["finish"] = name_of(report.request.finish_on);
    out["device"] = tool::json_of(report.device);
    out["step"] = step.id;
    out["source"] = step.source;
    out["value"] = tool::json_of(step.result);
    out["expected"] = tool::json_of(step.expected);
    out["tolerance"] = report::number(step.tolerance);
    out["correct"] = step.correct;
    out["wrapped"] = wrapped ? report::json(*wrapped) : report::json(nullptr);
    out["launches"] = tool::json_of(step.launches, false);
    return out;
}

void check(const ladder::reduce_report& report) {
    if (report.steps.size() != 1) {
        throw failure(fmt::format("the ladder did not run step {}", best_step));
    }
    const ladder::reduce_step& step = report.steps.front();
    if (!step.skipped.empty()) {
        throw failure(fmt::format("step {} cannot do this: {}", step.id, step.skipped));
    }
    if (!step.error.empty()) {
        throw failure(fmt::format("step {} failed: {}", step.id, step.error));
    }
    if (!step.correct) {
        throw failure(fmt::format("step {} gave {} where {} is right; nothing is printed", step.id,
                                  text_of(step.result), text_of(step.expected)));
    }
}

int run(const options& o) {
    ladder::reduce_request request;
    request.op = parse_operation(o.op);
    request.finish_on = parse_finish(o.finish);
    const auto array = open_array(o);
    try {
        request.type = type_of(array->layout().type);
    } catch (const failure& error) {
        throw failure(fmt::format("{}: {}", report::printable(o.file), error.what()));
    }
    request.n = array->layout().count;
    request.data = array->data();
    request.steps = {best_step};
    const bool has_identity = request.op == ladder::operation::sum || request.op == ladder::operation::product;
    if (request.n == 0 && !has_identity) {
        throw failure(
            fmt::format("{}: the array is empty, and has no {}", report::printable(o.file), name_of(request.op)));
    }
    const device_kind kind = choose_device(o.device);
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
    }
    check(report);
    const auto wrapped = does_wrap(array->layout().type, request.op, array->data(), request.n);
    const std::string json = report::text_of(json_of(o, *array, report, wrapped));
    if (wrapped.value_or(false)) {
        complain(fmt::format("note: the exact {} is more than {} holds; this is what is left of it modulo 2^{}",
                             name_of(request.op), name_of(request.type), 8 * size_of(request.type)));
    }
    if (file) {
        file->commit(json);
    }
    print_exactly(o.json == "-" ? json : text_of(report.steps.front().result) + "\n");
    return 0;
}

} // namespace

action add_reduce(CLI::App& app) {
    const auto o = std::make_shared<options>();
    app.add_option("FILE", o->file,
                   "a .npy array (<i4, <i8, <f4 or <f8, C order, any shape), or raw little-endian elements")
        ->required();
    app.add_option("--type", o->type, fmt::format("what a raw file holds: {}", type_names))->type_name("T");
    app.add_option("--op", o->op, operation_names)->type_name("OP")->capture_default_str();
    app.add_option("--finish", o->finish, "where the partial results are reduced: device or host")
        ->type_name("WHERE")
        ->capture_default_str();
    app.add_option("--json", o->json,
                   "write the value and how it came about to this file, or with - to standard output")
        ->type_name("FILE");
    add_device_options(app, o->device);
    return [o] { return run(*o); };
}

} // namespace warpfold::tool
