// SPDX-License-Identifier: MIT
// Where a PTX text is wrong, and why.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace softgpu::ptx {

// A place in a PTX text; lines and columns count from 1, columns in bytes.
struct location {
    std::uint32_t line = 0;
    std::uint32_t column = 0;

    bool operator==(const location&) const = default;
};

// Thrown by the lexer and the parser. what() reads "line:column: message".
class error : public std::runtime_error {
public:
    error(location where, const std::string& message)
        : std::runtime_error(std::to_string(where.line) + ":" + std::to_string(where.column) + ": " + message),
          where_(where) {}

    [[nodiscard]] location where() const noexcept { return where_; }

private:
    location where_;
};

// The text is of a later version of PTX than this parser reads.
class unknown_version : public error {
public:
    using error::error;
};

} // namespace softgpu::ptx
