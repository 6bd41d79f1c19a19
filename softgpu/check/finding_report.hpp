// SPDX-License-Identifier: MIT
// What whoever reports findings needs besides the findings themselves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "softgpu/check/finding.hpp"

namespace softgpu::check {

// Called after every finding that is new, by the thread that has made it and with whatever it has locked: it must not
// throw, and may ask nothing of the session. nullptr: nobody is called.
void tell_of_new_findings(void (*whom)(const findings& to)) noexcept;

// The document as to_json() has it, with "not_printed":[paragraphs] where there are any that were printed nowhere yet.
[[nodiscard]] std::string to_json(const std::vector<finding>& list, std::string_view program,
                                  const std::vector<std::string>& not_printed);

} // namespace softgpu::check
