// SPDX-License-Identifier: MIT
// Text for a terminal: width, line breaking, escaping.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::report {

// Terminal columns of the UTF-8 text; an invalid byte counts as one.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

// Lines of at most `width` columns, broken at blanks; only wider words are broken inside. Line breaks in the text stay.
// The empty text is one empty line.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

// wrap() with `first` before the first line and as many blanks before the others. `width` includes them. Ends with a
// line break.
[[nodiscard]] std::string paragraph(std::string_view first, std::string_view text, std::size_t width);

// The text in at most `width` columns, 3 at least: "…" stands for what is left out of its middle.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

// Control characters become \n, \t or \x1b. For file names and messages of other programs.
[[nodiscard]] std::string printable(std::string_view text);

// The text in ASCII, for terminals without UTF-8: rules become -, other signs their nearest equivalent or ?.
[[nodiscard]] std::string to_ascii(std::string_view text);

} // namespace warpfold::report
