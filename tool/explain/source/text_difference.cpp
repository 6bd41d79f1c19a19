// SPDX-License-Identifier: MIT
// Longest common subsequence by a table of lengths, between a common beginning and a common end.
#include "tool/explain/source/text_difference.hpp"

#include <algorithm>
#include <cstdint>

namespace warpfold::tool {
std::vector<edit> edits_between(std::span<const std::string> before, std::span<const std::string> after) {
    const std::size_t shorter = std::min(before.size(), after.size());
    std::size_t head = 0;
    while (head < shorter && before[head] == after[head]) {
        ++head;
    }
    std::size_t tail = 0;
    while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
        ++tail;
    }
    const std::size_t rows = before.size() - head - tail;
    const std::size_t columns = after.size() - head - tail;
    // common[i][j]: lines that before[head + i ...] and after[head + j ...] have in common.
    std::vector<std::uint32_t> common((rows + 1) * (columns + 1));
    const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return common[i * (columns + 1) + j]; };
    for (std::size_t i = rows; i-- > 0;) {
        for (std::size_t j = columns; j-- > 0;) {
            at(i, j) =
                before[head + i] == after[head + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
        }
    }
    std::vector<edit> edits;
    std::size_t i = 0;
    std::size_t j = 0;
    const auto add = [&](change what) {
        edits.push_back({what, i, j});
        i += what == change::added ? 0 : 1;
        j += what == change::removed ? 0 : 1;
    };
    while (i < before.size() || j < after.size()) {
        const bool between = i >= head && i < head + rows && j >= head && j < head + columns;
        if (i < head || (i >= head + rows && j >= head + columns)) {
            add(change::none);
        } else if (!between) {
            add(i < head + rows ? change::removed : change::added);
        } else if (before[i] == after[j]) {
            add(change::none);
        } else {
            add(at(i - head + 1, j - head) >= at(i - head, j - head + 1) ? change::removed : change::added);
        }
    }
    return edits;
}

std::vector<std::span<const edit>> hunks_of(std::span<const edit> edits, std::size_t context) {
    std::vector<std::span<const edit>> hunks;
    std::size_t first = 0;
    std::size_t end = 0; // of the hunk under way; 0: none
    for (std::size_t k = 0; k < edits.size(); ++k) {
        if (edits[k].what == change::none) {
            continue;
        }
        const std::size_t from = k < context ? 0 : k - context;
        if (end != 0 && from > end) {
            hunks.push_back(edits.subspan(first, end - first));
            end = 0;
        }
        first = end == 0 ? from : first;
        end = std::min(k + 1 + context, edits.size());
    }
    if (end != 0) {
        hunks.push_back(edits.subspan(first, end - first));
    }
    return hunks;
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
        lines.emplace_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return lines;
}

} // namespace warpfold::tool
