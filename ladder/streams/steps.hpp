// SPDX-License-Identifier: MIT
// The laboratory of streams: copies and kernels one after the other and at the same time, and what keeps them apart.
#pragma once

#include <vector>

#include "ladder/engine/child_process.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::streams {

[[nodiscard]] const engine::ladder_definition& laboratory();
[[nodiscard]] std::vector<engine::child_program> child_programs();

engine::step_definition blocking();
engine::step_definition one_stream();
engine::step_definition small_copies();
engine::step_definition two_streams();
engine::step_definition breadth_first();
engine::step_definition many_streams();
engine::step_definition pageable();
engine::step_definition wait_event();
engine::step_definition no_wait();
engine::step_definition default_stream();
engine::step_definition non_blocking();
engine::step_definition per_thread();
engine::step_definition host_functions();
engine::step_definition in_between();
engine::step_definition calls_in_between();
engine::step_definition synchronisation();
engine::step_definition destroyed();
engine::step_definition blocking_launches();

} // namespace warpfold::ladder::streams
