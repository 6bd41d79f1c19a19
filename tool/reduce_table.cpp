// SPDX-License-Identifier: MIT
// Laying out the report of a ladder of reductions.
#include "tool/reduce_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/number.hpp"
#include "report/text.hpp"
#include "tool/reduce_options.hpp"
#include "tool/step_figures.hpp"
#include "tool/table_parts.hpp"

namespace warpfold::tool {
namespace {

using report::align;
using report::cell;
using report::column;
using report::figure;
using report::style;
using report::tone;

cell verdict(const ladder::reduce_step& step) {
    if (!step.skipped.empty()) {
        return {"skipped", tone::faint};
    }
    if (!step.error.empty()) {
        return {"FAILED", tone::bad};
    }
    return step.correct ? cell{"right", tone::good} : cell{"WRONG", tone::bad};
}

std::string operation_in_words(ladder::operation op) {
    switch (op) {
    case ladder::operation::sum: return "sum";
    case ladder::operation::minimum: return "minimum";
    case ladder::operation::maximum: return "maximum";
    case ladder::operation::product: return "product";
    case ladder::operation::largest_magnitude: return "element of largest magnitude";
    }
    return "?";
}

std::string heading(const ladder::reduce_report& r, const style& look) {
    const auto& q = r.request;
    std::string out =
        report::paragraph("",
                          fmt::format("Reduction: the {} of {} {} ({}), blocks of {} threads, finished on the {}",
                                      operation_in_words(q.op), report::group_digits(q.n), name_of(q.type),
                                      report::bytes(q.n * size_of(q.type)), q.block, name_of(q.finish_on)),
                          look.width);
    out += device_lines(r.device, look);
    return out;
}

report::table counted_table() {
    return report::table({{"step", align::left},
                          {"title", align::left, true},
                          {"result", align::left},
                          {"instr.\nper\nelement"},
                          {"lanes\nof 32"},
                          {"wave-\nfronts\nper\nrequest"},
                          {"sectors\nper\nrequest"},
                          {"bus\nused"},
                          {"barriers\nper warp"},
                          {"launches"}});
}

std::vector<cell> counted_row(const ladder::reduce_step& step, const step_figures& f) {
    return {{step.id},
            {step.title},
            verdict(step),
            {figure_or_none(f.instructions_per_element)},
            {fixed_or_none(f.active_lanes, 1)},
            {fixed_or_none(f.wavefronts_per_request, 2)},
            {fixed_or_none(f.sectors_per_request, 2)},
            {percent_or_none(f.bus_utilisation)},
            {fixed_or_none(f.barriers_per_warp, 1)},
            {step.on_device && step.skipped.empty() ? std::to_string(step.launches.size()) : none}};
}

report::table timed_table() {
    return report::table({{"step", align::left},
                          {"title", align::left, true},
                          {"result", align::left},
                          {"time\nµs"},
                          {"5–95 %\nµs"},
                          {"warm\nµs"},
                          {"GB/s"},
                          {"of\nread"},
                          {"× step\nbefore"},
                          {"× in\nall"},
                          {"× of\nCUB"},
                          {"launches"}});
}

std::vector<cell> timed_row(const ladder::reduce_step& step, const step_figures& f) {
    std::string time = none;
    std::string spread = none;
    std::string warm = none;
    if (timed(step)) {
        time = figure(step.cold->median * 1e6, 4);
        spread = fmt::format("{}–{}", figure(step.cold->low * 1e6), figure(step.cold->high * 1e6));
        warm = step.warm ? figure(step.warm->median * 1e6, 4) : none;
    }
    return {{step.id},
            {step.title},
            verdict(step),
            {time},
            {spread},
            {warm},
            {figure_or_none(f.gb_per_s, 4)},
            {percent_or_none(f.share_of_read)},
            {fixed_or_none(f.speed_up_over_step_before, 2)},
            {fixed_or_none(f.speed_up_in_all, 2)},
            {fixed_or_none(f.speed_of_cub, 2)},
            {step.on_device && step.skipped.empty() ? std::to_string(step.launches.size()) : none}};
}

std::string main_table(const ladder::reduce_report& r, const style& look) {
    const bool times = !r.device.software;
    report::table table = times ? timed_table() : counted_table();
    const auto figures = figures_of(r);
    for (std::size_t i = 0; i < r.steps.size(); ++i) {
        if (i > 0 && r.steps[i].peer && !r.steps[i - 1].peer) {
            table.add_rule();
        }
        table.add_row(times ? timed_row(r.steps[i], figures[i]) : counted_row(r.steps[i], figures[i]));
    }
    return table.text(look);
}

std::size_t widest_id(const ladder::reduce_report& r) {
    std::size_t widest = 0;
    for (const auto& step : r.steps) {
        widest = std::max(widest, report::display_width(step.id));
    }
    return widest;
}

// What went wrong, with the two values, right under the table.
std::string mishaps(const ladder::reduce_report& r, const style& look) {
    std::string out;
    const std::size_t width = widest_id(r);
    for (const auto& step : r.steps) {
        const std::string first = fmt::format("{:<{}}  ", step.id, width);
        if (!step.skipped.empty()) {
            out += report::paragraph(first, "skipped: " + step.skipped, look.width);
        } else if (!step.error.empty()) {
            out += report::paragraph(first, "failed: " + step.error, look.width);
        } else if (!step.correct) {
            out += report::paragraph(
                first,
                fmt::format("gave {} where {} is right{}", text_of(step.result), text_of(step.expected),
                            step.tolerance > 0 ? fmt::format(" (± {})", figure(step.tolerance)) : ""),
                look.width);
        }
    }
    return out.empty() ? out : "\n" + out;
}

std::string sources(const ladder::reduce_report& r, const style& look) {
    std::string out = "\nWhere the steps are\n";
    const std::size_t width = widest_id(r);
    for (const auto& step : r.steps) {
        out += report::paragraph(fmt::format("{:<{}}  ", step.id, width),
                                 step.lecture.empty() ? step.source : fmt::format("{} ({})", step.source, step.lecture),
                                 look.width);
        if (!step.caution.empty()) {
            out += report::paragraph(fmt::format("{:<{}}  ! ", "", width), step.caution, look.width);
        }
    }
    return out;
}

std::string tally(const ladder::reduce_report& r) {
    std::size_t hold = 0;
    std::size_t fail = 0;
    std::size_t unseen = 0;
    for (const auto& step : r.steps) {
        for (const auto& claim : step.claims) {
            ++(!claim.holds ? unseen : *claim.holds ? hold : fail);
        }
    }
    return fmt::format(
        "\nThe steps, and what the lectures claim: ✓ {} hold{}, ✗ {} do{} not, – {} cannot be seen here\n", hold,
        hold == 1 ? "s" : "", fail, fail == 1 ? "es" : "", unseen);
}

std::string steps_in_words(const ladder::reduce_report& r, const style& look) {
    constexpr std::size_t indent = 4;
    const std::string blanks(indent, ' ');
    std::string out = tally(r);
    for (const auto& step : r.steps) {
        std::string head = fmt::format("{} – {}", step.title, step.source);
        head += step.lecture.empty() ? "" : fmt::format(" ({})", step.lecture);
        out += "\n" + report::paragraph(step.id + "  ", head, look.width);
        if (!step.idea.empty()) {
            out += report::paragraph(blanks, step.idea, look.width);
        }
        for (const auto& claim : step.claims) {
            out += claim_text(claim, indent, look);
        }
        if (!step.caution.empty()) {
            out += report::paragraph(blanks + "! ", step.caution, look.width);
        }
    }
    return out;
}

constexpr meaning counted_meanings[] = {
    {"instr. per element", "PTX instructions that threads executed, over n; all launches of one reduction"},
    {"lanes of 32", "threads of a warp that took part in an instruction, on average"},
    {"wavefronts per request", "passes that a warp's access to shared memory took; 1 is without bank conflict "
                               "(8-byte elements go by half warps: up to 2)"},
    {"sectors per request",
     "32-byte pieces of global memory that a warp's access touched; 4 is what 32 adjacent 4-byte "
     "elements need"},
    {"bus used", "bytes that threads asked for, of the bytes in these sectors"},
    {"barriers per warp", "barriers of the block that a warp came to, on average over the warps of all launches"},
    {"launches", "kernels started for one reduction"},
};

constexpr meaning timed_meanings[] = {
    {"time",
     "median over the samples, all launches of one reduction between two device events, L2 flushed before each"},
    {"5–95 %", "where nine of ten samples lie"},
    {"warm", "the same without the flush"},
    {"GB/s", "n x bytes of an element / time, in 1e9 bytes a second: what has to be read at least once"},
    {"of read", "that, of the read ceiling measured in this run"},
    {"× step before, × in all", "speed-up over the step before (sum_unroll: over 3; 8: over 7), and over the first step"},
    {"× of CUB", "CUB's time over this one: more than 1 is faster than CUB"},
};

} // namespace

std::string text_of(const ladder::reduce_report& r, bool claims, const style& look) {
    std::string out = heading(r, look) + "\n" + main_table(r, look) + mishaps(r, look);
    out += r.device.software ? legend(counted_meanings, look) : legend(timed_meanings, look);
    if (!r.device.software && r.request.finish_on == ladder::finish::host) {
        out += report::paragraph("  ", "The host's part, the copy and the last additions, is in no time.", look.width);
    }
    out += claims ? steps_in_words(r, look) : sources(r, look);
    return out;
}

std::string text_of(const std::vector<ladder::step_description>& steps, const style& look) {
    report::table table(
        {{"step", align::left}, {"title", align::left}, {"source", align::left}, {"lecture", align::left, true}});
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (i > 0 && steps[i].peer && !steps[i - 1].peer) {
            table.add_rule();
        }
        table.add_row({{steps[i].id}, {steps[i].title}, {steps[i].source}, {steps[i].lecture}});
    }
    return table.text(look);
}

} // namespace warpfold::tool
