// SPDX-License-Identifier: MIT
// The ladder of transposes: what coalescing and banks do to one and the same work.
#pragma once

#include <cstdint>

#include "ladder/frame/claims.hpp"
#include "ladder/frame/launch.hpp"
#include "ladder/frame/step.hpp"

namespace warpfold::ladder::transpose {

[[nodiscard]] const frame::study_definition& ladder();

frame::step_definition copy();
frame::step_definition naive();
frame::step_definition tiled();
frame::step_definition padded();

} // namespace warpfold::ladder::transpose
