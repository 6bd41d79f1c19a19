// SPDX-License-Identifier: MIT
// The ladder of transposes: what coalescing and banks do to one and the same work.
#pragma once

#include <cstdint>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::transpose {

[[nodiscard]] const engine::ladder_definition& ladder();

engine::step_definition copy();
engine::step_definition naive();
engine::step_definition tiled();
engine::step_definition padded();

} // namespace warpfold::ladder::transpose
