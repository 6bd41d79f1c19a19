// SPDX-License-Identifier: MIT
// The report of a ladder or laboratory as JSON.
#pragma once

#include "ladder/study.hpp"
#include "report/json.hpp"

namespace warpfold::tool {

[[nodiscard]] report::json json_of(const ladder::study_report& report);
// The counters of its launches are null unless `counted`.
[[nodiscard]] report::json json_of(const ladder::study_step& step, bool counted);

} // namespace warpfold::tool
