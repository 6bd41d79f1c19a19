// SPDX-License-Identifier: MIT
// The JSON of a ladder of reductions.
#pragma once

#include "ladder/ladder.hpp"
#include "report/json.hpp"

namespace warpfold::tool {

// Integers are exact; a NaN or an infinity is a string; null is what was not measured. Times in microseconds, GB/s of
// 1e9 bytes. A step whose result is wrong has no time.
[[nodiscard]] report::json json_of(const ladder::reduce_report& report);

[[nodiscard]] report::json json_of(const ladder::scalar& value);

} // namespace warpfold::tool
