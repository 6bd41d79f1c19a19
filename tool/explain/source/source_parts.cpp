// SPDX-License-Identifier: MIT
#include "tool/explain/source/source_parts.hpp"

#include <cctype>

namespace warpfold::tool {
namespace {

bool in_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Reads line after line; knows whether it is inside a comment, a literal or braces.
class reader {
public:
    // Adds the line's code to `code`.
    void line(std::string_view text, std::string& code) {
        if (!in_comment_ && (in_directive_ || text.find_first_not_of(" \t") != std::string_view::npos)) {
            const std::size_t begin = text.find_first_not_of(" \t");
            if (in_directive_ || text[begin] == '#') {
                in_directive_ = text.ends_with('\\');
                directive_ = true;
                return;
            }
        }
        directive_ = false;
        for (std::size_t k = 0; k < text.size(); ++k) {
            const char c = text[k];
            const char next = k + 1 < text.size() ? text[k + 1] : '\0';
            if (in_comment_) {
                if (c == '*' && next == '/') {
                    in_comment_ = false;
                    ++k;
                }
            } else if (c == '/' && next == '/') {
                break;
            } else if (c == '/' && next == '*') {
                in_comment_ = true;
                ++k;
            } else if (c == '"' || (c == '\'' && (k == 0 || !in_identifier(text[k - 1])))) {
                code += c;
                k = end_of_literal(text, k);
                code += c;
            } else {
                token(c, code);
            }
        }
        code += '\n';
    }

    // After a line: nothing is open, so a part may end here.
    [[nodiscard]] bool at_top(const std::string& code) const {
        if (in_comment_ || in_directive_ || braces_ != 0 || parentheses_ != 0) {
            return false;
        }
        const std::size_t last = code.find_last_not_of(" \t\n");
        return last == std::string::npos ? directive_ : code[last] == ';' || code[last] == '}' || code[last] == '{';
    }

private:
    static std::size_t end_of_literal(std::string_view text, std::size_t begin) {
        std::size_t k = begin + 1;
        while (k < text.size() && text[k] != text[begin]) {
            k += text[k] == '\\' ? 2 : 1;
        }
        return k;
    }

    void token(char c, std::string& code) {
        if (c == '{') {
            const std::size_t begin = code.find_first_not_of(" \t\n");
            const std::string_view statement = begin == std::string::npos ? "" : std::string_view(code).substr(begin);
            if (braces_ == 0 && parentheses_ == 0 &&
                (statement.starts_with("namespace") || statement.starts_with("inline namespace") ||
                 statement.starts_with("extern \"\""))) {
                ++namespaces_;
            } else {
                ++braces_;
            }
        } else if (c == '}') {
            if (braces_ != 0) {
                --braces_;
            } else if (namespaces_ != 0) {
                --namespaces_;
            }
        } else if (c == '(') {
            ++parentheses_;
        } else if (c == ')' && parentheses_ != 0) {
            --parentheses_;
        }
        code += c;
    }

    bool in_comment_ = false;
    bool in_directive_ = false; // one that goes on in the next line
    bool directive_ = false;    // the line that was read last
    std::size_t braces_ = 0;
    std::size_t namespaces_ = 0;
    std::size_t parentheses_ = 0;
};

} // namespace

bool source_part::names(std::string_view identifier) const {
    for (std::size_t at = code.find(identifier); at != std::string::npos; at = code.find(identifier, at + 1)) {
        const std::size_t end = at + identifier.size();
        if ((at == 0 || !in_identifier(code[at - 1])) && (end == code.size() || !in_identifier(code[end]))) {
            return true;
        }
    }
    return false;
}

std::vector<source_part> parts_of(const std::vector<std::string>& lines) {
    std::vector<source_part> parts;
    reader read;
    source_part part;
    for (std::size_t n = 1; n <= lines.size(); ++n) {
        std::string_view text = lines[n - 1];
        text = text.substr(0, text.find_last_not_of("\r\n") + 1);
        if (part.first == 0 && text.find_first_not_of(" \t") == std::string_view::npos) {
            continue;
        }
        part.first = part.first == 0 ? n : part.first;
        read.line(text, part.code);
        if (text.find_first_not_of(" \t") != std::string_view::npos) {
            part.last = n;
        }
        if (read.at_top(part.code)) {
            parts.push_back(std::move(part));
            part = {};
        }
    }
    if (part.first != 0) {
        parts.push_back(std::move(part));
    }
    return parts;
}

std::string bare_name(std::string_view demangled) {
    std::string name(demangled);
    constexpr std::string_view unnamed = "(anonymous namespace)";
    for (std::size_t at = 0; (at = name.find(unnamed)) != std::string::npos;) {
        name.replace(at, unnamed.size(), "_");
    }
    name = name.substr(0, name.find_first_of("<("));
    return name.substr(name.find_last_of(": ") + 1);
}

std::string base_name(std::string_view path) { return std::string(path.substr(path.find_last_of('/') + 1)); }

} // namespace warpfold::tool
