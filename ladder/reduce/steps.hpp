// SPDX-License-Identifier: MIT
// One function for each file of the ladder, which gives the step that the file holds.
#pragma once

#include "ladder/reduce/step.hpp"

namespace warpfold::ladder::reduce {

step_definition interleaved_modulo();
step_definition strided_index();
step_definition sequential_addressing();
step_definition first_add_during_load();
step_definition last_warp_unrolled();
step_definition completely_unrolled();
step_definition many_adds();
step_definition loop_unrolled();
step_definition single_warp();
step_definition warp_synchronised();
step_definition warp_shuffles();
step_definition cooperative_tiles();
step_definition vector_loads();
step_definition one_launch();
step_definition peer_cub();
step_definition peer_thrust();
step_definition peer_cpu();

} // namespace warpfold::ladder::reduce
