// SPDX-License-Identifier: MIT
// The laboratory of shared memory: banks, strides, broadcasts, widths, and how it is set aside.
#pragma once

#include <cstdint>

#include "ladder/frame/claims.hpp"
#include "ladder/frame/launch.hpp"
#include "ladder/frame/step.hpp"

namespace warpfold::ladder::shared {

[[nodiscard]] const frame::study_definition& laboratory();

constexpr unsigned threads = 256;

// Passes of the banks for each access of a warp.
[[nodiscard]] inline double passes_a_load(const frame::counters& c) {
    return static_cast<double>(c.shared_load_wavefronts) / static_cast<double>(c.shared_load_requests);
}
[[nodiscard]] inline double passes_a_store(const frame::counters& c) {
    return static_cast<double>(c.shared_store_wavefronts) / static_cast<double>(c.shared_store_requests);
}

frame::step_definition strides();
frame::step_definition bank_of_an_address();
frame::step_definition one_word();
frame::step_definition element_widths();
frame::step_definition two_loads_interleaved();
frame::step_definition two_loads_apart();
frame::step_definition ways_to_set_aside();
frame::step_definition carve_out();
frame::step_definition kept_in_registers();
frame::step_definition volatile_accesses();
frame::step_definition barrier_instead();
frame::step_definition permutation();
frame::step_definition preferences();
frame::step_definition neighbours_memory();

} // namespace warpfold::ladder::shared
