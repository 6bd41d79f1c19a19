// SPDX-License-Identifier: MIT
// The laboratory of streams: copies and kernels one after the other and at the same time, and what keeps them apart.
#pragma once

#include <vector>

#include "ladder/frame/apart.hpp"
#include "ladder/frame/step.hpp"

namespace warpfold::ladder::streams {

[[nodiscard]] const frame::study_definition& laboratory();
[[nodiscard]] std::vector<frame::apart_program> apart_programs();

frame::step_definition blocking();
frame::step_definition one_stream();
frame::step_definition small_copies();
frame::step_definition two_streams();
frame::step_definition breadth_first();
frame::step_definition many_streams();
frame::step_definition pageable();
frame::step_definition wait_event();
frame::step_definition no_wait();
frame::step_definition default_stream();
frame::step_definition non_blocking();
frame::step_definition per_thread();
frame::step_definition host_functions();
frame::step_definition in_between();
frame::step_definition synchronisation();
frame::step_definition destroyed();
frame::step_definition blocking_launches();

} // namespace warpfold::ladder::streams
