// SPDX-License-Identifier: MIT
// Reading counts and writing figures.
#include "report/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "report/text.hpp"

namespace warpfold::report {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

[[noreturn]] void not_a_count(std::string_view text) {
    throw bad_number(fmt::format("'{}' is no count (write it as 100000, 2^22, 4Ki, 1Mi or 1e6)", printable(text)));
}

[[noreturn]] void too_large(std::string_view text) {
    throw bad_number(fmt::format("'{}' is more than 2^64 - 1", printable(text)));
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::string_view text) {
    if (b != 0 && a > largest / b) {
        too_large(text);
    }
    return a * b;
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::string_view text) {
    std::uint64_t value = 1;
    if (base <= 1) {
        return exponent == 0 ? 1 : base;
    }
    for (std::uint64_t i = 0; i < exponent; ++i) {
        value = multiply(value, base, text);
    }
    return value;
}

// `digits` must be one or more decimal digits.
std::uint64_t whole(std::string_view digits, std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) {
        too_large(text);
    }
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) {
        not_a_count(text);
    }
    return value;
}

std::uint64_t with_exponent(std::string_view mantissa, std::string_view exponent_digits, std::string_view text) {
    if (exponent_digits.starts_with('+')) {
        exponent_digits.remove_prefix(1);
    }
    std::uint64_t exponent = whole(exponent_digits, text);
    std::string digits(mantissa);
    if (const auto point = digits.find('.'); point != std::string::npos) {
        std::uint64_t fraction = digits.size() - point - 1;
        digits.erase(point, 1);
        while (fraction > 0 && digits.back() == '0') {
            digits.pop_back();
            --fraction;
        }
        if (fraction > exponent) {
            throw bad_number(fmt::format("'{}' is no whole number", printable(text)));
        }
        exponent -= fraction;
    }
    const std::uint64_t value = whole(digits, text);
    return value == 0 ? 0 : multiply(value, power(10, std::min<std::uint64_t>(exponent, 20), text), text);
}

} // namespace

std::uint64_t parse_count(std::string_view text) {
    if (const auto caret = text.find('^'); caret != std::string_view::npos) {
        return power(whole(text.substr(0, caret), text), whole(text.substr(caret + 1), text), text);
    }
    if (const auto e = text.find_first_of("eE"); e != std::string_view::npos) {
        return with_exponent(text.substr(0, e), text.substr(e + 1), text);
    }
    constexpr std::array<std::string_view, 4> units{"Ki", "Mi", "Gi", "Ti"};
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (text.ends_with(units[i])) {
            const std::uint64_t value = whole(text.substr(0, text.size() - 2), text);
            return multiply(value, std::uint64_t{1} << (10 * (i + 1)), text);
        }
    }
    return whole(text, text);
}

std::string group_digits(std::uint64_t value) {
    const std::string digits = std::to_string(value);
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i != 0 && (digits.size() - i) % 3 == 0) {
            out += ',';
        }
        out += digits[i];
    }
    return out;
}

std::string count_or_blank(std::uint64_t value) { return value == 0 ? std::string() : short_count(value); }

std::string quotient(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? std::string() : fmt::format("{:.1f}", static_cast<double>(part) / static_cast<double>(whole));
}

std::string short_count(std::uint64_t value) {
    if (value < 100000) {
        return std::to_string(value);
    }
    constexpr std::array units{"k", "M", "G", "T", "P"};
    double part = static_cast<double>(value) / 1000;
    std::size_t unit = 0;
    for (; part >= 999.5 && unit + 1 < units.size(); ++unit) {
        part /= 1000;
    }
    return figure(part) + units[unit];
}

std::string figure(double value, int digits) {
    if (!std::isfinite(value)) {
        return "–";
    }
    const double size = std::abs(value);
    if (size == 0) {
        return "0";
    }
    if (size < 1e-4 || size >= 1e9) {
        return fmt::format("{:.{}e}", value, digits - 1);
    }
    // Round first: 9.996 with three digits is 10.0, not 10.00.
    const double rounded = std::strtod(fmt::format("{:.{}e}", size, digits - 1).c_str(), nullptr);
    const int decimals = std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(rounded))));
    return fmt::format("{:.{}f}", value, decimals);
}

std::string bytes(std::uint64_t count) {
    constexpr std::array<std::string_view, 5> units{"kB", "MB", "GB", "TB", "PB"};
    if (count < 1000) {
        return fmt::format("{} bytes", count);
    }
    double value = static_cast<double>(count) / 1000;
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    return fmt::format("{} {}", figure(value, 3), units[unit]);
}

} // namespace warpfold::report
