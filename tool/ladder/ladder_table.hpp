// SPDX-License-Identifier: MIT
// The report of a ladder as text for people.
#pragma once

#include <string>
#include <vector>

#include "ladder/engine/definition/report.hpp"
#include "report/table.hpp"
#include "tool/ladder/claims_text.hpp"

namespace warpfold::tool {

// What follows the table.
enum class detail {
    table,   // nothing
    sources, // what the columns mean, and one line a step: its source
    tally,   // the same, each line with the number of claims that hold, do not hold and cannot be seen
    claims,  // every claim with its evidence
};
[[nodiscard]] std::string text_of(const ladder::ladder_report& report, detail shown, const report::style& look);

// The steps of a ladder, for --list.
[[nodiscard]] std::string text_of(const std::vector<ladder::step_description>& steps, const report::style& look);

// The result in a word or two: "right", "WRONG", "wrong, as expected".
[[nodiscard]] report::cell result_cell(const ladder::step_result& step);

// The device, and the ceilings measured in this run.
[[nodiscard]] std::string device_lines(const ladder::device_description& device, const report::style& look);

// How the steps of a ladder came out, for one row of a summary.
struct ladder_tally {
    std::size_t steps = 0, right = 0, faulty_as_expected = 0, skipped = 0;
    claim_tally claims;
    std::string unexpected; // ids of steps that did not come out as expected
};
[[nodiscard]] ladder_tally tally_of(const ladder::ladder_report& report);

} // namespace warpfold::tool
