// SPDX-License-Identifier: MIT
// What the tables of all ladders have in common: figures, claims, the device, legends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ladder/report.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
#include "tool/ladder/step_figures.hpp"

namespace warpfold::tool {

inline constexpr const char* none = "–";

[[nodiscard]] std::string figure_or_none(const std::optional<double>& value, int digits = 3);
[[nodiscard]] std::string fixed_or_none(const std::optional<double>& value, int decimals);
[[nodiscard]] std::string percent_or_none(const std::optional<double>& value);

// The columns of what is counted on the software GPU, and a step's cells in them.
[[nodiscard]] std::vector<report::column> event_columns();
[[nodiscard]] std::vector<report::cell> event_cells(const step_figures& f);
// "12.3–13.1": where nine of ten samples lie, in microseconds.
[[nodiscard]] std::string spread(const ladder::timing& timing);

// Appends the elements of `more` to those of `list`.
template <class T>
[[nodiscard]] std::vector<T> joined(std::vector<T> list, const std::vector<T>& more) {
    list.insert(list.end(), more.begin(), more.end());
    return list;
}

// Columns that the longest id takes.
template <class Steps>
[[nodiscard]] std::size_t widest_id(const Steps& steps) {
    std::size_t widest = 0;
    for (const auto& step : steps) {
        widest = std::max(widest, report::display_width(step.id));
    }
    return widest;
}

struct claim_tally {
    unsigned hold = 0, fail = 0, unseen = 0;
};
template <class Steps>
[[nodiscard]] claim_tally tally_of_claims(const Steps& steps) {
    claim_tally all;
    for (const auto& step : steps) {
        for (const auto& claim : step.claims) {
            ++(!claim.holds ? all.unseen : *claim.holds ? all.hold : all.fail);
        }
    }
    return all;
}

// A step with its idea, its claims, and a word of caution, which may be empty.
[[nodiscard]] std::string step_in_words(const ladder::step_description& step, const std::vector<ladder::claim>& claims,
                                        const std::string& caution, const report::style& look);
// All steps; `caution` is the member that holds it.
template <class Step>
[[nodiscard]] std::string steps_in_words(const std::vector<Step>& steps, std::string Step::*caution,
                                         const report::style& look) {
    const claim_tally all = tally_of_claims(steps);
    std::string out =
        fmt::format("\nThe steps, and what the lectures claim: ✓ {} hold{}, ✗ {} do{} not, – {} cannot be seen here\n",
                    all.hold, all.hold == 1 ? "s" : "", all.fail, all.fail == 1 ? "es" : "", all.unseen);
    for (const Step& step : steps) {
        out += step_in_words(step, step.claims, step.*caution, look);
    }
    return out;
}

// The device, and the ceilings measured in this run.
[[nodiscard]] std::string device_lines(const ladder::device_description& device, const report::style& look);
// A claim with its mark, `indent` columns in.
[[nodiscard]] std::string claim_text(const ladder::claim& claim, std::size_t indent, const report::style& look);

struct meaning {
    const char* name;
    const char* text;
};

template <std::size_t N>
[[nodiscard]] std::string legend(const meaning (&meanings)[N], const report::style& look) {
    std::string out = "\nWhat the columns mean\n";
    for (const meaning& m : meanings) {
        out += report::paragraph(fmt::format("  {}: ", m.name), m.text, look.width);
    }
    return out;
}

} // namespace warpfold::tool
