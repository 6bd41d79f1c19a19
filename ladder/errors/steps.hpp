// SPDX-License-Identifier: MIT
// The laboratory of errors: which errors the runtime reports, when, and to which process.
#pragma once

#include <vector>

#include "ladder/engine/child_process.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::errors {

[[nodiscard]] const engine::ladder_definition& laboratory();
[[nodiscard]] std::vector<engine::child_program> child_programs();

// Errors that stick, each in a process of its own.
engine::step_definition crash();
engine::step_definition sticky();
engine::step_definition new_process();
engine::step_definition misaligned();
engine::step_definition failed_assertion();

} // namespace warpfold::ladder::errors
