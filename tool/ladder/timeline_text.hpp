// SPDX-License-Identifier: MIT
// Timelines for the terminal: a line for each engine, a bar for each operation.
#pragma once

#include <string>

#include "ladder/study.hpp"
#include "report/table.hpp"

namespace warpfold::tool {

// All steps' timelines to one scale, so that they can be compared; "" where there are none. 100 columns, or as many as
// the style has where that is less.
[[nodiscard]] std::string timelines_of(const ladder::study_report& report, const report::style& look);

} // namespace warpfold::tool
