// SPDX-License-Identifier: MIT
// The explanation of a step as text for people.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

#include <fmt/format.h>

#include "report/number.hpp"
#include "report/text.hpp"
#include "tool/explain/explanation.hpp"
#include "tool/ladder/claims_text.hpp"
#include "tool/ladder/ladder_table.hpp"

namespace warpfold::tool {
namespace {

using report::count_or_blank;
using report::quotient;
using report::style;
using report::tone;
using softgpu::observe::point_counts;

constexpr double hot_share = 0.1;
constexpr std::size_t least_room = 40; // columns of source

struct column {
    const char* name;
    const char* meaning;
    std::string (*text)(const point_counts& c);
};

constexpr column columns[] = {
    {"instr", "PTX instructions, counted once a warp",
     [](const point_counts& p) { return count_or_blank(p.counts.warp_instructions); }},
    {"lanes", "threads of a warp that executed them, on average",
     [](const point_counts& p) {
         return quotient(p.counts.thread_instructions - p.guarded_off, p.counts.warp_instructions);
     }},
    {"read", "32-byte sectors of global memory that loads touched",
     [](const point_counts& p) { return count_or_blank(p.counts.global_load_sectors); }},
    {"written", "the same of stores",
     [](const point_counts& p) { return count_or_blank(p.counts.global_store_sectors); }},
    {"sect/rq", "sectors for each of these loads and stores of a warp",
     [](const point_counts& p) {
         return quotient(p.counts.global_load_sectors + p.counts.global_store_sectors,
                         p.counts.global_load_requests + p.counts.global_store_requests);
     }},
    {"atomic", "sectors of atomics on global memory, each as often as the most lanes that met at one address of it",
     [](const point_counts& p) { return count_or_blank(p.counts.atomic_sectors); }},
    {"local", "sectors of local memory",
     [](const point_counts& p) { return count_or_blank(p.counts.local_load_sectors + p.counts.local_store_sectors); }},
    {"conflct", "passes through shared memory that only bank conflicts made necessary",
     [](const point_counts& p) {
         return count_or_blank(p.counts.shared_load_bank_conflicts + p.counts.shared_store_bank_conflicts +
                               p.counts.shared_atomic_bank_conflicts);
     }},
    {"diverge", "branches that lanes of a warp left in two directions",
     [](const point_counts& p) { return count_or_blank(p.counts.divergent_branches); }},
};

class writer {
public:
    writer(const explanation& e, const style& look) : e_(e), look_(look) {
        for (const column& c : columns) {
            if (!c.text(e.profile.all).empty()) {
                columns_.push_back(&c);
            }
        }
    }

    std::string text() {
        title();
        launches();
        bounds();
        for (const predicted_step& step : e_.predicted) {
            out_ += text_of(step, e_.profile, look_);
        }
        listing();
        claims();
        if (e_.next) {
            next();
        }
        return std::move(out_);
    }

private:
    void title() {
        const auto& s = e_.step;
        std::string head = fmt::format("{} – {}", s.title, s.source);
        head += s.lecture.empty() ? "" : fmt::format(" ({})", s.lecture);
        out_ += report::paragraph(fmt::format("{}/{}  ", e_.ladder, s.id), head, look_.width);
        out_ += s.idea.empty() ? "" : report::paragraph("    ", s.idea, look_.width);
        out_ += s.lesson.empty() ? "" : report::paragraph("    ! ", s.lesson, look_.width);
        out_ += "\n" + device_lines(e_.device, look_);
        const report::cell verdict = result_cell(s);
        std::string result = fmt::format("{}; n = {}: {}", e_.data, report::group_digits(s.n), verdict.text);
        const std::string why = !s.skipped.empty() ? s.skipped : !s.error.empty() ? s.error : s.difference;
        result += why.empty() ? "" : ", " + why;
        out_ += report::paragraph("", result, look_.width);
    }

    static std::string shape(const std::array<std::uint32_t, 3>& d) {
        return d[2] != 1   ? fmt::format("{} x {} x {}", d[0], d[1], d[2])
               : d[1] != 1 ? fmt::format("{} x {}", d[0], d[1])
                           : report::group_digits(d[0]);
    }

    void launches() {
        if (e_.profile.launches.empty()) {
            return;
        }
        constexpr std::size_t most = 12;
        out_ += "\nWhat is launched\n";
        std::size_t shown = 0;
        for (const auto& launch : e_.profile.launches) {
            if (++shown > most) {
                out_ += fmt::format("  ... and {} more\n", e_.profile.launches.size() - most);
                break;
            }
            const std::uint64_t shared = launch.dynamic_shared_bytes + launch.static_shared_bytes;
            out_ +=
                report::paragraph("  ",
                                  fmt::format("{}: {} block{} of {} thread{}{}", report::printable(launch.kernel),
                                              shape(launch.grid), shape(launch.grid) == "1" ? "" : "s",
                                              shape(launch.block), shape(launch.block) == "1" ? "" : "s",
                                              shared == 0 ? "" : fmt::format(", {} bytes of shared memory", shared)),
                                  look_.width);
        }
    }

    void bounds() {
        const auto& all = e_.bounds.all;
        if (all.empty()) {
            return;
        }
        out_ += "\n" + report::paragraph("",
                                         fmt::format("What bounds it on {}, at n = {}: {}. The least time of each "
                                                     "resource for what was counted, if the others took none:",
                                                     e_.bounds.card, report::group_digits(e_.bounds.n),
                                                     name_of(all.front().of)),
                                         look_.width);
        for (const bound& b : all) {
            out_ += report::paragraph(
                fmt::format("  {:>9} µs  {:<24}  ", report::figure(b.seconds * 1e6, 3), name_of(b.of)), b.figure,
                look_.width);
        }
        out_ += text_of(e_.costly, "it", look_);
    }

    // "  >  17   100  32.0 ...  " with as many figures as there are columns.
    [[nodiscard]] std::string figures(const std::string& mark, const std::string& number,
                                      const std::function<std::string(const column&)>& text,
                                      const std::vector<std::string>& shares) const {
        std::string line = fmt::format("{:>1} {:>5} ", mark, number);
        for (const column* const c : columns_) {
            line += fmt::format("{:>7} ", text(*c));
        }
        for (const std::string& share : shares) {
            line += fmt::format("{:>7} ", share);
        }
        return line + " ";
    }

    [[nodiscard]] std::vector<std::string> cards() const {
        std::vector<std::string> names;
        for (const predicted_step& step : e_.predicted) {
            names.push_back(step.sum.card);
        }
        return names;
    }

    // Of each card's bound, the part that the line has; empty where it has none.
    [[nodiscard]] std::vector<std::string> shares_of(const point_counts* line) const {
        std::vector<std::string> shares;
        for (const predicted_step& step : e_.predicted) {
            const double share = line == nullptr ? 0 : share_of(step, e_.profile, line->counts);
            shares.push_back(share > 0 ? fmt::format("{:.0f} %", 100 * share) : "");
        }
        return shares;
    }

    // A row, its text on as many lines as it takes.
    void row(const std::string& front, const std::string& text, tone as) {
        const std::size_t indent = report::display_width(front);
        const std::size_t room = std::max(least_room, look_.width > indent ? look_.width - indent : 0);
        const std::size_t inside = std::min(text.find_first_not_of(' '), room / 2);
        std::string rest = text;
        std::string line = front;
        for (bool first = true; first || !rest.empty(); first = false) {
            const std::size_t width = first ? room : room - inside - 4;
            std::string piece = first ? "" : std::string(indent + inside + 4, ' ');
            if (report::display_width(rest) <= width) {
                piece += rest;
                rest.clear();
            } else {
                // The last blank that leaves the line short enough, and never within the text's own indentation.
                std::size_t cut = std::min(width, rest.size());
                while (cut > 0 && report::display_width(std::string_view(rest).substr(0, cut)) > width) {
                    --cut;
                }
                const std::size_t blank = rest.rfind(' ', cut);
                cut = blank == std::string::npos || blank <= (first ? inside : 0) ? cut : blank;
                while (cut < rest.size() && cut > 0 && (static_cast<unsigned char>(rest[cut]) & 0xC0) == 0x80) {
                    --cut;
                }
                piece += rest.substr(0, cut);
                rest.erase(0, std::min(rest.find_first_not_of(' ', cut), rest.size()));
            }
            line += piece;
            line.erase(line.find_last_not_of(' ') + 1);
            out_ += report::coloured(line, as, look_) + "\n";
            line.clear();
        }
    }

    void rule() {
        std::string line = figures(
                               "", "line", [](const column& c) { return std::string(c.name); }, cards()) +
                           "source";
        out_ += line + "\n";
    }

    static std::string expanded(std::string text) {
        for (std::size_t at = 0; (at = text.find('\t', at)) != std::string::npos;) {
            text.replace(at, 1, "    ");
        }
        return report::printable(text);
    }

    void listing() {
        for (const shown_file& file : e_.files) {
            out_ += "\n" + report::paragraph("", file.path, look_.width);
            const auto counted = e_.profile.lines.find(file.path);
            rule();
            line_number last = 0;
            for (std::size_t k = 0; k < file.lines.size(); ++k) {
                const shown_line& line = file.lines[k];
                if (last != 0 && line.number > last + 1) {
                    out_ += figures(
                                "", "...", [](const column&) { return std::string(); }, shares_of(nullptr))
                                .erase(7) +
                            "\n";
                }
                last = line.number;
                if (line.host) {
                    while (k + 1 < file.lines.size() && file.lines[k + 1].host &&
                           file.lines[k + 1].number == last + 1) {
                        last = file.lines[++k].number;
                    }
                    row(figures(
                            "", "...", [](const column&) { return std::string(); }, shares_of(nullptr)),
                        fmt::format("host code: lines {} to {} (--whole shows them)", line.number, last), tone::faint);
                    continue;
                }
                const point_counts* did = nullptr;
                if (counted != e_.profile.lines.end()) {
                    const auto at = counted->second.find(line.number);
                    did = at == counted->second.end() ? nullptr : &at->second;
                }
                source_row(line, did);
            }
        }
        if (!e_.note.empty()) {
            out_ += "\n" + report::paragraph("", e_.note, look_.width);
        }
        if (e_.profile.all.counts.warp_instructions == 0) {
            return;
        }
        out_ += "\n";
        const auto sum = [&](const point_counts& p, const char* what) {
            row(figures(
                    "", "", [&](const column& c) { return c.text(p); }, shares_of(&p)),
                what, tone::plain);
        };
        if (e_.profile.elsewhere.counts.warp_instructions != 0) {
            sum(e_.profile.elsewhere, "in no line of these files");
        }
        sum(e_.profile.all, "in all");
        out_ += "\n";
        for (const column* const c : columns_) {
            out_ += report::paragraph(fmt::format("  {}: ", c->name), c->meaning, look_.width);
        }
        for (const predicted_step& step : e_.predicted) {
            const std::string what = step.cost.of ? fmt::format("the part that the line has of {} in the model, by {}",
                                                                step.ranked_by, step.cost.unit)
                                                  : "no line has a part in what bounds the step in the model";
            out_ += report::paragraph(fmt::format("  {}: ", step.sum.card), what, look_.width);
        }
        out_ += "  A line that holds a tenth of the instructions or more is marked >.\n";
    }

    void source_row(const shown_line& line, const point_counts* did) {
        const bool hot = did != nullptr && static_cast<double>(did->counts.warp_instructions) >=
                                               hot_share * static_cast<double>(e_.profile.all.counts.warp_instructions);
        row(figures(
                hot ? ">" : "", std::to_string(line.number),
                [&](const column& c) { return did == nullptr ? std::string() : c.text(*did); }, shares_of(did)),
            expanded(line.text),
            hot              ? tone::bad
            : did == nullptr ? tone::faint
                             : tone::plain);
    }

    void claims() {
        if (e_.step.claims.empty()) {
            out_ += "\nThe lectures claim nothing of it.\n";
            return;
        }
        out_ += fmt::format("\nWhat is claimed of it: {}\n", in_words(tally_of(e_.step.claims)));
        for (const auto& claim : e_.step.claims) {
            out_ += claim_text(claim, 2, look_);
        }
    }

    void next() {
        const next_step& next = *e_.next;
        out_ += "\n" + report::paragraph("",
                                         fmt::format("What step {} changes: {} – {}", next.about.id, next.about.title,
                                                     next.about.idea),
                                         look_.width);
        if (!next.note.empty()) {
            out_ += report::paragraph("  ", next.note, look_.width);
        }
        if (!next.source.empty()) {
            out_ += "\n";
            difference(next);
        }
        figures_of(next);
        std::string more = fmt::format("warpfold explain '{}/{}'", e_.ladder, next.about.id);
        for (const std::string& other : e_.others) {
            more += fmt::format(", and beside it '{}/{}'", e_.ladder, other);
        }
        out_ += "\n" + report::paragraph("Next: ", more, look_.width);
    }

    void difference(const next_step& next) {
        out_ += report::coloured(fmt::format("--- {}", e_.step.source), tone::bad, look_) + "\n";
        out_ += report::coloured(fmt::format("+++ {}", next.about.source), tone::good, look_) + "\n";
        for (const changed_line& line : next.source) {
            if (line.opens_hunk) {
                out_ += report::coloured(fmt::format("@@ {} @@", line.place), tone::faint, look_) + "\n";
            }
            const char mark = line.what == change::removed ? '-' : line.what == change::added ? '+' : ' ';
            std::string text = mark + expanded(line.text);
            text.erase(text.find_last_not_of(' ') + 1);
            out_ += report::coloured(text,
                                     line.what == change::removed ? tone::bad
                                     : line.what == change::added ? tone::good
                                                                  : tone::plain,
                                     look_) +
                    "\n";
        }
    }

    void figures_of(const next_step& next) {
        if (next.counters.empty()) {
            const bool counted = !e_.profile.launches.empty() && !next.profile.launches.empty();
            out_ += counted ? "\nTheir counters are equal.\n" : "\nThere are no counters of both to compare.\n";
            return;
        }
        report::table table(
            {{"counter", report::align::left}, {"step " + e_.step.id}, {"step " + next.about.id}, {"ratio"}});
        for (const changed_counter& c : next.counters) {
            table.add_row({{c.name},
                           {report::group_digits(c.here)},
                           {report::group_digits(c.next)},
                           {c.ratio ? report::figure(*c.ratio) : "–"}});
        }
        out_ += "\n";
        if (e_.profile.n != next.profile.n) {
            out_ +=
                report::paragraph("",
                                  fmt::format("Step {} ran on {} elements, step {} on {}: the ratios are those of the "
                                              "counters for each element.",
                                              e_.step.id, report::group_digits(e_.profile.n), next.about.id,
                                              report::group_digits(next.profile.n)),
                                  look_.width);
        }
        out_ += table.text(look_);
    }

    const explanation& e_;
    const style& look_;
    std::vector<const column*> columns_;
    std::string out_;
};

} // namespace

std::string text_of(const explanation& e, const style& look) { return writer(e, look).text(); }

} // namespace warpfold::tool
