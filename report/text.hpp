// SPDX-License-Identifier: MIT
// Text for a terminal: how wide it is, how it is broken into lines, how foreign bytes are made harmless.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::report {

// Columns that a terminal gives the UTF-8 text; a byte that is no UTF-8 counts as one.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

// Lines of at most `width` columns, broken at blanks; only a word wider than that is broken inside. A line break in the
// text stays one. Never empty: the empty text is one empty line.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

// wrap() with `first` before the first line and as many blanks before the others; `width` is of it all. Ends with a
// line break.
[[nodiscard]] std::string paragraph(std::string_view first, std::string_view text, std::size_t width);

// One line: control characters written as \n, \t or \x1b. For file names and foreign messages.
[[nodiscard]] std::string printable(std::string_view text);

// The text in ASCII, for terminals that have no more: rules become -, marks and signs their nearest, the rest ?.
[[nodiscard]] std::string to_ascii(std::string_view text);

} // namespace warpfold::report
