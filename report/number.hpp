// SPDX-License-Identifier: MIT
// Numbers for people: parsing of counts such as 2^22 or 4Ki, formatting of figures.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpfold::report {

// The text is not a count; the message gives the reason in one line.
class bad_number : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

// A count of 0 to 2^64 - 1: digits (100000), a power (2^22), binary units (4Ki, 1Mi, 2Gi, 1Ti) or an exponent (1e6,
// 1.5e3) with an integer value. No sign, no blanks. Throws bad_number.
[[nodiscard]] std::uint64_t parse_count(std::string_view text);

// 4194304 as "4,194,304".
[[nodiscard]] std::string group_digits(std::uint64_t value);

// 99999 as "99999", 1234567 as "1.23M".
[[nodiscard]] std::string short_count(std::uint64_t value);

// The same; nothing for 0.
[[nodiscard]] std::string count_or_blank(std::uint64_t value);

// One decimal of a quotient; nothing where there is none.
[[nodiscard]] std::string quotient(std::uint64_t part, std::uint64_t whole);

// `digits` significant digits, without exponent for values between 1e-4 and 1e9; "–" if not finite.
[[nodiscard]] std::string figure(double value, int digits = 3);

// Bytes in decimal units: "16.8 MB".
[[nodiscard]] std::string bytes(std::uint64_t count);

} // namespace warpfold::report
