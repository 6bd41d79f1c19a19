// SPDX-License-Identifier: MIT
// Width, breaking and escaping of text.
#include "report/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace warpfold::report {
namespace {

struct character {
    std::size_t bytes = 1;
    std::size_t columns = 1;
};

// Wide East Asian characters take two columns, combining marks none.
std::size_t columns_of(std::uint32_t code) noexcept {
    if ((code >= 0x300 && code <= 0x36F) || code == 0x200B || code == 0xFE0F) {
        return 0;
    }
    const bool wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                      (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                      (code >= 0xFF00 && code <= 0xFF60) || (code >= 0x1F300 && code <= 0x1FAFF);
    return wide ? 2 : 1;
}

character first_character(std::string_view text) noexcept {
    const auto lead = static_cast<unsigned char>(text[0]);
    std::size_t length = 1;
    std::uint32_t code = lead;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
        code = lead & 0x1Fu;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        code = lead & 0x0Fu;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        code = lead & 0x07u;
    }
    if (length > text.size()) {
        return {};
    }
    for (std::size_t i = 1; i < length; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xC0u) != 0x80u) {
            return {};
        }
        code = code << 6 | (next & 0x3Fu);
    }
    return {length, columns_of(code)};
}

// Bytes of the longest prefix that fits, at least one character.
std::size_t fitting(std::string_view word, std::size_t width) noexcept {
    std::size_t at = 0;
    std::size_t used = 0;
    while (at < word.size()) {
        const character c = first_character(word.substr(at));
        if (at > 0 && used + c.columns > width) {
            break;
        }
        at += c.bytes;
        used += c.columns;
    }
    return at;
}

void wrap_line(std::string_view line, std::size_t width, std::vector<std::string>& lines) {
    std::string current;
    std::size_t used = 0;
    while (!line.empty()) {
        const std::size_t start = line.find_first_not_of(' ');
        if (start == std::string_view::npos) {
            break;
        }
        line.remove_prefix(start);
        std::string_view word = line.substr(0, line.find(' '));
        line.remove_prefix(word.size());
        if (used > 0 && used + 1 + display_width(word) <= width) {
            current += ' ';
            ++used;
        } else if (used > 0) {
            lines.push_back(std::move(current));
            current.clear();
            used = 0;
        }
        while (used == 0 && display_width(word) > width) {
            const std::size_t length = fitting(word, width);
            lines.emplace_back(word.substr(0, length));
            word.remove_prefix(length);
        }
        current += word;
        used += display_width(word);
    }
    lines.push_back(std::move(current));
}

} // namespace

std::size_t display_width(std::string_view text) noexcept {
    std::size_t width = 0;
    while (!text.empty()) {
        const character c = first_character(text);
        width += c.columns;
        text.remove_prefix(c.bytes);
    }
    return width;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
    width = std::max<std::size_t>(width, 1);
    std::vector<std::string> lines;
    for (;;) {
        const std::size_t end = text.find('\n');
        wrap_line(text.substr(0, end), width, lines);
        if (end == std::string_view::npos) {
            return lines;
        }
        text.remove_prefix(end + 1);
    }
}

std::string paragraph(std::string_view first, std::string_view text, std::size_t width) {
    const std::size_t indent = display_width(first);
    std::string out(first);
    bool begun = false;
    for (const std::string& line : wrap(text, width > indent + 20 ? width - indent : 20)) {
        if (begun) {
            out.append(indent, ' ');
        }
        out += line;
        out += '\n';
        begun = true;
    }
    return out;
}

std::string shortened(std::string_view text, std::size_t width) {
    const std::size_t all = display_width(text);
    if (all <= width) {
        return std::string(text);
    }
    const std::size_t front = fitting(text, width / 2);
    std::string_view back = text.substr(front);
    while (!back.empty() && display_width(back) > width - width / 2 - 1) {
        back.remove_prefix(first_character(back).bytes);
    }
    return std::string(text.substr(0, front)) + "…" + std::string(back);
}

std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (byte < 0x20 || byte == 0x7F) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += c;
        }
    }
    return out;
}

std::string to_ascii(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> nearest{{
        {"─", "-"},
        {"–", "-"},
        {"—", "-"},
        {"✓", "+"},
        {"✗", "x"},
        {"×", "x"},
        {"µ", "u"},
        {"·", "."},
        {"…", "..."},
        {"≤", "<="},
        {"≥", ">="},
        {"→", "->"},
    }};
    std::string out;
    while (!text.empty()) {
        const std::string_view one = text.substr(0, first_character(text).bytes);
        text.remove_prefix(one.size());
        const auto* known = std::find_if(nearest.begin(), nearest.end(), [&](const auto& n) { return n.first == one; });
        if (known != nearest.end()) {
            out += known->second;
        } else {
            out += one.size() == 1 && static_cast<unsigned char>(one[0]) < 0x80 ? one : "?";
        }
    }
    return out;
}

} // namespace warpfold::report
