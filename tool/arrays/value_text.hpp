// SPDX-License-Identifier: MIT
// Numbers as text.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <type_traits>

namespace warpfold::calls {

// The shortest text that reads back to the same value; "nan" for every NaN.
template <class Value>
std::string value_text(Value x) {
    if constexpr (std::is_floating_point_v<Value>) {
        if (std::isnan(x)) {
            return "nan"; // the sign of a NaN means nothing
        }
    }
    std::array<char, 64> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), x).ptr;
    return {text.data(), end};
}

} // namespace warpfold::calls
