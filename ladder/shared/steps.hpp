// SPDX-License-Identifier: MIT
// The laboratory of shared memory: banks, strides, broadcasts, widths, and how it is set aside.
#pragma once

#include <cstdint>

#include "ladder/engine/definition/claims.hpp"
#include "ladder/engine/definition/launch.hpp"
#include "ladder/engine/definition/step.hpp"

namespace warpfold::ladder::shared {

[[nodiscard]] const engine::ladder_definition& laboratory();

constexpr unsigned threads = 256;

// Passes of the banks for each access of a warp.
[[nodiscard]] inline double passes_a_load(const engine::counters& c) {
    return static_cast<double>(c.shared_load_wavefronts) / static_cast<double>(c.shared_load_requests);
}
[[nodiscard]] inline double passes_a_store(const engine::counters& c) {
    return static_cast<double>(c.shared_store_wavefronts) / static_cast<double>(c.shared_store_requests);
}

engine::step_definition strides();
engine::step_definition bank_of_an_address();
engine::step_definition one_word();
engine::step_definition element_widths();
engine::step_definition two_loads_interleaved();
engine::step_definition two_loads_apart();
engine::step_definition ways_to_set_aside();
engine::step_definition carve_out();
engine::step_definition kept_in_registers();
engine::step_definition volatile_accesses();
engine::step_definition barrier_instead();
engine::step_definition permutation();
engine::step_definition preferences();
engine::step_definition neighbours_memory();

} // namespace warpfold::ladder::shared
