// SPDX-License-Identifier: MIT
// JSON as the command writes it: keys in the order of writing, 64-bit integers exact.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace warpfold::report {

using json = nlohmann::ordered_json;

// JSON has no NaN and no infinity: they are written as the strings "nan", "inf" and "-inf".
[[nodiscard]] json number(double value);
// null where there is none.
[[nodiscard]] json number(const std::optional<double>& value);

// Indented by two, one line break at the end; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string text_of(const json& document);

} // namespace warpfold::report
