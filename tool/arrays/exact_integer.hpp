// SPDX-License-Identifier: MIT
// Whether an integer reduction overflows: the device computes modulo 2^32 or 2^64, and its user should know.
#pragma once

#include <optional>

#include "tool/arrays/calls.hpp"

namespace warpfold::tool {

// Whether the exact sum or product of the elements lies outside their type; empty for other operations and types.
// Reads them once, on one core.
[[nodiscard]] std::optional<bool> does_wrap(const calls::array_source& in, calls::operation op);

} // namespace warpfold::tool
