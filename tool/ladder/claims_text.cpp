// SPDX-License-Identifier: MIT
#include "tool/ladder/claims_text.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/text.hpp"

namespace warpfold::tool {
namespace {

using report::align;
using report::style;
using report::tone;

constexpr std::size_t claim_indent = 4;

claim_tally total_of(const std::vector<ladder::step_result>& steps) {
    claim_tally all;
    for (const auto& step : steps) {
        all += tally_of(step.claims);
    }
    return all;
}

const char* mark_of(std::optional<bool> holds) { return !holds ? "–" : *holds ? "✓" : "✗"; }

std::string marked_paragraph(std::optional<bool> holds, const char* mark, const std::string& text, std::size_t indent,
                             const style& look) {
    const tone as = !holds ? tone::faint : *holds ? tone::good : tone::bad;
    // The mark is coloured after the layout, which would count the colour's bytes.
    std::string out = report::paragraph(fmt::format("{:{}}{} ", "", indent, mark), text, look.width);
    return out.replace(indent, std::string_view(mark).size(), report::coloured(mark, as, look));
}

// Each lesson once, after the ids of its steps: "5, 6  ! right only by luck".
std::string lessons_of(const std::vector<ladder::step_result>& steps, const style& look) {
    std::vector<std::pair<std::string, std::string>> all; // lesson, ids
    for (const auto& step : steps) {
        if (step.lesson.empty()) {
            continue;
        }
        const auto known =
            std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == step.lesson; });
        if (known == all.end()) {
            all.emplace_back(step.lesson, step.id);
        } else {
            known->second += ", " + step.id;
        }
    }
    std::string out;
    for (const auto& [lesson, ids] : all) {
        out += report::paragraph(ids + "  ! ", lesson, look.width);
    }
    return out;
}

std::string step_in_words(const ladder::step_result& step, const style& look) {
    const std::string blanks(claim_indent, ' ');
    std::string head = fmt::format("{} – {}", step.title, step.source);
    head += step.lecture.empty() ? "" : fmt::format(" ({})", step.lecture);
    std::string out = "\n" + report::paragraph(step.id + "  ", head, look.width);
    out += step.idea.empty() ? "" : report::paragraph(blanks, step.idea, look.width);
    for (const auto& claim : step.claims) {
        out += claim_text(claim, claim_indent, look);
    }
    out += step.lesson.empty() ? "" : report::paragraph(blanks + "! ", step.lesson, look.width);
    return out;
}

} // namespace

std::string in_words(const claim_tally& all) {
    return fmt::format("✓ {} hold{}, ✗ {} do{} not, – {} cannot be seen here", all.hold, all.hold == 1 ? "s" : "",
                       all.fail, all.fail == 1 ? "es" : "", all.unseen);
}

claim_tally& claim_tally::operator+=(const claim_tally& more) {
    hold += more.hold;
    fail += more.fail;
    unseen += more.unseen;
    return *this;
}

claim_tally tally_of(const std::vector<ladder::claim>& claims) {
    claim_tally all;
    for (const auto& claim : claims) {
        if (claim.refuted_by.empty()) {
            continue; // a remark
        }
        ++(!claim.holds ? all.unseen : *claim.holds ? all.hold : all.fail);
    }
    return all;
}

std::size_t widest_id(const std::vector<ladder::step_result>& steps) {
    std::size_t widest = 0;
    for (const auto& step : steps) {
        widest = std::max(widest, report::display_width(step.id));
    }
    return widest;
}

std::string step_lines(const std::vector<ladder::step_result>& steps, bool tally, const style& look) {
    std::vector<report::column> columns{{"step", align::left}};
    if (tally) {
        columns.insert(columns.end(), {{"✓"}, {"✗"}, {"–"}});
    }
    columns.insert(columns.end(), {{"source", align::left}, {"lecture", align::left, true}});
    report::table table(std::move(columns));
    for (const auto& step : steps) {
        std::vector<report::cell> cells{{step.id}};
        if (tally) {
            const claim_tally t = tally_of(step.claims);
            cells.push_back({std::to_string(t.hold), t.hold == 0 ? tone::faint : tone::good});
            cells.push_back({std::to_string(t.fail), t.fail == 0 ? tone::faint : tone::bad});
            cells.push_back({std::to_string(t.unseen), tone::faint});
        }
        cells.push_back({step.source});
        cells.push_back({step.lecture});
        table.add_row(std::move(cells));
    }
    const std::string head =
        tally ? fmt::format("The claims of the lectures: {} (--claims lists them with their evidence)",
                            in_words(total_of(steps)))
              : "Where the steps are";
    return "\n" + report::paragraph("", head, look.width) + table.text(look) + lessons_of(steps, look);
}

std::string all_claims(const std::vector<ladder::step_result>& steps, const style& look) {
    std::string out = fmt::format("\nThe steps, and the claims of the lectures: {}\n", in_words(total_of(steps)));
    for (const auto& step : steps) {
        out += step_in_words(step, look);
    }
    return out;
}

std::string claim_text(const ladder::claim& claim, std::size_t indent, const style& look) {
    std::string text = claim.text + " → ";
    text += claim.qualified.empty() ? "" : claim.qualified + ": ";
    text += claim.figure;
    if (!claim.lecture.empty()) {
        text += " [" + claim.lecture + "]";
    }
    std::string out =
        marked_paragraph(claim.holds, claim.refuted_by.empty() ? "·" : mark_of(claim.holds), text, indent, look);
    if (claim.refutation) {
        const auto& [holds, figure, qualified] = *claim.refutation;
        out += marked_paragraph(holds, mark_of(holds), "against " + claim.refuted_by + ": " + figure, indent + 2, look);
    }
    return out;
}

} // namespace warpfold::tool
