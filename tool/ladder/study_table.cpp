// SPDX-License-Identifier: MIT
#include "tool/ladder/study_table.hpp"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/number.hpp"
#include "report/text.hpp"
#include "tool/ladder/step_figures.hpp"
#include "tool/ladder/table_parts.hpp"
#include "tool/ladder/timeline_text.hpp"

namespace warpfold::tool {
namespace {

using report::align;
using report::cell;
using report::figure;
using report::style;
using report::tone;

bool timed(const ladder::study_step& step) { return step.cold && step.cold->median > 0; }

std::optional<double> rate(const ladder::study_step& step) {
    return timed(step) && step.least_bytes != 0
               ? std::optional(static_cast<double>(step.least_bytes) / step.cold->median / 1e9)
               : std::nullopt;
}

std::string launches_of(const ladder::study_step& step) {
    return step.on_device && !step.launches.empty() ? std::to_string(step.launches.size()) : none;
}

std::vector<report::column> columns(bool counted) {
    const std::vector<report::column> first{
        {"step", align::left}, {"title", align::left, true}, {"n"}, {"result", align::left}};
    const std::vector<report::column> times{{"time\nµs"}, {"5–95 %\nµs"}, {"warm\nµs"}, {"GB/s"}, {"of\ncopy"}};
    return joined(joined(first, counted ? event_columns() : times), {{"launches"}});
}

std::vector<cell> time_cells(const ladder::study_step& step, const ladder::device_description& device) {
    const std::optional<double> gb = rate(step);
    const bool share = gb && step.on_device && device.copy_gb_per_s && *device.copy_gb_per_s > 0;
    return {{timed(step) ? figure(step.cold->median * 1e6, 4) : none},
            {timed(step) ? spread(*step.cold) : none},
            {step.warm ? figure(step.warm->median * 1e6, 4) : none},
            {figure_or_none(gb, 4)},
            {percent_or_none(share ? std::optional(*gb / *device.copy_gb_per_s) : std::nullopt)}};
}

report::table main_table(const ladder::study_report& r) {
    const bool counted = r.device.software;
    report::table table(columns(counted));
    bool peers = false;
    for (const auto& step : r.steps) {
        if (step.peer && !peers) {
            table.add_rule();
        }
        peers = step.peer;
        const std::vector<cell> first{{step.id}, {step.title}, {report::group_digits(step.n)}, verdict_on(step)};
        const std::vector<cell> figures =
            !counted ? time_cells(step, r.device)
                     : event_cells(step.on_device && r.request.count ? counted_figures(step.launches, step.n)
                                                                     : step_figures{});
        table.add_row(joined(joined(first, figures), {{launches_of(step)}}));
    }
    return table;
}

std::string mishaps(const ladder::study_report& r, const style& look) {
    std::string out;
    for (const auto& step : r.steps) {
        const std::string what = !step.skipped.empty()               ? "skipped: " + step.skipped
                                 : !step.error.empty()               ? "failed: " + step.error
                                 : !step.correct                     ? step.difference
                                 : step.ought == ladder::fate::wrong ? "came out right, and ought not to"
                                                                     : "";
        if (!what.empty()) {
            out += report::paragraph(fmt::format("{:<{}}  ", step.id, widest_id(r.steps)), what, look.width);
        }
    }
    return out.empty() ? out : "\n" + out;
}

// A column of numbers, as against names and bars: nothing in it begins otherwise.
bool numeric(const ladder::study_table& t, std::size_t column) {
    return std::all_of(t.rows.begin(), t.rows.end(), [&](const auto& row) {
        return column >= row.size() || row[column].empty() ||
               std::string_view("0123456789+-–.").find(row[column].front()) != std::string_view::npos ||
               row[column] == none;
    });
}

std::string text_of(const ladder::study_table& t, const style& look) {
    std::vector<report::column> columns;
    for (const std::string& head : t.head) {
        columns.push_back({head, numeric(t, columns.size()) ? align::right : align::left});
    }
    report::table table(std::move(columns));
    for (const auto& row : t.rows) {
        std::vector<cell> cells;
        for (const std::string& text : row) {
            cells.push_back({text});
        }
        table.add_row(std::move(cells));
    }
    return "\n" + report::paragraph("", t.title, look.width) + table.text(look);
}

constexpr meaning counted_meanings[] = {
    {"n", "elements that the step ran on: a block's worth where it is of one block"},
    {"instr. per element", "PTX instructions that threads executed, over n"},
    {"lanes of 32", "threads of a warp that took part in an instruction, on average"},
    {"wavefronts per request", "passes that a warp's access to shared memory took; 1 is without bank conflict"},
    {"sectors per request", "32-byte pieces of global memory that a warp's access touched"},
    {"bus used", "bytes that threads asked for, of the bytes in these sectors; more than 100 % where threads share"},
    {"barriers per warp", "barriers of the block that a warp came to, on average over the warps of all launches"},
};

constexpr meaning timed_meanings[] = {
    {"n", "elements that the step ran on: a block's worth where it is of one block"},
    {"time", "median over the samples, all launches of the step between two device events, L2 flushed before each"},
    {"5–95 %", "where nine of ten samples lie"},
    {"warm", "the same without the flush"},
    {"GB/s", "the bytes that have to be read and written at least, over the time"},
    {"of copy", "that, of the copy ceiling measured in this run"},
};

} // namespace

cell verdict_on(const ladder::study_step& step) {
    if (!step.skipped.empty()) {
        return {"skipped", tone::faint};
    }
    if (!step.as_told()) {
        return {!step.error.empty() ? "FAILED" : step.correct ? "RIGHT?" : "WRONG", tone::bad};
    }
    switch (step.ought) {
    case ladder::fate::wrong: return {"wrong, as told", tone::good};
    case ladder::fate::by_luck: return {step.correct ? "right by luck" : "wrong, as told", tone::faint};
    case ladder::fate::right: break;
    }
    return {"right", tone::good};
}

study_tally tally_of(const ladder::study_report& r) {
    study_tally all;
    for (const auto& step : r.steps) {
        ++all.steps;
        all.skipped += step.skipped.empty() ? 0 : 1;
        if (step.skipped.empty()) {
            if (!step.as_told()) {
                all.unexpected += (all.unexpected.empty() ? "" : ", ") + step.id;
            } else {
                ++(step.ought == ladder::fate::right ? all.right : all.as_told);
            }
        }
    }
    const claim_tally claims = tally_of_claims(r.steps);
    all.hold = claims.hold;
    all.fail = claims.fail;
    all.unseen = claims.unseen;
    return all;
}

std::string text_of(const ladder::study_report& r, bool claims, const style& look) {
    std::string out = report::paragraph(
        "", fmt::format("{}: {}; n = {}", r.request.name, r.data, report::group_digits(r.request.n)), look.width);
    out += device_lines(r.device, look) + "\n";
    out += main_table(r).text(look) + mishaps(r, look);
    out += timelines_of(r, look);
    for (const auto& table : r.tables) {
        out += text_of(table, look);
    }
    if (claims) {
        out += (r.device.software ? legend(counted_meanings, look) : legend(timed_meanings, look)) +
               steps_in_words(r.steps, &ladder::study_step::lesson, look);
    }
    return out;
}

} // namespace warpfold::tool
