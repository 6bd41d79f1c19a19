// SPDX-License-Identifier: MIT
#include "softgpu/predict/card.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>

#include <nlohmann/json.hpp>

namespace softgpu::predict {
namespace {

using json = nlohmann::json;
using observe::instruction_class;

std::string plain(double value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

std::string text_at(const json& of, const char* name, const std::string& where) {
    if (!of.contains(name) || !of[name].is_string() || of[name].get<std::string>().empty()) {
        throw card_error(where + ": \"" + name + "\" is missing or no text");
    }
    return of[name].get<std::string>();
}

unsigned capability_at(const json& of, const std::string& where) {
    const std::string text = text_at(of, "compute_capability", where);
    const char* const end = text.data() + text.size();
    unsigned major = 0;
    unsigned minor = 10;
    const auto [dot, wrong] = std::from_chars(text.data(), end, major);
    if (wrong != std::errc{} || dot == end || *dot != '.' || std::from_chars(dot + 1, end, minor).ptr != end ||
        minor > 9) {
        throw card_error(
            std::string(where).append(": compute_capability is \"").append(text).append("\", not MAJOR.MINOR"));
    }
    return 10 * major + minor;
}

double figure_at(const json& figures, const char* name, const char* unit, double least, double most,
                 const std::string& file) {
    const std::string where = file + ": figure " + name;
    if (!figures.contains(name)) {
        throw card_error(where + " is missing (" + unit + ")");
    }
    const json& figure = figures[name];
    if (!figure.is_object() || !figure.contains("value") || !figure["value"].is_number()) {
        throw card_error(where + ": \"value\" is missing or no number");
    }
    if (const std::string said = text_at(figure, "unit", where); said != unit) {
        throw card_error(where + ": the unit is \"" + unit + "\", not \"" + said + "\"");
    }
    static_cast<void>(text_at(figure, "source", where));
    const auto value = figure["value"].get<double>();
    if (!(value >= least && value <= most)) {
        throw card_error(where + " is " + plain(value) + "; it has to be from " + plain(least) + " to " + plain(most) +
                         " " + unit);
    }
    return value;
}

} // namespace

card parse_card(std::string_view text, const std::string& file) {
    const json document = json::parse(text, nullptr, false);
    if (!document.is_object() || !document.contains("figures") || !document["figures"].is_object()) {
        throw card_error(file + " is no description of a card: no JSON object with \"figures\"");
    }
    const json& figures = document["figures"];
    card c;
    c.key = text_at(document, "key", file);
    c.name = text_at(document, "name", file);
    c.compute_capability = capability_at(document, file);
    std::set<std::string> known;
#define SOFTGPU_FIGURE(field, unit, least, most)                                                                       \
    known.insert(#field);                                                                                              \
    c.field = figure_at(figures, #field, unit, least, most, file);
#include "softgpu/predict/figures.def"
#undef SOFTGPU_FIGURE
    for (const auto& [name, figure] : figures.items()) {
        if (!known.contains(name)) {
            throw card_error(std::string(file).append(": there is no figure ").append(name));
        }
    }
    return c;
}

card read_card(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in.is_open() || text.empty()) {
        throw card_error(path + ": cannot be read, or is empty");
    }
    return parse_card(text, path);
}

observe::latency_table latencies_of(const card& c, double global_load) {
    observe::latency_table t;
    t.of.fill(c.latency_arithmetic);
    t[instruction_class::fp64] = c.latency_fp64;
    t[instruction_class::special] = c.latency_special;
    t[instruction_class::convert] = c.latency_convert;
    t[instruction_class::shuffle] = c.latency_shuffle;
    t[instruction_class::vote] = c.latency_vote;
    t[instruction_class::tensor] = c.latency_tensor;
    t[instruction_class::control] = c.latency_control;
    t[instruction_class::fence] = c.latency_fence;
    t[instruction_class::barrier] = c.latency_barrier;
    t[instruction_class::global_load] = global_load;
    t[instruction_class::global_store] = 1;
    t[instruction_class::global_atomic] = c.latency_atomic;
    t[instruction_class::shared_load] = c.latency_shared;
    t[instruction_class::shared_store] = 1;
    t[instruction_class::shared_atomic] = c.latency_shared_atomic;
    t[instruction_class::local] = c.latency_l1;
    t[instruction_class::constant] = c.latency_constant;
    t[instruction_class::texture] = global_load + c.latency_texture - c.latency_l1;
    t.guard = std::max(c.latency_predicate - c.latency_arithmetic, 0.0);
    t.turn = c.latency_turn;
    t.past_l1 = c.latency_l2;
    const auto throughput = throughputs_of(c);
    for (std::size_t k = 0; k < t.busy.of.size(); ++k) {
        t.busy.of[k] = throughput.of[k] > 0 ? 32 * std::max(c.register_partitions, 1.0) / throughput.of[k] : 0;
    }
    return t;
}

observe::by_class<double> throughputs_of(const card& c) {
    observe::by_class<double> t;
    t[instruction_class::integer] = c.throughput_integer;
    t[instruction_class::multiply] = c.throughput_multiply;
    t[instruction_class::shift] = c.throughput_shift;
    t[instruction_class::logic] = c.throughput_logic;
    t[instruction_class::fp32] = c.throughput_fp32;
    t[instruction_class::fp64] = c.throughput_fp64;
    t[instruction_class::half] = c.throughput_half;
    t[instruction_class::special] = c.throughput_special;
    t[instruction_class::convert] = c.throughput_convert;
    t[instruction_class::shuffle] = c.throughput_shuffle;
    t[instruction_class::vote] = c.throughput_vote;
    return t;
}

} // namespace softgpu::predict
