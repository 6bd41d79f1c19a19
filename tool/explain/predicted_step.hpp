// SPDX-License-Identifier: MIT
// How long a step takes on a card that is not there, by the model of docs/model.md, and the lines that its bound comes from.
#pragma once

#include <string>
#include <vector>

#include "report/json.hpp"
#include "softgpu/observe/prediction.hpp"
#include "tool/explain/costly_lines.hpp"

namespace warpfold::tool {

struct predicted_step {
    softgpu::observe::prediction sum; // of all launches; bounds and shares are those of the longest
    std::string kernel;               // of the launch that takes longest
    double kernel_nanoseconds = 0;    // that launch, warm
    std::string ranked_by;            // the bound, or where no line has a part in that the next one; lines are of it
    line_cost cost;                   // of that bound
    std::vector<costly_line> costly;
};

// One a card; empty where nothing was predicted.
[[nodiscard]] std::vector<predicted_step> predicted_steps(const step_profile& profile);

// The bound's time over the next one's; 0: there is no next one.
[[nodiscard]] double lead_of(const softgpu::observe::prediction& p);
// The part that the line has of what bounds the step: 0 to 1.
[[nodiscard]] double share_of(const predicted_step& step, const step_profile& profile,
                              const softgpu::observe::counters& line);

[[nodiscard]] std::string text_of(const predicted_step& step, const step_profile& profile, const report::style& look);
// By card: the prediction, the longest launch, and "lines" as those of "bounds", with "lines_by".
[[nodiscard]] report::json json_of(const std::vector<predicted_step>& steps);

} // namespace warpfold::tool
