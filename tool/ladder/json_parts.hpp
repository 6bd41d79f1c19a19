// SPDX-License-Identifier: MIT
// JSON of the device, launches, counters, claims and times.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ladder/engine/definition/report.hpp"
#include "report/json.hpp"

namespace warpfold::tool {

[[nodiscard]] report::json text_or_null(const std::string& text);
[[nodiscard]] report::json microseconds(const std::optional<ladder::timing>& timing, double ladder::timing::*which);

[[nodiscard]] report::json json_of(const std::vector<ladder::claim>& claims);
[[nodiscard]] report::json json_of(const ladder::device_description& device);
[[nodiscard]] report::json json_of(const softgpu::observe::counters& counters);

// The launches of one step; their counters are null unless `counted`.
[[nodiscard]] report::json json_of(const std::vector<softgpu::observe::launch_record>& launches, bool counted);

} // namespace warpfold::tool
