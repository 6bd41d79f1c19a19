// SPDX-License-Identifier: MIT
// Splits a PTX text into tokens, which point into it.
#pragma once

#include <cstdint>
#include <string_view>

#include "softgpu/ptx/error.hpp"

namespace softgpu::ptx {

enum class token_kind : std::uint8_t {
    end,
    identifier,  // add, %r1, $L__BB0_1, _
    dotted,      // .global, .L2::128B, .2d: text is without the dot
    integer,     // bits; is_unsigned for 7U and what a signed 64-bit integer cannot hold
    float32,     // 0f3F800000: bits
    float64,     // 0d3FF0000000000000, 1.5, .5: bits
    string,      // text is without the quotes
    punctuation, // one character
};

struct token {
    token_kind kind = token_kind::end;
    char character = 0; // of punctuation
    bool glued = false; // follows the token before it without a gap
    bool is_unsigned = false;
    std::uint64_t bits = 0;
    std::string_view text;
    location where;
    std::size_t position = 0; // bytes from the start of the text

    [[nodiscard]] bool is(char c) const noexcept { return kind == token_kind::punctuation && character == c; }
    [[nodiscard]] bool is_dotted(std::string_view name) const noexcept {
        return kind == token_kind::dotted && text == name;
    }
    [[nodiscard]] bool is_identifier(std::string_view name) const noexcept {
        return kind == token_kind::identifier && text == name;
    }
};

class lexer {
public:
    // The text lasts longer than the lexer. `start` is where its first byte stands in the module.
    explicit lexer(std::string_view text, location start = {1, 1}) noexcept;

    // Comments, and lines that begin with '#', are skipped. Throws ptx::error.
    [[nodiscard]] token next();

    // Called behind a '{': skips to the matching '}' and over it, and returns the position of that '}'. `open` is where
    // the '{' stands, `what` what it opens, for the error.
    std::size_t skip_braces(location open, std::string_view what);

    [[nodiscard]] std::size_t position() const noexcept { return position_; }
    [[nodiscard]] location where() const noexcept { return place(position_); }

private:
    [[nodiscard]] location place(std::size_t position) const noexcept {
        return {line_, static_cast<std::uint32_t>(position - line_start_ + 1)};
    }
    [[nodiscard]] char at(std::size_t position) const noexcept {
        return position < text_.size() ? text_[position] : '\0';
    }
    void new_line() noexcept {
        ++line_;
        line_start_ = position_ + 1;
    }
    void skip_blanks();
    void skip_block_comment();
    void skip_line() noexcept;
    [[nodiscard]] bool begins_line() const noexcept; // nothing but blanks stands before position_ in its line
    [[nodiscard]] std::size_t skip_string();
    void lex_dotted(token& t);
    void lex_number(token& t);
    void lex_float_bits(token& t, std::size_t digits);
    void lex_decimal_float(token& t, std::size_t last);

    std::string_view text_;
    std::size_t position_ = 0;
    std::size_t line_start_ = 0; // may wrap below zero for a start in the middle of a line
    std::uint32_t line_ = 1;
    bool after_word_ = false; // the last token is one that a modifier may follow
};

} // namespace softgpu::ptx
