// SPDX-License-Identifier: MIT
// The laboratory of occupancy and latency: what the calculator says, and bytes in flight by more threads, more
// instructions of a thread, or more data of an instruction.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::occupancy {

[[nodiscard]] const engine::ladder_definition& laboratory();

// `inner` where the run was timed, on a GPU, or a counter-example gives the figures; else the claim cannot be seen.
[[nodiscard]] inline engine::check timed(engine::check inner) {
    return engine::guarded(std::move(inner), [](const engine::evidence& e) {
        return std::string(e.step.cold || e.figures.has_value() ? "" : "needs the clock of a GPU");
    });
}

engine::step_definition calculator();
engine::step_definition few_threads();
engine::step_definition more_threads();
engine::step_definition more_instructions();
engine::step_definition more_data();
engine::step_definition arithmetic();
engine::step_definition parallelism();
engine::step_definition memory_chains();
engine::step_definition shared_chains();
engine::step_definition reload();
engine::step_definition atomics();
engine::step_definition launches();
engine::step_definition best_grid();
engine::step_definition barrier_of_the_grid();
engine::step_definition compute_bound();
engine::step_definition stale_lines();
engine::step_definition fresh_lines();
engine::step_definition dependent_grids();
engine::step_definition by_option();
engine::step_definition peer_memory();
engine::step_definition cache_shares();
engine::step_definition last_levels();
engine::step_definition residents();

} // namespace warpfold::ladder::occupancy
