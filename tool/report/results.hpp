// SPDX-License-Identifier: MIT
// What docs/results/ladders has of a ladder: times and verdicts on cards that are not here.
#pragma once

#include <string_view>

#include "report/json.hpp"

namespace warpfold::tool {

// One object for each table of a results page (its Markdown): source, card, date, ladder, n and block where all steps have
// the same, ceiling ("read" or "copy") and ceiling_gb_per_s, and steps: id, n, time_us, gb_per_s. Rows without a time are
// left out.
[[nodiscard]] report::json times_of_page(std::string_view source, std::string_view markdown);

// All such tables of this ladder.
[[nodiscard]] report::json measured_times(std::string_view ladder);
// card, date and verdicts (step, claim, holds, figure) of this ladder, for each card.
[[nodiscard]] report::json measured_verdicts(std::string_view ladder);
// The times of kernels 1 to 7 as the lectures print them: device, lecture, n, block, time_us by kernel.
[[nodiscard]] report::json published_times();

} // namespace warpfold::tool
