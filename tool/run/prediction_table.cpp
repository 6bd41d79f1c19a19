// SPDX-License-Identifier: MIT
#include "tool/run/prediction_table.hpp"

#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/table.hpp"
#include "report/text.hpp"
#include "tool/console.hpp"

namespace warpfold::tool {
namespace {

using launch_json = nlohmann::ordered_json;

struct line {
    std::string kernel, card, bound;
    launch_json shape;
    std::uint64_t launches = 0;
    double warm = 0, cold = 0, roof = 0;
};

std::string share_text(double part) { return fmt::format("{:.0f} %", part * 100); }

} // namespace

std::string prediction_table(const std::string& counters, bool killed) {
    const launch_json document = launch_json::parse(counters, nullptr, false);
    std::vector<line> lines;
    if (document.is_object() && document.contains("launches")) {
        for (const launch_json& launch : document["launches"]) {
            const launch_json predictions = launch.value("predictions", launch_json::object());
            for (const auto& [card, p] : predictions.items()) {
                const launch_json shape = {launch["grid"], launch["block"]};
                line* same = nullptr;
                for (std::size_t k = lines.size(); k-- > 0 && lines.size() - k <= predictions.size();) {
                    const bool alike = lines[k].card == card && launch["kernel"] == lines[k].kernel &&
                                       lines[k].shape == shape && p["bound"] == lines[k].bound;
                    same = alike ? &lines[k] : same;
                }
                if (same == nullptr) {
                    lines.push_back({launch["kernel"], card, p["bound"], shape});
                    same = &lines.back();
                }
                ++same->launches;
                same->warm += p["nanoseconds"].get<double>() / 1000;
                same->cold += p["cold_nanoseconds"].get<double>() / 1000;
                same->roof += p["share_of_roof"].get<double>();
            }
        }
    }
    if (lines.empty()) {
        if (!document.is_object() || !document.value("launches", launch_json::array()).empty()) {
            return "no launch was predicted\n";
        }
        return killed ? "nothing is predicted: a signal ended the program before a kernel was over\n"
                      : "nothing is predicted: the program launched no kernel\n";
    }
    using report::align;
    report::table table({{"kernel", align::left, true, true},
                         {"launches"},
                         {"card", align::left},
                         {"warm\nµs"},
                         {"cold\nµs"},
                         {"bound", align::left},
                         {"of roof"}});
    for (const line& l : lines) {
        const auto n = static_cast<double>(l.launches);
        table.add_row({{report::printable(l.kernel)},
                       {fmt::format("{}", l.launches)},
                       {l.card},
                       {fmt::format("{:.1f}", l.warm / n)},
                       {fmt::format("{:.1f}", l.cold / n)},
                       {l.bound},
                       {share_text(l.roof / n)}});
    }
    return "Predicted by a model (docs/model.md), not measured:\n" + table.text(output_style());
}

} // namespace warpfold::tool
