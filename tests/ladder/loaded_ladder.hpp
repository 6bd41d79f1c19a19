// SPDX-License-Identifier: MIT
// The ladders' engine on the software GPU, loaded as the tool loads it.
#pragma once

#include "ladder/engine/engine.hpp"

namespace warpfold::ladder::testing {

// Throws std::runtime_error where either library does not load.
ladder_engine& loaded_engine();

} // namespace warpfold::ladder::testing
