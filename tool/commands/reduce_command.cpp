// SPDX-License-Identifier: MIT
// `warpfold reduce FILE`: one value of an array, by the library.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/json.hpp"
#include "report/output_file.hpp"
#include "report/text.hpp"
#include "tool/arrays/arrays.hpp"
#include "tool/arrays/exact_integer.hpp"
#include "tool/command.hpp"
#include "tool/console.hpp"
#include "tool/progress.hpp"

namespace warpfold::tool {
namespace {

using report::array_type;

constexpr const char* type_names = "int32, int64, float, double";
constexpr const char* operation_names = "sum, min, max, product, largest-magnitude";
constexpr std::array<std::pair<std::string_view, calls::operation>, 5> operations{
    {{"sum", calls::operation::sum},
     {"min", calls::operation::minimum},
     {"max", calls::operation::maximum},
     {"product", calls::operation::product},
     {"largest-magnitude", calls::operation::largest_magnitude}}};

struct reduce_options {
    std::string file;
    std::string op = "sum";
    std::optional<std::string> json;
    array_options array;
};

bool is_reducible(array_type type) {
    return type == array_type::int32 || type == array_type::int64 || type == array_type::float32 ||
           type == array_type::float64;
}

calls::operation parse_operation(const std::string& text) {
    for (const auto& [name, op] : operations) {
        if (name == text) {
            return op;
        }
    }
    throw usage_error(fmt::format("--op: '{}' is none of {}", text, operation_names));
}

// --type; array_input knows more types.
void check_type(const reduce_options& o) {
    const auto type = o.array.type ? report::array_type_named(*o.array.type) : std::nullopt;
    if (o.array.type && (!type || !is_reducible(*type))) {
        throw usage_error(fmt::format("--type: '{}' is none of {}", *o.array.type, type_names));
    }
}

report::json value_of(array_type type, const std::string& text) {
    switch (type) {
    case array_type::float32: return report::number(static_cast<double>(std::stof(text)));
    case array_type::float64: return report::number(std::stod(text));
    default: return std::stoll(text);
    }
}

report::json json_of(const reduce_options& o, const array_input& array, const std::string& device,
                     const std::string& value, const std::optional<bool>& wrapped) {
    const report::array_layout& layout = array.layout();
    report::json out;
    out["file"] = o.file;
    out["format"] = layout.data_offset != 0 ? "npy" : "raw";
    out["shape"] = layout.shape;
    out["n"] = layout.count;
    out["type"] = report::name_of(layout.type);
    out["op"] = o.op;
    out["device"] = device;
    out["value"] = value_of(layout.type, value);
    out["wrapped"] = wrapped ? report::json(*wrapped) : report::json(nullptr);
    return out;
}

int run_reduce(const reduce_options& o) {
    const calls::operation op = parse_operation(o.op);
    check_type(o);
    const array_input array(o.file, o.array);
    const array_type type = array.type();
    if (!is_reducible(type)) {
        throw failure(fmt::format("{}: elements of type {} cannot be reduced ({} can)", report::printable(o.file),
                                  report::name_of(type), type_names));
    }
    if (array.size() == 0 && op != calls::operation::sum && op != calls::operation::product) {
        throw failure(fmt::format("{}: the array is empty, and has no {}", report::printable(o.file), o.op));
    }
    const std::unique_ptr<calls::target> chosen = choose_target(o.array);
    calls::target& target = *chosen;
    std::optional<report::output_file> file;
    if (o.json && o.json != "-" && target.has_results()) {
        file.emplace(*o.json);
    }
    const std::string value = [&] {
        progress line;
        return target.reduce({array, passage_of(o.array, line, o.file), op});
    }();
    if (!target.has_results()) {
        return 0;
    }
    const auto wrapped = does_wrap(array, op);
    if (wrapped.value_or(false)) {
        complain(fmt::format("note: the exact {} is more than {} holds; this is its remainder modulo 2^{}", o.op,
                             report::name_of(type), 8 * report::size_of(type)));
    }
    const std::string facts = report::text_of(json_of(o, array, target.device(), value, wrapped));
    if (file) {
        file->commit(facts);
    }
    print_exactly(o.json == "-" ? facts : value + "\n");
    return 0;
}

} // namespace

action add_reduce(CLI::App& app) {
    const auto o = std::make_shared<reduce_options>();
    app.add_option("FILE", o->file,
                   "a .npy array (<i4, <i8, <f4 or <f8, C order, any shape), or raw little-endian elements; - is "
                   "standard input")
        ->required();
    app.add_option("--op", o->op, operation_names)->type_name("OP")->capture_default_str();
    app.add_option("--json", o->json,
                   "write the value and facts about the array to this file, or with - to standard output")
        ->type_name("FILE");
    add_array_options(app, o->array, type_names);
    add_chunk_option(app, o->array);
    app.footer("Integers wrap in their own type; min and max ignore NaN. Sums of float and double are rounded at every "
               "addition: warpfold sum rounds once.");
    return [o] { return run_reduce(*o); };
}

} // namespace warpfold::tool
