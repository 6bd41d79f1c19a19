// SPDX-License-Identifier: MIT
// The command's own standard streams.
#pragma once

#include <string_view>

#include "report/table.hpp"

namespace warpfold::tool {

// Call first: gives closed standard streams a place, and makes a closed pipe an error of the write instead of a signal.
void open_console();
// Undoes that, for a program that is about to be run in our stead or as our child, and for our own end by SIGPIPE.
void restore_signals();

// How text is to look on standard output: as wide as the terminal (40 to 160 columns; 120 where there is none), in
// colour only on a terminal and without NO_COLOR.
[[nodiscard]] report::style output_style();

// Writes text for people to standard output, in ASCII where the locale is "C" by name. Throws report::write_error.
void print(std::string_view text);
// Writes exactly these bytes to standard output. Throws report::write_error.
void print_exactly(std::string_view bytes);

// "warpfold: message" on stderr as one line.
void complain(std::string_view message);

[[nodiscard]] bool error_is_terminal();

} // namespace warpfold::tool
