// SPDX-License-Identifier: MIT
// Runs the steps of a ladder or laboratory: data, result against the reference, counters or times, claims, checks.
#pragma once

#include "ladder/frame/step.hpp"

namespace warpfold::ladder::frame {

// The study of that name. Throws bad_request where there is none.
[[nodiscard]] const study_definition& find_study(const std::string& name);
[[nodiscard]] const std::vector<const study_definition*>& all_studies();

// `device` describes the current device. Throws bad_request.
[[nodiscard]] study_report run_study(const study_request& request, const device_description& device);

} // namespace warpfold::ladder::frame
