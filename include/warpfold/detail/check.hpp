// SPDX-License-Identifier: MIT
// Checks of arguments that need no access to the data: null pointers, misaligned addresses, impossible counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "warpfold/error.hpp"

namespace warpfold::detail {

inline constexpr std::uint64_t most_elements = std::uint64_t{1} << 60;

inline void check_number(std::uint64_t n, const char* call) {
    if (n > most_elements) {
        throw invalid_argument(std::string("warpfold: ") + call + ": " + std::to_string(n) +
                               " elements, more than 2^60: a negative number, perhaps");
    }
}

inline void check_address(std::uintptr_t address, std::size_t alignment, std::uint64_t n, const char* call) {
    check_number(n, call);
    if (n != 0 && address == 0) {
        throw invalid_argument(std::string("warpfold: ") + call + ": a null pointer stands for an array of " +
                               std::to_string(n) + (n == 1 ? " element" : " elements"));
    }
    if (address % alignment != 0) {
        throw invalid_argument(std::string("warpfold: ") + call + ": the array is not aligned to the " +
                               std::to_string(alignment) + " bytes of its type");
    }
}

// Throws invalid_argument if `array`, of n elements, is a null or misaligned pointer, or n is above 2^60 (negative
// values converted to unsigned are).
template <class Array>
void check_array(const Array& array, std::uint64_t n, const char* call) {
    if constexpr (std::is_pointer_v<Array>) {
        check_address(reinterpret_cast<std::uintptr_t>(array), alignof(std::remove_pointer_t<Array>), n, call);
    } else {
        check_number(n, call);
    }
}

inline void require_elements(std::uint64_t n, const char* call) {
    if (n == 0) {
        throw invalid_argument(std::string("warpfold: ") + call + ": there is no element to choose from");
    }
}

} // namespace warpfold::detail
