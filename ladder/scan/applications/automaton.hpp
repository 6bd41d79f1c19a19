// SPDX-License-Identifier: MIT
// A finite automaton of four states that tells blanks, names, numbers and quoted text apart. The move that a character
// makes is a function from states to states: two bits a state, the next state of state 0 lowest.
#pragma once

#include "warpfold/detail/portable.hpp"

namespace warpfold::ladder::scan {

enum lexical_state : unsigned { in_blanks, in_name, in_number, in_quotes };

[[nodiscard]] WARPFOLD_HD constexpr unsigned move_to(unsigned from_blank, unsigned from_name, unsigned from_number,
                                                     unsigned from_quoted) {
    return from_blank | from_name << 2 | from_number << 4 | from_quoted << 6;
}

[[nodiscard]] WARPFOLD_HD constexpr unsigned after(unsigned move, unsigned state) { return move >> 2 * state & 3; }

[[nodiscard]] WARPFOLD_HD constexpr unsigned move_of(char c) {
    if (c == '"') {
        return move_to(in_quotes, in_quotes, in_quotes, in_blanks);
    }
    if (c >= 'a' && c <= 'z') {
        return move_to(in_name, in_name, in_name, in_quotes);
    }
    return c >= '0' && c <= '9' ? move_to(in_number, in_name, in_number, in_quotes)
                                : move_to(in_blanks, in_blanks, in_blanks, in_quotes);
}

} // namespace warpfold::ladder::scan
