// SPDX-License-Identifier: MIT
// The ladder of reductions: its steps in their order.
#include "ladder/engine/definition/step.hpp"
#include "ladder/reduce/steps.hpp"

namespace warpfold::ladder::reduce {

namespace {

std::string problem_in_words(const step_parameters& p) {
    return "the " + std::string(name_of(p.op)) + " of " + std::string(name_of(p.type)) + " in blocks of " +
           std::to_string(p.block) + " threads";
}

std::vector<engine::step_definition> steps() {
    std::vector<engine::step_definition> all;
    for (const auto make :
         {interleaved_modulo, strided_index, sequential_addressing, first_add_during_load, last_warp_unrolled,
          completely_unrolled, many_adds, loop_unrolled, single_warp, warp_synchronised, warp_shuffles,
          cooperative_tiles, vector_loads, one_launch, peer_cub, peer_thrust, peer_cpu}) {
        all.push_back(as_step(make()));
    }
    return all;
}

} // namespace

} // namespace warpfold::ladder::reduce

const warpfold::ladder::engine::ladder_definition* warpfold_ladder_definition() {
    using namespace warpfold::ladder;
    static const engine::ladder_definition all{.name = "reduce",
                                               .data = "", // see data_with
                                               .n_counted = 1u << 22,
                                               .n_timed = 1u << 22,
                                               .steps = reduce::steps(),
                                               .takes = {.block = true, .type = true, .op = true, .finish = true},
                                               .data_with = reduce::problem_in_words,
                                               .least = 0,
                                               .one_problem = true};
    return &all;
}
