// SPDX-License-Identifier: MIT
// A table for a terminal: aligned columns, a ruled head, one column that gives way where the width does not do.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::report {

enum class align { left, right };
enum class tone { plain, good, bad, faint };

// How text is to look where it goes.
struct style {
    std::size_t width = 120; // columns
    bool colour = false;
};

// The text in the tone's colour, or as it is where the style has no colour.
[[nodiscard]] std::string coloured(std::string_view text, tone as, const style& look);

struct column {
    std::string header; // may have several lines
    align side = align::right;
    bool yields = false; // wraps its cells where the table would be wider than the style allows
};

struct cell {
    std::string text;
    tone as = tone::plain;
};

class table {
public:
    explicit table(std::vector<column> columns);

    // Fewer cells than columns: the rest stays empty. More: std::invalid_argument.
    void add_row(std::vector<cell> cells);
    // A rule between the rows before and those after.
    void add_rule();

    // Every line ends with a line break, none with a blank.
    [[nodiscard]] std::string text(const style& look) const;

private:
    std::vector<column> columns_;
    std::vector<std::vector<cell>> rows_; // an empty row is a rule
};

} // namespace warpfold::report
