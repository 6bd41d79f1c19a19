// SPDX-License-Identifier: MIT
// One function for each file of the ladder, which gives the step that the file holds.
#pragma once

#include "ladder/reduce/definition/reduction.hpp"

namespace warpfold::ladder::reduce {

reduction interleaved_modulo();
reduction strided_index();
reduction sequential_addressing();
reduction first_add_during_load();
reduction last_warp_unrolled();
reduction completely_unrolled();
reduction many_adds();
reduction loop_unrolled();
reduction single_warp();
reduction warp_synchronised();
reduction warp_shuffles();
reduction cooperative_tiles();
reduction vector_loads();
reduction one_launch();
reduction peer_cub();
reduction peer_thrust();
reduction peer_cpu();

} // namespace warpfold::ladder::reduce
