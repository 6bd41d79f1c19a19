// SPDX-License-Identifier: MIT
// What the model says of a ladder's steps.
#pragma once

#include <string>
#include <vector>

#include "ladder/engine/definition/report.hpp"
#include "report/table.hpp"

namespace warpfold::tool {

// The sum over the launches, one a card; empty where a launch has none. Bounds, shares and rates are those of the launch that
// takes longest.
[[nodiscard]] std::vector<softgpu::observe::prediction>
predictions_of(const std::vector<softgpu::observe::launch_record>& launches);

// A table of the steps, empty where nothing was predicted.
[[nodiscard]] std::string predictions_text(const ladder::ladder_report& report, const report::style& look);

} // namespace warpfold::tool
