// SPDX-License-Identifier: MIT
// A table for a terminal: aligned columns, a rule below the head, columns that shrink to fit the width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::report {

enum class align { left, right };
enum class tone { plain, good, bad, faint };

// Output style.
struct style {
    std::size_t width = 120; // columns
    bool colour = false;
};

// The text in the tone's colour, or unchanged if the style has no colour.
[[nodiscard]] std::string coloured(std::string_view text, tone as, const style& look);

struct column {
    std::string header; // may have several lines
    align side = align::right;
    bool yields = false;   // wraps its cells where the table would be wider than the style allows
    bool shortens = false; // where it yields, leaves out the middle of its cells instead of wrapping them
};

struct cell {
    std::string text;
    tone as = tone::plain;
};

class table {
public:
    explicit table(std::vector<column> columns);

    // Missing cells are empty. Too many: std::invalid_argument.
    void add_row(std::vector<cell> cells);
    // Adds a rule.
    void add_rule();

    // Every line ends with a line break and has no trailing blanks. The columns that do not fit follow below in a table of
    // their own, which begins with the first column again.
    [[nodiscard]] std::string text(const style& look) const;

private:
    // The first column and those from `first` to before `last`.
    [[nodiscard]] table beside_first(std::size_t first, std::size_t last) const;

    std::vector<column> columns_;
    std::vector<std::vector<cell>> rows_; // an empty row is a rule
};

} // namespace warpfold::report
