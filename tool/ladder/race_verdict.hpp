// SPDX-License-Identifier: MIT
// The checker's verdict on the steps of a ladder: do threads share words of memory without an order between them?
#pragma once

#include "ladder/ladder.hpp"

namespace warpfold::tool {

// Runs the report's steps once more, on few elements, by another process of this command on the software GPU with its
// race check on, and adds a claim to each: that no two threads touch a word without an order between them. Adds nothing
// where the runtime makes no checks.
void add_race_verdicts(ladder::reduce_report& report);

} // namespace warpfold::tool
