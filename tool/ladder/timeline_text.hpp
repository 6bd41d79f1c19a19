// SPDX-License-Identifier: MIT
// Timelines for the terminal: a line for each engine, a bar for each operation.
#pragma once

#include <string>

#include "ladder/engine/definition/report.hpp"
#include "report/table.hpp"

namespace warpfold::tool {

// The timelines of all steps to one scale, at most 100 columns wide; "" where there are none.
[[nodiscard]] std::string timelines_of(const ladder::ladder_report& report, const report::style& look);

} // namespace warpfold::tool
