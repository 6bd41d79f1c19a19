// SPDX-License-Identifier: MIT
// The report of a ladder as data.
#pragma once

#include "ladder/engine/engine.hpp"
#include "report/json.hpp"

namespace warpfold::tool {

// The ladder's JSON (ladder_json.hpp), and in it: "profile" of each step that the software GPU can count by line,
// "elsewhere" and "verdicts" of results.hpp, and of the reductions "published" and, on a GPU, "sweep": kernels 1 to 7
// over n as one of results.hpp's tables for each n.
// `unexpected`: gets the ids of steps that did not come out as expected.
[[nodiscard]] report::json ladder_document(ladder::ladder_engine& engine, const ladder::ladder_request& request,
                                           std::string& unexpected);

} // namespace warpfold::tool
