// SPDX-License-Identifier: MIT
#include "tool/report/results.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ladder/reduce/definition/published.hpp"
#include "tool/report/page.hpp"

namespace warpfold::tool {
namespace {

using report::json;

constexpr std::string_view results = "docs/results/ladders/";

// The number that the text begins with: "4,257 GB/s".
std::optional<double> leading_number(std::string_view text) {
    std::string digits;
    for (const char c : text) {
        if ((c < '0' || c > '9') && c != '.' && c != ',') {
            break;
        }
        digits += c == ',' ? "" : std::string(1, c);
    }
    double value = 0;
    const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return wrong == std::errc{} ? std::optional(value) : std::nullopt;
}

std::optional<double> number_after(std::string_view text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    return at == std::string_view::npos ? std::nullopt : leading_number(text.substr(at + mark.size()));
}

json whole(const std::optional<double>& value) {
    return value ? json(static_cast<std::uint64_t>(*value)) : json(nullptr);
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(end + 1);
    }
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string_view> cells_of(std::string_view line) {
    std::vector<std::string_view> cells = split(line.substr(1, line.rfind('|') - 1), '|');
    std::transform(cells.begin(), cells.end(), cells.begin(), trimmed);
    return cells;
}

// What follows the word, up to the end of its line.
std::string_view rest_of_line(std::string_view text, std::string_view word) {
    const std::size_t at = text.find(word);
    return at == std::string_view::npos ? std::string_view() : split(text.substr(at + word.size()), '\n').front();
}

json step_of(const std::vector<std::string_view>& head, const std::vector<std::string_view>& cells, const json& n) {
    const auto cell = [&](std::string_view name) -> std::optional<double> {
        const auto at = static_cast<std::size_t>(std::find(head.begin(), head.end(), name) - head.begin());
        return at < cells.size() ? leading_number(cells[at]) : std::nullopt;
    };
    const auto time = cell("cold, µs");
    if (!time || cells.empty()) {
        return nullptr;
    }
    json step;
    step["id"] = cells.front();
    step["n"] = n.is_null() ? whole(cell("n")) : n;
    step["time_us"] = *time;
    step["gb_per_s"] = report::number(cell("GB/s"));
    return step;
}

// The section's first table of steps. `text` begins behind "## ".
json run_of(std::string_view text) {
    const std::vector<std::string_view> lines = split(text, '\n');
    const std::string_view heading = lines.front();
    const bool reductions = heading.starts_with("n = ");
    json run;
    run["ladder"] = reductions ? "reduce" : heading;
    run["n"] = reductions ? whole(number_after(heading, "(")) : json(nullptr);
    run["block"] = reductions ? whole(number_after(heading, "block ")) : json(nullptr);
    run["ceiling"] = reductions ? "read" : "copy";
    run["ceiling_gb_per_s"] = report::number(number_after(text, reductions ? " read " : "Copy ceiling of the run: "));
    run["steps"] = json::array();
    auto line = std::find_if(lines.begin(), lines.end(), [](auto l) { return l.starts_with("| step |"); });
    if (line == lines.end()) {
        return run;
    }
    const auto head = cells_of(*line);
    for (line += 2; line < lines.end() && line->starts_with("|"); ++line) {
        if (json step = step_of(head, cells_of(*line), run["n"]); !step.is_null()) {
            run["steps"].push_back(std::move(step));
        }
    }
    return run;
}

template <std::size_t count>
json published(const char* device, const char* lecture, std::uint64_t n, unsigned block,
               const std::array<double, count>& times, double microseconds) {
    json out{{"device", device}, {"lecture", lecture}, {"n", n}, {"block", block}, {"time_us", json::object()}};
    for (std::size_t k = 0; k < count; ++k) {
        out["time_us"][std::to_string(k + 1)] = times[k] * microseconds;
    }
    return out;
}

} // namespace

json times_of_page(std::string_view source, std::string_view markdown) {
    json out = json::array();
    std::string_view card = rest_of_line(markdown, " on ");
    card.remove_prefix(card.starts_with("an ") ? 3 : 0);
    std::string_view date = rest_of_line(markdown, "Taken ");
    date.remove_prefix(date.starts_with("on ") ? 3 : 0);
    for (std::size_t at = 0; (at = markdown.find("\n## ", at)) != std::string_view::npos;) {
        at += 4;
        json run = run_of(markdown.substr(at, markdown.find("\n## ", at) - at));
        if (!run["steps"].empty()) {
            json whole_run{{"source", source}, {"card", card}, {"date", date.substr(0, 10)}};
            whole_run.update(run);
            out.push_back(std::move(whole_run));
        }
    }
    return out;
}

json measured_times(std::string_view ladder) {
    json out = json::array();
    for (const ladder::source_file& file : report_files()) {
        if (file.path.starts_with(results) && file.path.ends_with(".md")) {
            for (const json& run : times_of_page(file.path, file.text)) {
                if (run["ladder"].get<std::string>() == ladder) {
                    out.push_back(run);
                }
            }
        }
    }
    return out;
}

json measured_verdicts(std::string_view ladder) {
    json out = json::array();
    for (const ladder::source_file& file : report_files()) {
        if (!file.path.starts_with(results) || !file.path.ends_with(".json")) {
            continue;
        }
        const json document = json::parse(file.text);
        json of_card{{"card", document.at("card")}, {"date", document.at("date")}, {"verdicts", json::array()}};
        for (const json& verdict : document.at("verdicts")) {
            if (verdict.at("step").get<std::string>().starts_with(std::string(ladder) + "/")) {
                of_card["verdicts"].push_back(verdict);
            }
        }
        if (!of_card["verdicts"].empty()) {
            out.push_back(std::move(of_card));
        }
    }
    return out;
}

json published_times() {
    namespace figures = ladder::reduce::published;
    return json::array({published("G80", "759, Performance for 4M element reduction", std::uint64_t{1} << 22, 128,
                                  figures::g80_ms, 1e3),
                        published("Tesla K40m", "Kharagpur, Reduction 7: Analysis", std::uint64_t{1} << 26, 1024,
                                  figures::k40m_s, 1e6)});
}

} // namespace warpfold::tool
