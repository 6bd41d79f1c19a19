// SPDX-License-Identifier: MIT
// The lines of a step that cost most of what bounds it, and why, in words.
#pragma once

#include <string>
#include <vector>

#include "tool/explain/bounds.hpp"
#include "tool/explain/step_profile.hpp"

namespace warpfold::tool {

struct costly_line {
    std::string path; // in the tree
    line_number number = 0;
    double share = 0; // of what bounds the step
    std::string why;
};

// At most `most` lines, the costliest first; none below a twentieth.
[[nodiscard]] std::vector<costly_line> costly_lines(const step_profile& profile, resource bound, std::size_t most);

} // namespace warpfold::tool
