// SPDX-License-Identifier: MIT
// Whether an integer reduction overflows: the device computes modulo 2^32 or 2^64, and its user should know.
#pragma once

#include <cstdint>
#include <optional>

#include "report/array_file.hpp"
#include "tool/arrays/calls.hpp"

namespace warpfold::tool {

// Whether the exact sum or product of n elements lies outside their type; empty for other operations and types.
// Linear in n, on one core.
[[nodiscard]] std::optional<bool> does_wrap(report::array_type type, calls::operation op, const void* data,
                                            std::uint64_t n);

} // namespace warpfold::tool
