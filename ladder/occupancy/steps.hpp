// SPDX-License-Identifier: MIT
// The laboratory of occupancy and latency: what the calculator says, and bytes in flight by more threads, more
// instructions of a thread, or more data of an instruction.
#pragma once

#include <cstdint>
#include <utility>

#include "ladder/frame/claims.hpp"
#include "ladder/frame/launch.hpp"
#include "ladder/frame/step.hpp"

namespace warpfold::ladder::occupancy {

[[nodiscard]] const frame::study_definition& laboratory();

// `inner` where the run was timed, on a GPU; else the claim cannot be seen.
[[nodiscard]] inline frame::check timed(frame::check inner) {
    return [inner = std::move(inner)](const frame::evidence& e) {
        return e.step.cold ? inner(e) : unseen("needs the clock of a GPU");
    };
}

frame::step_definition calculator();
frame::step_definition few_threads();
frame::step_definition more_threads();
frame::step_definition more_instructions();
frame::step_definition more_data();
frame::step_definition arithmetic();
frame::step_definition parallelism();
frame::step_definition memory_chains();
frame::step_definition shared_chains();
frame::step_definition reload();
frame::step_definition atomics();
frame::step_definition launches();
frame::step_definition best_grid();
frame::step_definition barrier_of_the_grid();
frame::step_definition compute_bound();
frame::step_definition stale_lines();
frame::step_definition fresh_lines();
frame::step_definition dependent_grids();
frame::step_definition by_option();
frame::step_definition peer_memory();
frame::step_definition cache_shares();
frame::step_definition last_levels();
frame::step_definition residents();

} // namespace warpfold::ladder::occupancy
