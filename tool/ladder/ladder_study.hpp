// SPDX-License-Identifier: MIT
// The commands of the ladders and laboratories beside `reduce`.
#pragma once

#include <string>

#include "tool/command.hpp"

namespace warpfold::tool {

// `warpfold ladder NAME` for a name of the catalogue.
action add_ladder_study(CLI::App& app, const std::string& name);
// `warpfold ladder all`: each of them, reduce too, and a summary.
action add_ladder_all(CLI::App& app);

} // namespace warpfold::tool
