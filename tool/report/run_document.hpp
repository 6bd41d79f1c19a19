// SPDX-License-Identifier: MIT
// The report of a program's run as data.
#pragma once

#include <string>
#include <vector>

#include "report/json.hpp"

namespace warpfold::tool {

// What `warpfold run` writes, as text of its files; "": there is none.
struct run_texts {
    std::string counters;
    std::string profile;
    std::string timeline;
    std::string findings;
    std::vector<std::string> remarks;
};

// device; launches (alike ones together: kernel, grid, block, shared bytes, times, counters); kernels with their source
// lines; timelines as in a ladder's JSON; findings or null; remarks. Throws failure where a text cannot be read.
[[nodiscard]] report::json run_document(const run_texts& texts);

} // namespace warpfold::tool
