// SPDX-License-Identifier: MIT
#include "tool/ladder/ladder_table.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/number.hpp"
#include "report/text.hpp"
#include "tool/ladder/prediction_text.hpp"
#include "tool/ladder/step_figures.hpp"
#include "tool/ladder/timeline_text.hpp"

namespace warpfold::tool {
namespace {

using ladder::ladder_report;
using ladder::step_result;
using report::align;
using report::cell;
using report::figure;
using report::style;
using report::tone;

constexpr const char* none = "–";

std::string rounded(const std::optional<double>& value, int digits = 3) {
    return value ? figure(*value, digits) : none;
}
std::string fixed(const std::optional<double>& value, int decimals) {
    return value ? fmt::format("{:.{}f}", *value, decimals) : none;
}
std::string percent(const std::optional<double>& value) { return value ? fmt::format("{:.1f} %", *value * 100) : none; }
std::string microseconds(const std::optional<ladder::timing>& t) { return t ? figure(t->median * 1e6, 4) : none; }

// A column of the main table. `meaning` explains it below the table; nullptr: it needs no explanation.
struct figures_column {
    report::column head;
    const char* name;
    const char* meaning;
    cell (*value)(const step_result& step, const step_figures& f);
};
using columns = std::vector<figures_column>;

void append(columns& list, const columns& more) { list.insert(list.end(), more.begin(), more.end()); }

const columns& counted_columns() {
    static const columns all{
        {{"instr.\nper\nelement"},
         "instr. per element",
         "PTX instructions that threads executed, over n; all launches of the step",
         [](const step_result&, const step_figures& f) { return cell{rounded(f.instructions_per_element)}; }},
        {{"lanes\nof 32"},
         "lanes of 32",
         "threads of a warp that took part in an instruction, on average",
         [](const step_result&, const step_figures& f) { return cell{fixed(f.active_lanes, 1)}; }},
        {{"wave-\nfronts\nper\nrequest"},
         "wavefronts per request",
         "passes that a warp's access to shared memory took; 1 is without bank conflict (8-byte elements go by half "
         "warps: "
         "up to 2)",
         [](const step_result&, const step_figures& f) { return cell{fixed(f.wavefronts_per_request, 2)}; }},
        {{"sectors\nper\nrequest"},
         "sectors per request",
         "32-byte pieces of global memory that a warp's access touched; 32 adjacent 4-byte elements need 4",
         [](const step_result&, const step_figures& f) { return cell{fixed(f.sectors_per_request, 2)}; }},
        {{"bus\nused"},
         "bus used",
         "bytes that threads requested, of the bytes in these sectors; more than 100 % where threads share",
         [](const step_result&, const step_figures& f) { return cell{percent(f.bus_utilisation)}; }},
        {{"barriers\nper warp"},
         "barriers per warp",
         "barriers of its block that a warp arrived at, on average over the warps of all launches",
         [](const step_result&, const step_figures& f) { return cell{fixed(f.barriers_per_warp, 1)}; }}};
    return all;
}

columns timed_columns(bool one_problem) {
    columns all{
        {{"time\nµs"},
         "time",
         "median over the samples: all launches of the step between two device events, L2 flushed before each sample",
         [](const step_result& s, const step_figures&) { return cell{s.timed() ? microseconds(s.cold) : none}; }},
        {{"5–95 %\nµs"},
         "5–95 %",
         "the range of nine in ten samples",
         [](const step_result& s, const step_figures&) {
             return cell{s.timed() ? fmt::format("{}–{}", figure(s.cold->low * 1e6), figure(s.cold->high * 1e6))
                                   : none};
         }},
        {{"warm\nµs"},
         "warm",
         "the same without the flush",
         [](const step_result& s, const step_figures&) { return cell{s.timed() ? microseconds(s.warm) : none}; }},
        {{"GB/s"},
         "GB/s",
         "the bytes that have to be read and written at least, over the time; 1e9 bytes a second",
         [](const step_result&, const step_figures& f) { return cell{rounded(f.gb_per_s, 4)}; }}};
    const auto share = [](const step_result&, const step_figures& f) { return cell{percent(f.share_of_ceiling)}; };
    if (!one_problem) {
        all.push_back({{"of\ncopy"}, "of copy", "GB/s over the copy ceiling measured in this run", share});
        return all;
    }
    append(all,
           {{{"of\nread"}, "of read", "GB/s over the read ceiling measured in this run", share},
            {{"× step\nbefore"},
             "× step before",
             "speed-up over the step before, or over the one that the step takes further (sum_unroll: 3; 8: 7)",
             [](const step_result&, const step_figures& f) { return cell{fixed(f.speed_up_over_step_before, 2)}; }},
            {{"× in\nall"},
             "× in all",
             "speed-up over the first step",
             [](const step_result&, const step_figures& f) { return cell{fixed(f.speed_up_in_all, 2)}; }},
            {{"× of\nCUB"},
             "× of CUB",
             "CUB's time over this one: more than 1 is faster than CUB",
             [](const step_result&, const step_figures& f) { return cell{fixed(f.speed_of_cub, 2)}; }}});
    return all;
}

columns columns_of(const ladder_report& r) {
    columns all{
        {{"step", align::left}, "", nullptr, [](const step_result& s, const step_figures&) { return cell{s.id}; }},
        {{"title", align::left, true}, "", nullptr, [](const step_result& s, const step_figures&) {
             return cell{s.title};
         }}};
    if (!r.one_problem) {
        all.push_back({{"n"},
                       "n",
                       "elements that the step ran on: a block's worth where the step is of one block",
                       [](const step_result& s, const step_figures&) { return cell{report::group_digits(s.n)}; }});
    }
    all.push_back({{"result", align::left, true}, "", nullptr, [](const step_result& s, const step_figures&) {
                       return result_cell(s);
                   }});
    append(all, r.device.software ? counted_columns() : timed_columns(r.one_problem));
    all.push_back({{"launches"},
                   "launches",
                   "kernels that one run of the step launched",
                   [](const step_result& s, const step_figures&) {
                       return cell{s.on_device && !s.launches.empty() ? std::to_string(s.launches.size()) : none};
                   }});
    return all;
}

std::string main_table(const ladder_report& r, const columns& shown, const style& look) {
    std::vector<report::column> heads;
    for (const figures_column& column : shown) {
        heads.push_back(column.head);
    }
    report::table table(std::move(heads));
    const auto figures = figures_of(r);
    for (std::size_t k = 0; k < r.steps.size(); ++k) {
        if (k > 0 && r.steps[k].peer && !r.steps[k - 1].peer) {
            table.add_rule();
        }
        std::vector<cell> cells;
        for (const figures_column& column : shown) {
            cells.push_back(column.value(r.steps[k], figures[k]));
        }
        table.add_row(std::move(cells));
    }
    return table.text(look);
}

std::string legend(const columns& shown, const style& look) {
    std::string out = "\nWhat the columns mean\n";
    for (const figures_column& column : shown) {
        if (column.meaning != nullptr) {
            out += report::paragraph(fmt::format("  {}: ", column.name), column.meaning, look.width);
        }
    }
    return out;
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

// "reduce: the sum of 4,194,304 int32 (16.8 MB), blocks of 256 threads, finished on the device"
std::string problem_in_words(const ladder_report& r) {
    const ladder::step_parameters& p = r.request.parameters;
    std::string text =
        r.takes.op && r.takes.type
            ? fmt::format("{}: the {} of {} {} ({})", r.request.name, operation_in_words(p.op),
                          report::group_digits(r.n), name_of(p.type), report::bytes(r.n * ladder::bytes_of(p.type)))
            : fmt::format("{}: {}; n = {}", r.request.name, r.data, report::group_digits(r.n));
    text += r.takes.block ? fmt::format(", blocks of {} thread{}", p.block, p.block == 1 ? "" : "s") : "";
    text += r.takes.finish ? fmt::format(", finished on the {}", name_of(p.finish_on)) : "";
    return text;
}

// Under the table: what is not as it should be.
std::string differences(const ladder_report& r, const style& look) {
    std::string out;
    for (const auto& step : r.steps) {
        const std::string what = !step.skipped.empty() ? "skipped: " + step.skipped
                                 : !step.error.empty() ? "failed: " + step.error
                                 : !step.correct       ? step.difference
                                 : step.expected == ladder::outcome::wrong
                                     ? "came out right, and is expected to be wrong"
                                     : "";
        if (!what.empty()) {
            out += report::paragraph(fmt::format("{:<{}}  ", step.id, widest_id(r.steps)), what, look.width);
        }
    }
    return out.empty() ? out : "\n" + out;
}

// A column of numbers, as against names and bars: no cell begins otherwise.
bool numeric(const ladder::extra_table& t, std::size_t column) {
    return std::all_of(t.rows.begin(), t.rows.end(), [&](const auto& row) {
        return column >= row.size() || row[column].empty() ||
               std::string_view("0123456789+-–.").find(row[column].front()) != std::string_view::npos ||
               row[column] == none;
    });
}

std::string text_of(const ladder::extra_table& t, const style& look) {
    std::vector<report::column> heads;
    for (const std::string& head : t.head) {
        heads.push_back({head, numeric(t, heads.size()) ? align::right : align::left});
    }
    report::table table(std::move(heads));
    for (const auto& row : t.rows) {
        std::vector<cell> cells;
        cells.reserve(row.size());
        for (const std::string& text : row) {
            cells.push_back({text});
        }
        table.add_row(std::move(cells));
    }
    return "\n" + report::paragraph("", t.title, look.width) + table.text(look);
}

} // namespace

cell result_cell(const step_result& step) {
    if (!step.skipped.empty()) {
        return {"skipped", tone::faint};
    }
    if (!step.as_expected()) {
        return {!step.error.empty() ? "FAILED" : step.correct ? "RIGHT?" : "WRONG", tone::bad};
    }
    switch (step.expected) {
    case ladder::outcome::wrong: return {"wrong, as expected", tone::good};
    case ladder::outcome::by_luck: return {step.correct ? "right by luck" : "wrong, as expected", tone::faint};
    case ladder::outcome::right: break;
    }
    return {"right", tone::good};
}

std::string device_lines(const ladder::device_description& d, const style& look) {
    std::string device = fmt::format("{}, compute capability {}.{}, {} multiprocessors", d.name, d.compute_major,
                                     d.compute_minor, d.multiprocessors);
    if (d.software) {
        device += "; no GPU: kernels run on the host's cores; events are counted, not timed";
    } else {
        device += d.driver.empty() ? "" : fmt::format(", driver {}", d.driver);
        device += d.runtime.empty() ? "" : fmt::format(", runtime {}", d.runtime);
    }
    std::string out = report::paragraph("", "Device: " + device, look.width);
    if (d.read_gb_per_s || d.copy_gb_per_s) {
        out +=
            report::paragraph("",
                              fmt::format("Ceilings measured in this run: read {} GB/s, copy {} GB/s (read + written)",
                                          rounded(d.read_gb_per_s, 4), rounded(d.copy_gb_per_s, 4)),
                              look.width);
    }
    return out;
}

ladder_tally tally_of(const ladder_report& r) {
    ladder_tally all;
    for (const auto& step : r.steps) {
        ++all.steps;
        all.claims += tally_of(step.claims);
        if (!step.skipped.empty()) {
            ++all.skipped;
        } else if (!step.as_expected()) {
            all.unexpected += (all.unexpected.empty() ? "" : ", ") + step.id;
        } else {
            ++(step.expected == ladder::outcome::right ? all.right : all.faulty_as_expected);
        }
    }
    return all;
}

std::string text_of(const ladder_report& r, detail shown, const style& look) {
    const columns all = columns_of(r);
    std::string out = report::paragraph("", problem_in_words(r), look.width) + device_lines(r.device, look) + "\n" +
                      main_table(r, all, look) + differences(r, look) + predictions_text(r, look) +
                      timelines_of(r, look);
    for (const auto& table : r.tables) {
        out += text_of(table, look);
    }
    if (shown == detail::table) {
        return out;
    }
    out += legend(all, look);
    if (!r.device.software && r.takes.finish && r.request.parameters.finish_on == ladder::finish::host) {
        out +=
            report::paragraph("  ", "No time includes the host's part: the copy and the last additions.", look.width);
    }
    return out +
           (shown == detail::claims ? all_claims(r.steps, look) : step_lines(r.steps, shown == detail::tally, look));
}

std::string text_of(const std::vector<ladder::step_description>& steps, const style& look) {
    report::table table(
        {{"step", align::left}, {"title", align::left, true}, {"source", align::left}, {"lecture", align::left, true}});
    for (std::size_t k = 0; k < steps.size(); ++k) {
        if (k > 0 && steps[k].peer && !steps[k - 1].peer) {
            table.add_rule();
        }
        table.add_row({{steps[k].id}, {steps[k].title}, {steps[k].source}, {steps[k].lecture}});
    }
    return table.text(look);
}

} // namespace warpfold::tool
