// SPDX-License-Identifier: MIT
// What changes from one text to another, line by line.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::tool {

enum class change { none, removed, added };

struct edit {
    change what = change::none;
    std::size_t before = 0; // the line's number in the old text, from 0; of an added line: where it goes
    std::size_t after = 0;  // likewise in the new one
    friend bool operator==(const edit&, const edit&) = default;
};

// The shortest way from the old lines to the new ones, removals before additions; one edit a line. Time and memory grow
// with the product of what lies between the common beginning and the common end.
[[nodiscard]] std::vector<edit> edits_between(std::span<const std::string> before, std::span<const std::string> after);

// Edits that belong together: changes with up to `context` unchanged lines around them; those whose surroundings touch
// are one.
[[nodiscard]] std::vector<std::span<const edit>> hunks_of(std::span<const edit> edits, std::size_t context);

// Lines with their line breaks; only the last may be without.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text);

} // namespace warpfold::tool
