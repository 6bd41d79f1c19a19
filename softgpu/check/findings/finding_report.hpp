// SPDX-License-Identifier: MIT
// Findings as a JSON document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "softgpu/check/findings/finding.hpp"

namespace softgpu::check {

// {"program":..., "count":n, "findings":[...], "not_printed":[paragraphs, where there are any]}. The count leaves out notes.
[[nodiscard]] std::string to_json(const std::vector<finding>& list, std::string_view program,
                                  const std::vector<std::string>& not_printed = {});

} // namespace softgpu::check
