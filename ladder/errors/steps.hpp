// SPDX-License-Identifier: MIT
// The laboratory of errors: what the runtime says, when, and to whom.
#pragma once

#include "ladder/frame/step.hpp"

namespace warpfold::ladder::errors {

[[nodiscard]] const frame::study_definition& laboratory();

} // namespace warpfold::ladder::errors
