// SPDX-License-Identifier: MIT
// The report of a ladder as JSON.
#pragma once

#include "ladder/engine/definition/report.hpp"
#include "report/json.hpp"

namespace warpfold::tool {

// Integers are exact; a NaN or an infinity is a string; null is what was not measured. Times in microseconds, GB/s of
// 1e9 bytes. A step whose result is wrong against expectation has no time.
[[nodiscard]] report::json json_of(const ladder::ladder_report& report);
// The counters of its launches are null unless `counted`.
[[nodiscard]] report::json json_of(const ladder::step_result& step, bool counted);

} // namespace warpfold::tool
