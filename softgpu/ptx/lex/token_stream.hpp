// SPDX-License-Identifier: MIT
// Tokens with one token of look-ahead, and a parser's tests on them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "softgpu/ptx/lex/lexer.hpp"

namespace softgpu::ptx {

class token_stream {
public:
    // `end_name` names the end in messages: "the end of the text".
    token_stream(std::string_view text, location start, std::string_view end_name)
        : text_(text), end_name_(end_name), lexer_(text, start), current_(lexer_.next()) {}

    [[nodiscard]] const token& peek() const noexcept { return current_; }
    [[nodiscard]] bool at(char c) const noexcept { return current_.is(c); }
    [[nodiscard]] bool at_end() const noexcept { return current_.kind == token_kind::end; }
    [[nodiscard]] bool at_kind(token_kind kind) const noexcept { return current_.kind == kind; }
    [[nodiscard]] std::string_view text() const noexcept { return text_; }

    token next() {
        const token t = current_;
        current_ = lexer_.next();
        return t;
    }
    bool accept(char c) {
        if (!at(c)) {
            return false;
        }
        current_ = lexer_.next();
        return true;
    }
    bool accept_dotted(std::string_view name) {
        if (!current_.is_dotted(name)) {
            return false;
        }
        current_ = lexer_.next();
        return true;
    }

    // Throws ptx::error: "expected WHAT, found ..." at the current token.
    [[noreturn]] void fail_expected(std::string_view what) const {
        throw error(current_.where, "expected " + std::string(what) + ", found " + described(current_));
    }
    // Takes the character or throws. `context` ends the message: "expected ';' " + context.
    void expect(char c, std::string_view context) {
        if (!accept(c)) {
            std::string what{'\'', c, '\'', ' '};
            fail_expected(what.append(context));
        }
    }
    token expect_kind(token_kind kind, std::string_view what) {
        if (current_.kind != kind) {
            fail_expected(what);
        }
        return next();
    }
    // An integer literal of at most `most`.
    std::uint64_t expect_integer(std::string_view what, std::uint64_t most) {
        const token t = expect_kind(token_kind::integer, what);
        if (t.bits > most) {
            throw error(t.where, "number '" + std::string(t.text) + "' is out of range: " + std::string(what) +
                                     " is at most " + std::to_string(most));
        }
        return t.bits;
    }
    // With the current token '{': skips to behind its '}', and returns the position of that.
    std::size_t skip_braces(std::string_view what) {
        const std::size_t last = lexer_.skip_braces(current_.where, what);
        current_ = lexer_.next();
        return last;
    }
    // Where the text goes on behind the current token, which is the last one read.
    [[nodiscard]] location behind() const noexcept { return lexer_.where(); }

    [[nodiscard]] std::string described(const token& t) const {
        switch (t.kind) {
        case token_kind::end: return std::string(end_name_);
        case token_kind::dotted: return "'." + std::string(t.text) + "'";
        case token_kind::string: return "a string";
        default: return "'" + std::string(t.text) + "'";
        }
    }

private:
    std::string_view text_;
    std::string_view end_name_;
    lexer lexer_;
    token current_;
};

} // namespace softgpu::ptx
