// SPDX-License-Identifier: MIT
// The arrays of a call as its engine gets them: pointers, or objects with [k].
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/error.hpp"

namespace warpfold::detail {

// A pointer to const, so that arrays of T and of const T are one case.
template <class In>
auto read_only(const In& in) {
    if constexpr (std::is_pointer_v<In>) {
        return static_cast<const std::remove_pointer_t<In>*>(in);
    } else {
        return in;
    }
}

// The output as a pointer or object. Throws if a range is too short.
template <class Out>
auto place_of(Out& out, std::uint64_t n, const char* call) {
    if constexpr (sized_range<Out>) {
        if (static_cast<std::uint64_t>(std::size(out)) < n) {
            throw invalid_argument(std::string("warpfold: ") + call + ": the output has room for " +
                                   std::to_string(std::size(out)) + " of " + std::to_string(n) + " elements");
        }
    }
    return detail::output_of(out);
}

// Throws invalid_argument if `out` begins inside the n elements of `in`; with `SamePlace` it may begin where `in` does, with
// elements of one size.
template <bool SamePlace, class In, class Out>
void check_begins_apart(const In& in, const Out& out, std::uint64_t n, const char* call) {
    if constexpr (std::is_pointer_v<In> && std::is_pointer_v<Out>) {
        const auto a = reinterpret_cast<std::uintptr_t>(in);
        const auto b = reinterpret_cast<std::uintptr_t>(out);
        if (b - a < n * sizeof(*in) && !(SamePlace && a == b && sizeof(*in) == sizeof(*out))) {
            throw invalid_argument(std::string("warpfold: ") + call + ": an output begins inside the input");
        }
    }
}

} // namespace warpfold::detail
