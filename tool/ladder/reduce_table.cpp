// SPDX-License-Identifier: MIT
// Laying out the report of a ladder of reductions.
#include "tool/ladder/reduce_table.hpp"

#include <fmt/format.h>

#include "report/number.hpp"
#include "report/text.hpp"
#include "tool/ladder/reduce_options.hpp"
#include "tool/ladder/step_figures.hpp"
#include "tool/ladder/table_parts.hpp"

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

std::vector<column> columns(bool counted) {
    const std::vector<column> first{{"step", align::left}, {"title", align::left, true}, {"result", align::left}};
    const std::vector<column> times{{"time\nµs"}, {"5–95 %\nµs"},     {"warm\nµs"},  {"GB/s"},
                                    {"of\nread"}, {"× step\nbefore"}, {"× in\nall"}, {"× of\nCUB"}};
    return joined(joined(first, counted ? event_columns() : times), {{"launches"}});
}

std::vector<cell> time_cells(const ladder::reduce_step& step, const step_figures& f) {
    const bool has_times = timed(step);
    return {{has_times ? figure(step.cold->median * 1e6, 4) : none},
            {has_times ? spread(*step.cold) : none},
            {has_times && step.warm ? figure(step.warm->median * 1e6, 4) : none},
            {figure_or_none(f.gb_per_s, 4)},
            {percent_or_none(f.share_of_read)},
            {fixed_or_none(f.speed_up_over_step_before, 2)},
            {fixed_or_none(f.speed_up_in_all, 2)},
            {fixed_or_none(f.speed_of_cub, 2)}};
}

std::string main_table(const ladder::reduce_report& r, const style& look) {
    const bool counted = r.device.software;
    report::table table(columns(counted));
    const auto figures = figures_of(r);
    for (std::size_t i = 0; i < r.steps.size(); ++i) {
        const ladder::reduce_step& step = r.steps[i];
        if (i > 0 && step.peer && !r.steps[i - 1].peer) {
            table.add_rule();
        }
        const std::vector<cell> first{{step.id}, {step.title}, verdict(step)};
        const std::string launches =
            step.on_device && step.skipped.empty() ? std::to_string(step.launches.size()) : none;
        table.add_row(
            joined(joined(first, counted ? event_cells(figures[i]) : time_cells(step, figures[i])), {{launches}}));
    }
    return table.text(look);
}

// What went wrong, with the two values, right under the table.
std::string mishaps(const ladder::reduce_report& r, const style& look) {
    std::string out;
    const std::size_t width = widest_id(r.steps);
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
    const std::size_t width = widest_id(r.steps);
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
    {"× step before, × in all",
     "speed-up over the step before (sum_unroll: over 3; 8: over 7), and over the first step"},
    {"× of CUB", "CUB's time over this one: more than 1 is faster than CUB"},
};

} // namespace

std::string text_of(const ladder::reduce_report& r, bool claims, const style& look) {
    std::string out = heading(r, look) + "\n" + main_table(r, look) + mishaps(r, look);
    out += r.device.software ? legend(counted_meanings, look) : legend(timed_meanings, look);
    if (!r.device.software && r.request.finish_on == ladder::finish::host) {
        out += report::paragraph("  ", "The host's part, the copy and the last additions, is in no time.", look.width);
    }
    out += claims ? steps_in_words(r.steps, &ladder::reduce_step::caution, look) : sources(r, look);
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
