// SPDX-License-Identifier: MIT
// Data of the laboratory of shared memory, and its order.

#include "ladder/shared/steps.hpp"

namespace warpfold::ladder::shared {

const engine::ladder_definition& laboratory() {
    static const engine::ladder_definition all{
        .name = "shared",
        .data = "threads that read and write shared memory in the patterns of the 759 lecture",
        .n_counted = 1u << 14,
        .n_timed = 1u << 22,
        .most = 1u << 26,
        .steps = {bank_of_an_address(), permutation(), strides(), one_word(), element_widths(), two_loads_interleaved(),
                  two_loads_apart(), ways_to_set_aside(), carve_out(), kept_in_registers(), volatile_accesses(),
                  barrier_instead(), preferences(), neighbours_memory()}};
    return all;
}

} // namespace warpfold::ladder::shared

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    return &warpfold::ladder::shared::laboratory();
}
