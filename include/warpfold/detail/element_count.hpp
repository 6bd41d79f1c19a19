// SPDX-License-Identifier: MIT
// The number of elements of a call: an integer, or one in the target's memory that an earlier call has written.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/error.hpp"

namespace warpfold {

// In place of n: the number of elements is *number, or `most` where that is smaller. `number` is in the target's memory,
// not negative, and read in the order of the target, so that a chain of calls needs no round trip. The launch and the
// workspace are those of `most` elements; arrays have room for *number.
template <std::integral I>
struct count_at {
    WARPFOLD_HD constexpr count_at(const I* number_, std::uint64_t most_) : number(number_), most(most_) {}

    [[nodiscard]] WARPFOLD_HD std::uint64_t value() const {
        const auto n = static_cast<std::uint64_t>(*number);
        return n < most ? n : most;
    }

    const I* number;
    std::uint64_t most;
};
template <class I>
count_at(I*, std::uint64_t) -> count_at<std::remove_const_t<I>>;

namespace detail {

struct known_count {
    [[nodiscard]] WARPFOLD_HD std::uint64_t value() const { return most; }

    std::uint64_t most;
};

// So many times a count_at, of elements in groups.
template <class I>
struct multiplied_count {
    [[nodiscard]] WARPFOLD_HD std::uint64_t value() const { return count_at<I>(number, most / times).value() * times; }

    const I* number;
    std::uint64_t most; // a multiple of `times`
    unsigned times;
};
template <class I>
inline constexpr bool is_count_at_v<multiplied_count<I>> = true;

// A product that is too large stays an impossible number of elements.
template <unsigned Times, element_count N>
auto multiplied(const N& n) {
    constexpr std::uint64_t most = ~std::uint64_t{0} / Times;
    if constexpr (is_count_at_v<N>) {
        return multiplied_count<std::remove_cvref_t<decltype(*n.number)>>{n.number, std::min(n.most, most) * Times,
                                                                          Times};
    } else {
        return std::min(static_cast<std::uint64_t>(n), most) * Times;
    }
}

// How many elements an input has at least, before the number is read.
template <class Count>
std::uint64_t least_of(const Count& count) {
    return is_count_at_v<Count> && count.most > 1 ? 1 : count.most;
}

// How many elements there are at most.
template <element_count N>
std::uint64_t most_of(const N& n) {
    if constexpr (is_count_at_v<N>) {
        return n.most;
    } else {
        return static_cast<std::uint64_t>(n);
    }
}

// A known_count, or the count_at. Throws invalid_argument for impossible numbers and null or misaligned pointers.
template <element_count N>
auto checked_count(const N& n, const char* call) {
    if constexpr (is_count_at_v<N>) {
        detail::check_number(n.most, call);
        detail::check_array(n.number, 1, call);
        return n;
    } else {
        const known_count known{static_cast<std::uint64_t>(n)};
        detail::check_number(known.most, call);
        return known;
    }
}

// data_of(x). Throws invalid_argument if x is a range of fewer than n elements, as far as n is known: `what` says what they are.
template <element_count N, class X>
auto data_of_at_least(const N& n, const X& x, const char* what, const char* call) {
    if constexpr (sized_range<X>) {
        const std::uint64_t least = least_of(detail::checked_count(n, call));
        if (std::size(x) < least) {
            throw invalid_argument(std::string("warpfold: ") + call + ": there are " + std::to_string(std::size(x)) +
                                   " " + what + " of " + std::to_string(least) + " elements");
        }
    }
    return detail::data_of(x);
}

// For folds: throws invalid_argument where it is known that there are no elements. A rank's part may be empty.
template <class On, element_count N>
void require_elements(const N& n, const char* call) {
    if constexpr (!is_count_at_v<N> && !is_split_v<On>) {
        detail::require_elements(static_cast<std::uint64_t>(n), call);
    }
}

// Throws where the number of results would be written over the number of elements, which other blocks still read.
template <class Count, class Place>
void check_place(const Count& count, const Place& place, const char* call) {
    detail::check_array(place, 1, call);
    if constexpr (is_count_at_v<Count> && std::is_pointer_v<Place>) {
        if (static_cast<const void*>(count.number) == static_cast<const void*>(place)) {
            throw invalid_argument(std::string("warpfold: ") + call +
                                   ": the number of results has the place of the number of elements");
        }
    }
}

} // namespace detail
} // namespace warpfold
