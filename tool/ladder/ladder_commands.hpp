// SPDX-License-Identifier: MIT
// The subcommands of `warpfold ladder`.
#pragma once

#include "ladder/engine/definition/catalogue.hpp"
#include "tool/command.hpp"

namespace warpfold::tool {

// `warpfold ladder NAME`.
action add_ladder_run(CLI::App& app, const ladder::catalogue_entry& ladder);
// `warpfold ladder all`: every ladder that is built, and a summary.
action add_ladder_all(CLI::App& app);

} // namespace warpfold::tool
