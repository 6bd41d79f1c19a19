// SPDX-License-Identifier: MIT
// Claims as text for people: one line a step, or every claim with its evidence.
#pragma once

#include <string>
#include <vector>

#include "ladder/engine/definition/report.hpp"
#include "report/table.hpp"

namespace warpfold::tool {

struct claim_tally {
    std::size_t hold = 0, fail = 0, unseen = 0;

    claim_tally& operator+=(const claim_tally& more);
};
// Remarks count nowhere.
[[nodiscard]] claim_tally tally_of(const std::vector<ladder::claim>& claims);
// "✓ 2 hold, ✗ 1 does not, – 0 cannot be seen here"
[[nodiscard]] std::string in_words(const claim_tally& all);

// Columns that the longest id takes.
[[nodiscard]] std::size_t widest_id(const std::vector<ladder::step_result>& steps);

// One line a step: how many of its claims hold, do not hold and cannot be seen here (without `tally`, none of these), its
// source and lecture. Below them why steps are not simply right.
[[nodiscard]] std::string step_lines(const std::vector<ladder::step_result>& steps, bool tally,
                                     const report::style& look);

// Every step with its idea and its claims, each with its evidence.
[[nodiscard]] std::string all_claims(const std::vector<ladder::step_result>& steps, const report::style& look);

// A claim with its mark, `indent` columns in.
[[nodiscard]] std::string claim_text(const ladder::claim& claim, std::size_t indent, const report::style& look);

} // namespace warpfold::tool
