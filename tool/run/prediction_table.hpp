// SPDX-License-Identifier: MIT
// The predictions of a run, launch by launch, as a table.
#pragma once

#include <string>

namespace warpfold::tool {

// `counters`: the text of the file that --counters writes. Launches of one kernel and shape that follow each other share a
// line, with their number and their mean time. `killed`: a signal has ended the program.
[[nodiscard]] std::string prediction_table(const std::string& counters, bool killed);

} // namespace warpfold::tool
