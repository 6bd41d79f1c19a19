// SPDX-License-Identifier: MIT
// The report of a ladder or laboratory as text for people.
#pragma once

#include <string>

#include "ladder/study.hpp"
#include "report/table.hpp"

namespace warpfold::tool {

// The table of the steps, what is wrong, tables beside them; with `claims` what the lectures claim.
[[nodiscard]] std::string text_of(const ladder::study_report& report, bool claims, const report::style& look);

// "right", "WRONG", "wrong, as told" ...
[[nodiscard]] report::cell verdict_on(const ladder::study_step& step);

// How a study came out, for one row of a summary.
struct study_tally {
    std::size_t steps = 0, right = 0, as_told = 0, skipped = 0;
    std::size_t hold = 0, fail = 0, unseen = 0; // claims
    std::string unexpected;                     // ids of steps that came out otherwise than they ought to
};
[[nodiscard]] study_tally tally_of(const ladder::study_report& report);

} // namespace warpfold::tool
