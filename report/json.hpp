// SPDX-License-Identifier: MIT
// JSON for the command: keys in insertion order, exact 64-bit integers.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace warpfold::report {

using json = nlohmann::ordered_json;

// JSON has no NaN and no infinity: they become the strings "nan", "inf" and "-inf".
[[nodiscard]] json number(double value);
// null if there is no value.
[[nodiscard]] json number(const std::optional<double>& value);

// Indented by two, with a final line break. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string text_of(const json& document);

} // namespace warpfold::report
