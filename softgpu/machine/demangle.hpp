// SPDX-License-Identifier: MIT
// Names of functions and variables as their authors wrote them.
#pragma once

#include <string>

namespace softgpu::machine {

// "scale(float*)" for "_Z5scalePf". Of what -rdc=true makes of names that only one unit sees, the unit is left out. A name
// that is not mangled stays as it is.
[[nodiscard]] std::string demangled(const std::string& name);

} // namespace softgpu::machine
