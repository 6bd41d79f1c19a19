// SPDX-License-Identifier: MIT
// The lines of a step that cost most of what bounds it, and why, in words.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/json.hpp"
#include "report/table.hpp"
#include "tool/explain/bounds.hpp"
#include "tool/explain/step_profile.hpp"

namespace warpfold::tool {

struct costly_line {
    std::string path; // in the tree
    line_number number = 0;
    double share = 0; // of what bounds the step
    std::string why;
};

// What of a line's work takes a resource.
struct line_cost {
    std::string unit; // "wavefronts"; empty: no line has a part in it
    std::function<double(const softgpu::observe::counters&)> of;
};
[[nodiscard]] line_cost cost_of(resource r);
// A bound of the model of cards, by its name (docs/model-rules.md). The bounds of units of arithmetic go by all instructions: a
// profile does not tell them apart.
[[nodiscard]] line_cost cost_of_bound(std::string_view bound);

// At most `most` lines, the costliest first; none below a twentieth.
[[nodiscard]] std::vector<costly_line> costly_lines(const step_profile& profile, const line_cost& cost,
                                                    std::size_t most);
// `of`: what they cost most of.
[[nodiscard]] std::string text_of(const std::vector<costly_line>& lines, const std::string& of,
                                  const report::style& look);
[[nodiscard]] report::json json_of(const std::vector<costly_line>& lines);

} // namespace warpfold::tool
