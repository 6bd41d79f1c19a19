// SPDX-License-Identifier: MIT
#include "tool/explain/annotation.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/number.hpp"
#include "report/text.hpp"
#include "tool/error.hpp"
#include "tool/explain/source/source_parts.hpp"

namespace warpfold::tool {
namespace {

using report::count_or_blank;
using report::quotient;
using report::short_count;
using report::tone;
using softgpu::observe::counters;
using softgpu::observe::point_counts;
using softgpu::observe::source_place;

constexpr double hot_share = 0.1;
constexpr std::uint32_t context = 1; // lines around those that do something
constexpr std::size_t summary_lines = 3;

// What a line or an instruction did.
struct figures {
    point_counts sum;
    std::uint64_t ideal_sectors = 0;

    void add(const point_counts& c) {
        sum.add(c);
        ideal_sectors +=
            least_sectors(c.counts.global_load_requests, c.counts.global_load_sectors, c.counts.global_load_bytes) +
            least_sectors(c.counts.global_store_requests, c.counts.global_store_sectors, c.counts.global_store_bytes);
    }
    [[nodiscard]] std::uint64_t requests() const {
        return sum.counts.global_load_requests + sum.counts.global_store_requests;
    }
    [[nodiscard]] std::uint64_t sectors() const {
        return sum.counts.global_load_sectors + sum.counts.global_store_sectors;
    }
    [[nodiscard]] std::uint64_t wasted_sectors() const { return sectors() - ideal_sectors; }
    [[nodiscard]] std::uint64_t conflicts() const {
        return sum.counts.shared_load_bank_conflicts + sum.counts.shared_store_bank_conflicts +
               sum.counts.shared_atomic_bank_conflicts;
    }
    [[nodiscard]] std::uint64_t executed_lanes() const { return sum.counts.thread_instructions - sum.guarded_off; }
    [[nodiscard]] std::uint64_t idle_lanes() const { return 32 * sum.counts.warp_instructions - executed_lanes(); }
    [[nodiscard]] double lanes() const {
        return sum.counts.warp_instructions == 0
                   ? 0.0
                   : static_cast<double>(executed_lanes()) / static_cast<double>(sum.counts.warp_instructions);
    }

private:
    // As many as the bytes fill, and one a request; lanes that ask for the same need no more than there were.
    static std::uint64_t least_sectors(std::uint64_t requests, std::uint64_t sectors, std::uint64_t bytes) {
        return std::min(sectors, std::max(requests, (bytes + 31) / 32));
    }
};

using place = std::pair<std::string, std::uint32_t>; // file and line; line 0: not known

struct line_profile {
    figures did;
    std::vector<std::size_t> points;
    std::set<place> called_from; // where its code was inlined
};

using profile_by_line = std::map<place, line_profile>;

profile_by_line by_line(const profile_kernel& kernel, bool outermost) {
    profile_by_line lines;
    for (std::size_t n = 0; n < kernel.points.size(); ++n) {
        const std::vector<source_place>& at = kernel.points[n].at;
        const source_place* const here = at.empty() ? nullptr : outermost ? &at.back() : &at.front();
        line_profile& line = lines[here == nullptr ? place{} : place(here->file, here->line)];
        line.did.add(kernel.counts[n]);
        line.points.push_back(n);
        if (!outermost && at.size() > 1) {
            line.called_from.emplace(at[1].file, at[1].line);
        }
    }
    return lines;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? std::string()
                      : fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// At most `width` columns of a foreign text, in one line.
std::string clipped(std::string text, std::size_t width) {
    for (std::size_t at = 0; (at = text.find('\t', at)) != std::string::npos;) {
        text.replace(at, 1, "    ");
    }
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) {
        text.pop_back();
    }
    text = report::printable(text);
    if (report::display_width(text) <= width) {
        return text;
    }
    while (!text.empty() && report::display_width(text) + 1 > width) {
        do {
            text.pop_back();
        } while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80);
        if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0xC0) {
            text.pop_back();
        }
    }
    return text + "…";
}

std::string place_text(const place& p) {
    return p.second == 0 ? "(no line)" : fmt::format("{}:{}", report::printable(base_name(p.first)), p.second);
}

constexpr const char* columns = "{:>1} {:>6}  {:>7} {:>5}  {:>7} {:>5}  {:>7}  {:>7}  {}";

std::string head() {
    return fmt::format(columns, "", "line", "instr", "lanes", "sect/rq", "ideal", "conflct", "diverge", "source") +
           "\n";
}

std::string row(const std::string& mark, const std::string& number, const figures& f, const std::string& text) {
    const counters& c = f.sum.counts;
    const bool any = c.warp_instructions != 0;
    std::string line = fmt::format(columns, mark, number, any ? short_count(c.warp_instructions) : "",
                                   any ? fmt::format("{:.1f}", f.lanes()) : "", quotient(f.sectors(), f.requests()),
                                   quotient(f.ideal_sectors, f.requests()), count_or_blank(f.conflicts()),
                                   count_or_blank(c.divergent_branches), text);
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

class writer {
public:
    writer(const profile_kernel& kernel, source_lines& sources, const annotation_options& options)
        : kernel_(kernel), sources_(sources), options_(options), lines_(by_line(kernel, options.outermost)) {
        for (const point_counts& c : kernel.counts) {
            all_.add(c);
        }
    }

    std::string text() {
        title();
        if (all_.sum.counts.warp_instructions == 0) {
            out_ += "It executed nothing.\n";
            return std::move(out_);
        }
        if (options_.sort) {
            sorted();
        } else {
            listing();
        }
        summary();
        return std::move(out_);
    }

private:
    [[nodiscard]] std::size_t room() const { return width_ - 58; }

    void title() {
        out_ += report::paragraph("", report::printable(kernel_.name), options_.look.width);
        const counters& c = all_.sum.counts;
        out_ += fmt::format("{} launch{}, {} warp instructions, {:.1f} of 32 lanes on average\n", kernel_.launches,
                            kernel_.launches == 1 ? "" : "es", report::group_digits(c.warp_instructions), all_.lanes());
    }

    [[nodiscard]] bool is_hot(const figures& f) const {
        return static_cast<double>(f.sum.counts.warp_instructions) >=
               hot_share * static_cast<double>(all_.sum.counts.warp_instructions);
    }

    std::string source(const place& p, std::size_t width) {
        const std::string* const line = p.second == 0 ? nullptr : sources_.line(p.first, p.second);
        return line == nullptr ? std::string() : clipped(*line, width);
    }

    void instructions(const line_profile& line) {
        for (const std::size_t n : line.points) {
            figures f;
            f.add(kernel_.counts[n]);
            const std::string in =
                kernel_.points[n].function == kernel_.name ? "" : "  // in " + kernel_.points[n].function;
            out_ += report::coloured(row("", "", f, "    " + clipped(kernel_.points[n].ptx + in, room() - 4)),
                                     tone::faint, options_.look);
        }
    }

    void source_row(const place& p, const line_profile* line) {
        const std::string number = p.second == 0 ? "" : std::to_string(p.second);
        if (line == nullptr) {
            out_ += report::coloured(row("", number, {}, source(p, room())), tone::faint, options_.look);
            return;
        }
        std::string note;
        if (!line->called_from.empty()) {
            note = "  // in " + place_text(*line->called_from.begin());
            if (line->called_from.size() > 1) {
                note += fmt::format(" and {} more", line->called_from.size() - 1);
            }
            note = clipped(note, room() / 2);
        }
        std::string text = source(p, room() - report::display_width(note));
        if (p.second == 0) {
            text = "(code of no source line)";
        } else if (sources_.line(p.first, p.second) == nullptr) {
            text = "(source not at hand)";
        }
        text += note;
        const bool hot = is_hot(line->did);
        out_ += report::coloured(row(hot ? ">" : "", number, line->did, text), hot ? tone::bad : tone::plain,
                                 options_.look);
        if (options_.ptx || p.second == 0) {
            instructions(*line);
        }
    }

    // File by file, each line that does something with its neighbours.
    void listing() {
        std::string file;
        std::uint32_t last = 0;
        bool first_of_all = true;
        for (auto l = lines_.begin(); l != lines_.end(); ++l) {
            const auto& [path, number] = l->first;
            if (l->second.did.sum.counts.warp_instructions == 0 && !options_.ptx) {
                continue;
            }
            if (first_of_all || path != file) {
                out_ += "\n";
                out_ += path.empty() ? std::string("PTX that names no source line\n")
                                     : report::paragraph("", report::printable(path), options_.look.width);
                out_ += head();
                file = path;
                last = 0;
                first_of_all = false;
            }
            if (number != 0) {
                const std::uint32_t from = std::max(number - std::min(number - 1, context), last + 1);
                if (last != 0 && from > last + 1) {
                    out_ += fmt::format(columns, "", "...", "", "", "", "", "", "", "");
                    out_.erase(out_.find_last_not_of(' ') + 1);
                    out_ += "\n";
                }
                for (std::uint32_t n = from; n < number; ++n) {
                    neighbour({path, n});
                }
            }
            source_row(l->first, &l->second);
            last = number;
            const auto next = std::next(l);
            for (std::uint32_t n = number + 1; number != 0 && n <= number + context; ++n) {
                if (next != lines_.end() && next->first.first == path && next->first.second <= n) {
                    break;
                }
                neighbour({path, n});
                last = n;
            }
        }
    }

    void neighbour(const place& p) {
        if (sources_.line(p.first, p.second) != nullptr) {
            source_row(p, nullptr);
        }
    }

    static std::uint64_t value_of(const counters& c, const std::string& name) {
        std::uint64_t value = 0;
        bool found = false;
        std::string names;
        softgpu::observe::for_each_counter(c, [&](std::string_view each, std::uint64_t v, std::string_view) {
            value = each == name ? v : value;
            found = found || each == name;
            names += (names.empty() ? "" : ", ") + std::string(each);
        });
        if (!found) {
            throw usage_error(
                fmt::format("--sort: there is no counter '{}'; there are {}", report::printable(name), names));
        }
        return value;
    }

    void sorted() {
        const std::string& by = *options_.sort;
        const std::uint64_t whole = value_of(all_.sum.counts, by);
        std::vector<profile_by_line::const_iterator> order;
        for (auto l = lines_.cbegin(); l != lines_.cend(); ++l) {
            if (value_of(l->second.did.sum.counts, by) != 0) {
                order.push_back(l);
            }
        }
        std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
            return value_of(a->second.did.sum.counts, by) > value_of(b->second.did.sum.counts, by);
        });
        out_ += fmt::format("\n{}: {}\n", by, report::group_digits(whole));
        for (const auto& l : order) {
            const std::uint64_t value = value_of(l->second.did.sum.counts, by);
            ranked(l->first, value, whole);
            if (options_.ptx || l->first.second == 0) {
                instructions(l->second);
            }
        }
    }

    void ranked(const place& p, std::uint64_t value, std::uint64_t whole) {
        const std::string line =
            fmt::format("{:>10} {:>6}  {:<28} ", short_count(value), percent(value, whole), place_text(p));
        std::string text = line + source(p, width_ - std::min<std::size_t>(report::display_width(line), 80));
        text.erase(text.find_last_not_of(' ') + 1);
        out_ += text + "\n";
    }

    template <class Value>
    void worst(const std::string& what, Value value) {
        const std::uint64_t whole = value(all_);
        if (whole == 0) {
            return;
        }
        std::vector<std::pair<std::uint64_t, place>> found;
        for (const auto& [p, line] : lines_) {
            if (const std::uint64_t v = value(line.did); v != 0) {
                found.emplace_back(v, p);
            }
        }
        std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        out_ += "\n" + what + "\n";
        for (std::size_t n = 0; n < std::min(found.size(), summary_lines); ++n) {
            ranked(found[n].second, found[n].first, whole);
        }
    }

    void summary() {
        const counters& c = all_.sum.counts;
        const std::uint64_t passes = c.shared_load_wavefronts + c.shared_store_wavefronts + c.shared_atomic_wavefronts;
        worst(fmt::format("Bank conflicts: {} of the {} passes through shared memory", short_count(all_.conflicts()),
                          short_count(passes)),
              [](const figures& f) { return f.conflicts(); });
        worst(fmt::format("Sectors more than their bytes need: {} of {} in global memory",
                          short_count(all_.wasted_sectors()), short_count(all_.sectors())),
              [](const figures& f) { return f.wasted_sectors(); });
        worst(fmt::format("Branches that lanes of a warp left in two directions: {} of {}",
                          short_count(c.divergent_branches), short_count(c.branches)),
              [](const figures& f) { return f.sum.counts.divergent_branches; });
        worst(fmt::format("Lanes that executed nothing: {} of {}", short_count(all_.idle_lanes()),
                          short_count(32 * c.warp_instructions)),
              [](const figures& f) { return f.idle_lanes(); });
    }

    const profile_kernel& kernel_;
    source_lines& sources_;
    const annotation_options& options_;
    const std::size_t width_ = std::max<std::size_t>(options_.look.width, 80); // that the counters' columns need
    const profile_by_line lines_;
    figures all_;
    std::string out_;
};

} // namespace

std::string annotated(const profile_kernel& kernel, source_lines& sources, const annotation_options& options) {
    return writer(kernel, sources, options).text();
}

} // namespace warpfold::tool
