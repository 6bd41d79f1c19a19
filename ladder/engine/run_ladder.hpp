// SPDX-License-Identifier: MIT
// Runs the steps of a ladder that a request names, in their order.
#pragma once

#include "ladder/engine/definition/report.hpp"

namespace warpfold::ladder::engine {

// The current device. Throws measure::cuda_error where there is none.
[[nodiscard]] device_description describe_device();

// As ladder_engine::run().
[[nodiscard]] ladder_report run_ladder(const ladder_request& request);

} // namespace warpfold::ladder::engine
