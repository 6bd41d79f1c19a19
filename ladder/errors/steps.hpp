// SPDX-License-Identifier: MIT
// The laboratory of errors: what the runtime says, when, and to whom.
#pragma once

#include <vector>

#include "ladder/frame/apart.hpp"
#include "ladder/frame/step.hpp"

namespace warpfold::ladder::errors {

[[nodiscard]] const frame::study_definition& laboratory();
[[nodiscard]] std::vector<frame::apart_program> apart_programs();

// Errors that stick, each in a process of its own.
frame::step_definition crash();
frame::step_definition sticky();
frame::step_definition new_process();
frame::step_definition misaligned();
frame::step_definition failed_assertion();

} // namespace warpfold::ladder::errors
