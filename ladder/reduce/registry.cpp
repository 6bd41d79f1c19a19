// SPDX-License-Identifier: MIT
// The ladder, step by step, in the order in which it is climbed.
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

const std::vector<step_definition>& steps() {
    static const std::vector<step_definition> all{interleaved_modulo(),
                                                  strided_index(),
                                                  sequential_addressing(),
                                                  first_add_during_load(),
                                                  last_warp_unrolled(),
                                                  completely_unrolled(),
                                                  many_adds(),
                                                  loop_unrolled(),
                                                  single_warp(),
                                                  warp_synchronised(),
                                                  warp_shuffles(),
                                                  cooperative_tiles(),
                                                  vector_loads(),
                                                  one_launch(),
                                                  peer_cub(),
                                                  peer_thrust(),
                                                  peer_cpu()};
    return all;
}

} // namespace warpfold::ladder::reduce
