// SPDX-License-Identifier: MIT
// Tokens of PTX. Source: PTX ISA 9.0, chapter 4, "Syntax".
#include "softgpu/ptx/lex/lexer.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string>

namespace softgpu::ptx {

namespace {

enum : std::uint8_t { letter = 1, digit = 2, hexadecimal = 4, opens_identifier = 8, continues_identifier = 16 };

constexpr std::array<std::uint8_t, 256> make_classes() {
    std::array<std::uint8_t, 256> classes{};
    for (int c = 'a'; c <= 'z'; ++c) {
        for (const int both : {c, c - 'a' + 'A'}) {
            classes[both] = letter | opens_identifier | continues_identifier;
            if (c <= 'f') {
                classes[both] |= hexadecimal;
            }
        }
    }
    for (int c = '0'; c <= '9'; ++c) {
        classes[c] = digit | hexadecimal | continues_identifier;
    }
    classes['_'] = classes['$'] = opens_identifier | continues_identifier;
    classes['%'] = opens_identifier;
    return classes;
}

constexpr auto classes = make_classes();

constexpr bool is(char c, unsigned wanted) noexcept { return (classes[static_cast<unsigned char>(c)] & wanted) != 0; }

constexpr bool is_word(char c) noexcept { return is(c, letter | digit) || c == '_'; }

std::string shown(char c) {
    constexpr const char* digits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
        return std::string("'") + c + "'";
    }
    return std::string("'\\x") + digits[byte >> 4] + digits[byte & 15] + "'";
}

} // namespace

lexer::lexer(std::string_view text, location start) noexcept
    : text_(text), line_start_(std::size_t{1} - start.column), line_(start.line) {}

void lexer::skip_line() noexcept {
    while (position_ < text_.size() && text_[position_] != '\n') {
        ++position_;
    }
}

bool lexer::begins_line() const noexcept {
    std::size_t p = position_;
    while (p > 0 && (text_[p - 1] == ' ' || text_[p - 1] == '\t')) {
        --p;
    }
    return p > 0 ? text_[p - 1] == '\n' : place(0).column == 1;
}

void lexer::skip_block_comment() {
    const location start = where();
    position_ += 2;
    while (position_ + 1 < text_.size()) {
        if (text_[position_] == '*' && text_[position_ + 1] == '/') {
            position_ += 2;
            return;
        }
        if (text_[position_] == '\n') {
            new_line();
        }
        ++position_;
    }
    throw error(start, "this comment is never closed");
}

void lexer::skip_blanks() {
    while (position_ < text_.size()) {
        const char c = text_[position_];
        if (c == '\n') {
            new_line();
            ++position_;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ++position_;
        } else if (c == '/' && at(position_ + 1) == '/') {
            skip_line();
        } else if (c == '/' && at(position_ + 1) == '*') {
            skip_block_comment();
        } else if (c == '#' && begins_line()) {
            skip_line();
        } else {
            return;
        }
    }
}

// Returns the position of the closing quote and moves behind it.
std::size_t lexer::skip_string() {
    const location start = where();
    ++position_;
    while (position_ < text_.size() && text_[position_] != '\n') {
        if (text_[position_] == '"') {
            return position_++;
        }
        position_ += text_[position_] == '\\' && at(position_ + 1) != '\n' ? 2 : 1;
    }
    throw error(start, "this string is never closed");
}

std::size_t lexer::skip_braces(location open, std::string_view what) {
    std::size_t depth = 1;
    while (position_ < text_.size()) {
        switch (text_[position_]) {
        case '\n': new_line(); break;
        case '{': ++depth; break;
        case '}':
            if (--depth == 0) {
                return position_++;
            }
            break;
        case '"': static_cast<void>(skip_string()); continue;
        case '#':
            if (begins_line()) {
                skip_line();
                continue;
            }
            break;
        case '/':
            if (at(position_ + 1) == '/') {
                skip_line();
                continue;
            }
            if (at(position_ + 1) == '*') {
                skip_block_comment();
                continue;
            }
            break;
        default: break;
        }
        ++position_;
    }
    throw error(open, "the '{' of " + std::string(what) + " is never closed");
}

token lexer::next() {
    const std::size_t before = position_;
    skip_blanks();
    token t;
    t.glued = position_ == before && position_ != 0;
    t.where = where();
    t.position = position_;
    if (position_ >= text_.size()) {
        return t;
    }
    const char c = text_[position_];
    if (is(c, opens_identifier)) {
        std::size_t last = position_ + 1;
        while (is(at(last), continues_identifier)) {
            ++last;
        }
        if (c == '%' && last == position_ + 1) {
            t.kind = token_kind::punctuation;
            t.character = c;
        } else {
            t.kind = token_kind::identifier;
        }
        t.text = text_.substr(position_, last - position_);
        position_ = last;
    } else if (c == '.' && is(at(position_ + 1), digit) && !(t.glued && after_word_)) {
        lex_decimal_float(t, position_);
    } else if (c == '.' && is_word(at(position_ + 1))) {
        lex_dotted(t);
    } else if (is(c, digit)) {
        lex_number(t);
    } else if (c == '"') {
        const std::size_t first = position_ + 1;
        const std::size_t last = skip_string();
        t.kind = token_kind::string;
        t.text = text_.substr(first, last - first);
    } else if (std::string_view(",;:(){}[]+-*/&|^~!<>=?@").find(c) != std::string_view::npos) {
        t.kind = token_kind::punctuation;
        t.character = c;
        t.text = text_.substr(position_, 1);
        ++position_;
    } else {
        throw error(t.where, "unexpected character " + shown(c));
    }
    after_word_ = t.kind == token_kind::identifier || t.kind == token_kind::dotted;
    return t;
}

void lexer::lex_dotted(token& t) {
    std::size_t last = position_ + 2;
    while (is_word(at(last)) || (at(last) == ':' && at(last + 1) == ':' && is_word(at(last + 2)))) {
        last += at(last) == ':' ? 3 : 1;
    }
    t.kind = token_kind::dotted;
    t.text = text_.substr(position_ + 1, last - position_ - 1);
    position_ = last;
}

void lexer::lex_number(token& t) {
    std::size_t last = position_;
    while (is_word(at(last))) {
        ++last;
    }
    std::string_view word = text_.substr(position_, last - position_);
    const char second = word.size() > 1 ? word[1] : '\0';
    if (word[0] == '0' && (second == 'f' || second == 'F')) {
        return lex_float_bits(t, 8);
    }
    if (word[0] == '0' && (second == 'd' || second == 'D')) {
        return lex_float_bits(t, 16);
    }
    const bool is_hexadecimal = word[0] == '0' && (second == 'x' || second == 'X');
    if (!is_hexadecimal) {
        std::size_t mantissa = position_;
        while (is(at(mantissa), digit)) {
            ++mantissa;
        }
        if (at(mantissa) == '.' || at(mantissa) == 'e' || at(mantissa) == 'E') {
            return lex_decimal_float(t, mantissa);
        }
    }
    t.kind = token_kind::integer;
    t.text = word;
    position_ = last;
    if (word.back() == 'U') {
        word.remove_suffix(1);
        t.is_unsigned = true;
    }
    int base = 10;
    if (is_hexadecimal) {
        base = 16;
    } else if (word[0] == '0' && (second == 'b' || second == 'B')) {
        base = 2;
    } else if (word[0] == '0' && word.size() > 1) {
        base = 8;
    }
    word.remove_prefix(base == 16 || base == 2 ? 2 : 0);
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), t.bits, base);
    if (status == std::errc::result_out_of_range) {
        throw error(t.where, "number '" + std::string(t.text) + "' does not fit in 64 bits");
    }
    if (status != std::errc() || end != word.data() + word.size()) {
        throw error(t.where, "malformed number '" + std::string(t.text) + "'");
    }
    t.is_unsigned = t.is_unsigned || (t.bits >> 63) != 0;
}

void lexer::lex_float_bits(token& t, std::size_t digits) {
    std::size_t last = position_ + 2;
    while (is_word(at(last))) {
        ++last;
    }
    t.kind = digits == 8 ? token_kind::float32 : token_kind::float64;
    t.text = text_.substr(position_, last - position_);
    const char* first = t.text.data() + 2;
    const auto [end, status] = std::from_chars(first, t.text.data() + t.text.size(), t.bits, 16);
    if (status != std::errc() || t.text.size() != digits + 2 || end != first + digits) {
        throw error(t.where, "malformed number '" + std::string(t.text) + "': expected " + std::to_string(digits) +
                                 " hexadecimal digits behind '" + std::string(t.text.substr(0, 2)) + "'");
    }
    position_ = last;
}

void lexer::lex_decimal_float(token& t, std::size_t last) {
    if (at(last) == '.') {
        ++last;
        while (is(at(last), digit)) {
            ++last;
        }
    }
    if (at(last) == 'e' || at(last) == 'E') {
        last += at(last + 1) == '+' || at(last + 1) == '-' ? 2 : 1;
    }
    while (is_word(at(last))) {
        ++last;
    }
    t.kind = token_kind::float64;
    t.text = text_.substr(position_, last - position_);
    double value = 0;
    const auto [end, status] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
    if (status == std::errc::result_out_of_range) {
        throw error(t.where, "number '" + std::string(t.text) + "' does not fit in a double");
    }
    if (status != std::errc() || end != t.text.data() + t.text.size()) {
        throw error(t.where, "malformed number '" + std::string(t.text) + "'");
    }
    t.bits = std::bit_cast<std::uint64_t>(value);
    position_ = last;
}

} // namespace softgpu::ptx
