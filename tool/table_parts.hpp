// SPDX-License-Identifier: MIT
// What the tables of all ladders have in common: figures, claims, the device, legends.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "ladder/report.hpp"
#include "report/table.hpp"
#include "report/text.hpp"

namespace warpfold::tool {

inline constexpr const char* none = "–";

[[nodiscard]] std::string figure_or_none(const std::optional<double>& value, int digits = 3);
[[nodiscard]] std::string fixed_or_none(const std::optional<double>& value, int decimals);
[[nodiscard]] std::string percent_or_none(const std::optional<double>& value);

// The device, and the ceilings measured in this run.
[[nodiscard]] std::string device_lines(const ladder::device_description& device, const report::style& look);
// A claim with its mark, `indent` columns in.
[[nodiscard]] std::string claim_text(const ladder::claim& claim, std::size_t indent, const report::style& look);

struct meaning {
    const char* name;
    const char* text;
};

template <std::size_t N>
[[nodiscard]] std::string legend(const meaning (&meanings)[N], const report::style& look) {
    std::string out = "\nWhat the columns mean\n";
    for (const meaning& m : meanings) {
        out += report::paragraph(fmt::format("  {}: ", m.name), m.text, look.width);
    }
    return out;
}

} // namespace warpfold::tool
