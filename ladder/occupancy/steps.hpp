// SPDX-License-Identifier: MIT
// The laboratory of occupancy and latency: what the calculator says, and bytes in flight by more threads, more
// instructions of a thread, or more data of an instruction.
#pragma once

#include <cstdint>

#include "ladder/frame/claims.hpp"
#include "ladder/frame/launch.hpp"
#include "ladder/frame/step.hpp"

namespace warpfold::ladder::occupancy {

[[nodiscard]] const frame::study_definition& laboratory();

frame::step_definition calculator();
frame::step_definition few_threads();
frame::step_definition more_threads();
frame::step_definition more_instructions();
frame::step_definition more_data();

} // namespace warpfold::ladder::occupancy
