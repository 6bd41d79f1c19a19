// SPDX-License-Identifier: MIT
// Options that reductions have in common, and their names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ladder/ladder.hpp"

namespace warpfold::tool {

inline constexpr const char* type_names = "int32, int64, float, double";
inline constexpr const char* operation_names = "sum, min, max, product, largest-magnitude";
inline constexpr const char* finish_names = "device, host";

// Throw usage_error for what is no such name.
[[nodiscard]] ladder::element_type parse_type(std::string_view name);
[[nodiscard]] ladder::operation parse_operation(std::string_view name);
[[nodiscard]] ladder::finish parse_finish(std::string_view name);

[[nodiscard]] std::string_view name_of(ladder::element_type type) noexcept;
[[nodiscard]] std::string_view name_of(ladder::operation op) noexcept;
[[nodiscard]] std::string_view name_of(ladder::finish finish) noexcept;
[[nodiscard]] std::size_t size_of(ladder::element_type type) noexcept;

// A count given to the option, between the two bounds. Throws usage_error.
[[nodiscard]] std::uint64_t parse_bounded(std::string_view option, std::string_view text, std::uint64_t least,
                                          std::uint64_t most);

// Ids between commas: "1,3,sum_warp,cub". Throws usage_error.
[[nodiscard]] std::vector<std::string> parse_steps(std::string_view list);

// The value in full: as many digits as tell it from every other of its type.
[[nodiscard]] std::string text_of(const ladder::scalar& value);

} // namespace warpfold::tool
