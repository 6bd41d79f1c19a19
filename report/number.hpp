// SPDX-License-Identifier: MIT
// Numbers as people write and read them: counts such as 2^22 or 4Ki on the way in, figures on the way out.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpfold::report {

// What was given is no count; the message says why in one line.
class bad_number : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

// A count of 0 to 2^64 - 1: digits (100000), a power (2^22), binary units (4Ki, 1Mi, 2Gi, 1Ti) or an exponent (1e6,
// 1.5e3) whose value is whole. Nothing else is accepted: no sign, no blanks. Throws bad_number.
[[nodiscard]] std::uint64_t parse_count(std::string_view text);

// 4194304 as "4,194,304".
[[nodiscard]] std::string group_digits(std::uint64_t value);

// `digits` significant digits and no exponent where the value is between 1e-4 and 1e9; "–" for what is not finite.
[[nodiscard]] std::string figure(double value, int digits = 3);

// Bytes in decimal units: "16.8 MB".
[[nodiscard]] std::string bytes(std::uint64_t count);

} // namespace warpfold::report
