// SPDX-License-Identifier: MIT
// The ladder's shared library on the software GPU, loaded as the tool loads them.
#pragma once

#include "ladder/engine/engine.hpp"

namespace warpfold::ladder::testing {

// Throws std::runtime_error where either library does not load.
ladder_library& loaded_ladder();

} // namespace warpfold::ladder::testing
