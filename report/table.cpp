// SPDX-License-Identifier: MIT
// Layout of tables.
#include "report/table.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "report/text.hpp"

namespace warpfold::report {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 12;    // what a yielding column keeps
constexpr std::size_t longest_word = 16; // it keeps words of up to so many columns whole, too

std::size_t widest_word(std::string_view text) {
    std::size_t widest = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
        widest = std::max(widest, display_width(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return widest;
}

std::string repeated(std::string_view piece, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) {
        out += piece;
    }
    return out;
}

// Lines of one row. Each cell is already broken into lines.
struct laid_out {
    std::vector<std::vector<std::string>> cells;
    std::vector<tone> tones;
};

class page {
public:
    page(const std::vector<column>& columns, std::vector<std::size_t> widths, const style& look)
        : columns_(columns), widths_(std::move(widths)), look_(look) {}

    void add(const laid_out& row, bool at_bottom) {
        std::size_t height = 1;
        for (const auto& lines : row.cells) {
            height = std::max(height, lines.size());
        }
        for (std::size_t line = 0; line < height; ++line) {
            std::string out;
            std::size_t pending = 0; // blanks not yet written, so that no line ends with one
            for (std::size_t i = 0; i < columns_.size(); ++i) {
                const auto& lines = row.cells[i];
                const std::size_t skipped = at_bottom ? height - lines.size() : 0;
                const std::string text = line >= skipped && line - skipped < lines.size() ? lines[line - skipped] : "";
                const std::size_t blanks = widths_[i] - std::min(widths_[i], display_width(text));
                const bool right = columns_[i].side == align::right;
                if (i > 0) {
                    pending += gap;
                }
                if (!text.empty()) {
                    out.append(pending + (right ? blanks : 0), ' ');
                    out += coloured(text, row.tones[i], look_);
                    pending = right ? 0 : blanks;
                } else {
                    pending += widths_[i];
                }
            }
            text_ += out;
            text_ += '\n';
        }
    }

    void rule() {
        std::size_t width = gap * (columns_.size() - 1);
        for (const std::size_t w : widths_) {
            width += w;
        }
        text_ += repeated("─", width);
        text_ += '\n';
    }

    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    const std::vector<column>& columns_;
    std::vector<std::size_t> widths_;
    const style& look_;
    std::string text_;
};

} // namespace

std::string coloured(std::string_view text, tone as, const style& look) {
    if (!look.colour || as == tone::plain || text.empty()) {
        return std::string(text);
    }
    const std::string_view code = as == tone::good ? "32" : as == tone::bad ? "1;31" : "2";
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

table::table(std::vector<column> columns) : columns_(std::move(columns)) {
    if (columns_.empty()) {
        throw std::invalid_argument("a table needs a column");
    }
}

void table::add_row(std::vector<cell> cells) {
    if (cells.size() > columns_.size()) {
        throw std::invalid_argument("a row has more cells than the table has columns");
    }
    cells.resize(columns_.size());
    rows_.push_back(std::move(cells));
}

void table::add_rule() { rows_.emplace_back(); }

table table::beside_first(std::size_t first, std::size_t last) const {
    const auto part = [&](const auto& all) {
        std::remove_cvref_t<decltype(all)> some{all.front()};
        some.insert(some.end(), all.begin() + static_cast<std::ptrdiff_t>(first),
                    all.begin() + static_cast<std::ptrdiff_t>(last));
        return some;
    };
    table some(part(columns_));
    for (const auto& row : rows_) {
        some.rows_.push_back(row.empty() ? row : part(row));
    }
    return some;
}

std::string table::text(const style& look) const {
    constexpr auto unbroken = static_cast<std::size_t>(1) << 20;
    std::vector<std::size_t> widths;
    std::vector<std::size_t> least;
    std::size_t total = gap * (columns_.size() - 1);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t widest = 0;
        for (const std::string& line : wrap(columns_[i].header, unbroken)) {
            widest = std::max(widest, display_width(line));
        }
        std::size_t word = widest_word(columns_[i].header);
        for (const auto& row : rows_) {
            widest = row.empty() ? widest : std::max(widest, display_width(row[i].text));
            word = row.empty() ? word : std::max(word, widest_word(row[i].text));
        }
        widths.push_back(widest);
        least.push_back(std::clamp(word, narrowest, longest_word));
        total += widest;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].yields && total > look.width && widths[i] > least[i]) {
            const std::size_t give = std::min(total - look.width, widths[i] - least[i]);
            widths[i] -= give;
            total -= give;
        }
    }
    if (total > look.width && columns_.size() > 2) {
        std::size_t fit = 2;
        for (std::size_t used = widths[0] + gap + widths[1]; used + gap + widths[fit] <= look.width; ++fit) {
            used += gap + widths[fit];
        }
        return beside_first(1, fit).text(look) + "\n" + beside_first(fit, columns_.size()).text(look);
    }

    page out(columns_, widths, look);
    laid_out head;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        head.cells.push_back(wrap(columns_[i].header, columns_[i].yields ? widths[i] : unbroken));
        head.tones.push_back(tone::plain);
    }
    out.add(head, true);
    out.rule();
    for (const auto& row : rows_) {
        if (row.empty()) {
            out.rule();
            continue;
        }
        laid_out lines;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            lines.cells.push_back(columns_[i].shortens ? std::vector<std::string>{shortened(row[i].text, widths[i])}
                                                       : wrap(row[i].text, columns_[i].yields ? widths[i] : unbroken));
            lines.tones.push_back(row[i].as);
        }
        out.add(lines, false);
    }
    return out.take();
}

} // namespace warpfold::report
