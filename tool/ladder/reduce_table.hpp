// SPDX-License-Identifier: MIT
// A ladder of reductions as text for people: the table, and under it the claims, the cautions and the sources.
#pragma once

#include <string>
#include <vector>

#include "ladder/ladder.hpp"
#include "report/table.hpp"

namespace warpfold::tool {

// All of it. Without `claims`, a step has only its cautions and its source.
[[nodiscard]] std::string text_of(const ladder::reduce_report& report, bool claims, const report::style& look);

// The steps there are, for --list.
[[nodiscard]] std::string text_of(const std::vector<ladder::step_description>& steps, const report::style& look);

} // namespace warpfold::tool
