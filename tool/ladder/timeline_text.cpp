// SPDX-License-Identifier: MIT
#include "tool/ladder/timeline_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "report/text.hpp"

namespace warpfold::tool {
namespace {

using softgpu::observe::engine;
using softgpu::observe::timeline;
using softgpu::observe::timeline_event;

constexpr std::size_t most_columns = 100;
constexpr std::size_t label_columns = 18;
constexpr char idle = '.';
constexpr char goes_on = '-';

// The sign of a stream: 0 for the default stream, 1 to 9, a to z in the order in which they were first used.
char sign_of(std::vector<std::string>& streams, const std::string& stream) {
    if (stream == "default stream") {
        return '0';
    }
    const auto at = std::find(streams.begin(), streams.end(), stream);
    const auto place = static_cast<std::size_t>(at - streams.begin());
    if (at == streams.end()) {
        streams.push_back(stream);
    }
    return place < 9 ? static_cast<char>('1' + place) : place < 35 ? static_cast<char>('a' + place - 9) : '*';
}

std::string bars(const timeline& t, engine on, std::vector<std::string>& streams, double seconds, std::size_t places) {
    const auto column = [&](double at) {
        return std::min(places, static_cast<std::size_t>(std::lround(at / seconds * static_cast<double>(places))));
    };
    std::string line(column(t.seconds()), idle);
    for (const timeline_event& e : t.events) {
        const char sign = sign_of(streams, e.stream); // of all engines, so that the signs are the same
        if (e.on != on || line.empty()) {
            continue;
        }
        const std::size_t first = std::min(column(e.start), line.size() - 1);
        const std::size_t last = std::max(column(e.end), first + 1);
        std::fill(line.begin() + static_cast<std::ptrdiff_t>(first), line.begin() + static_cast<std::ptrdiff_t>(last),
                  goes_on);
        line[first] = sign;
    }
    return line;
}

std::string text_of(const ladder::step_result& step, double seconds, std::size_t places) {
    const timeline& t = *step.timeline;
    std::string out = fmt::format("{:<{}}{:.1f} µs\n", step.id, label_columns, t.seconds() * 1e6);
    std::vector<std::string> streams;
    for (const engine on : {engine::host, engine::to_device, engine::compute, engine::to_host}) {
        if (std::any_of(t.events.begin(), t.events.end(), [on](const timeline_event& e) { return e.on == on; })) {
            out += fmt::format("  {:<{}}{}\n", name_of(on), label_columns - 2, bars(t, on, streams, seconds, places));
        }
    }
    return out;
}

} // namespace

std::string timelines_of(const ladder::ladder_report& report, const report::style& look) {
    double seconds = 0;
    std::string machine;
    for (const ladder::step_result& step : report.steps) {
        if (step.timeline) {
            seconds = std::max(seconds, step.timeline->seconds());
            machine = step.timeline->machine;
        }
    }
    if (seconds <= 0) {
        return {};
    }
    const std::size_t places = std::max<std::size_t>(std::min(most_columns, look.width), 40) - label_columns;
    std::string out = "\n" + report::paragraph("",
                                               "Timelines: " + machine +
                                                   ". A digit begins each operation and names its stream, 0 the "
                                                   "default stream; all to one scale.",
                                               look.width);
    for (const ladder::step_result& step : report.steps) {
        out += step.timeline ? text_of(step, seconds, places) : "";
    }
    return out;
}

} // namespace warpfold::tool
