// SPDX-License-Identifier: MIT
// The options of a scan, and what a target gets of them: the type that is folded in, the initial value, the direction
// and the segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/segments.hpp"
#include "warpfold/error.hpp"
#include "warpfold/float16.hpp"
#include "warpfold/operation.hpp"

namespace warpfold {

namespace detail {

template <class Range>
using pointer_into = decltype(std::data(std::declval<const Range&>()));

} // namespace detail

struct reversed_order {};

// Elements are visited from the last to the first, as if `in` and `out` were reversed.
inline constexpr reversed_order reversed{};

// A segment begins at 0 and at every k where flags[k] is true. `Flags` is a pointer or an object with [k]; a range
// gives its data() and size().
template <class Flags>
struct heads {
    static_assert(!std::is_const_v<Flags>, "heads: const flags; their type selects how they are read");

    WARPFOLD_HD explicit constexpr heads(const Flags& flags_) : flags(flags_) {}
    template <class Range>
    requires std::is_same_v<Flags, detail::pointer_into<Range>>
    explicit constexpr heads(const Range& range) : flags(std::data(range)), count(std::size(range)) {}

    Flags flags;
    std::uint64_t count = ~std::uint64_t{0}; // of a range
};
template <class Range>
heads(const Range&) -> heads<detail::pointer_into<Range>>; // does not copy a range
template <class Flags>
heads(const Flags&&) -> heads<Flags>; // unless it is a temporary

// Segments begin at 0 and at begins[0] <= begins[1] <= ... <= begins[count - 1]. Equal values are empty segments;
// values of n and more have no effect. `Begins` is a pointer or an object with [k]; a range gives its data() and
// size(). If the values decrease, the segments are unspecified.
template <class Begins>
struct offsets {
    WARPFOLD_HD constexpr offsets(const Begins& begins_, std::uint64_t count_) : begins(begins_), count(count_) {}
    template <class Range>
    requires std::is_same_v<Begins, detail::pointer_into<Range>>
    constexpr offsets(const Range& range, std::uint64_t count_) : begins(std::data(range)), count(count_) {}
    template <class Range>
    requires std::is_same_v<Begins, detail::pointer_into<Range>>
    explicit constexpr offsets(const Range& range) : begins(std::data(range)), count(std::size(range)) {}

    Begins begins;
    std::uint64_t count;
};
template <class Range>
offsets(const Range&, std::uint64_t) -> offsets<detail::pointer_into<Range>>;
template <class Begins>
offsets(const Begins&&, std::uint64_t) -> offsets<Begins>;
template <class Range>
offsets(const Range&) -> offsets<detail::pointer_into<Range>>;

namespace detail {

struct no_segments {};
struct no_initial {};

template <class X>
struct segments_in {
    static constexpr bool there = false;
};
template <class Flags>
struct segments_in<heads<Flags>> {
    static constexpr bool there = true;
};
template <class Begins>
struct segments_in<offsets<Begins>> {
    static constexpr bool there = true;
};

template <>
struct segments_in<equal_segments> {
    static constexpr bool there = true;
};

// Segments of a scan of n elements. Throws invalid_argument for a length of 0.
template <class Segments>
const Segments& segments_of_scan(const Segments& given, std::uint64_t, const char*) {
    return given;
}
inline offsets<equal_segments> segments_of_scan(const equal_segments& given, std::uint64_t n, const char* call) {
    if (given.length == 0) {
        throw invalid_argument(std::string("warpfold: ") + call + ": the segments of a scan have a length of 0");
    }
    return {given, n / given.length + (n % given.length != 0 ? 1 : 0)};
}

template <class X>
inline constexpr bool is_initial_v = !segments_in<X>::there && !std::is_same_v<X, reversed_order>;

// A scan for a target. `first` is the value before each segment, or no_initial.
template <class A, class First, class Segments, bool Inclusive, bool Reversed>
struct scan_options {
    using value = A;
    static constexpr bool inclusive = Inclusive;
    static constexpr bool reverse = Reversed;
    static constexpr bool has_first = !std::is_same_v<First, no_initial>;
    static constexpr bool segmented = segments_in<Segments>::there;

    First first;
    Segments segments;
};

// The type of the elements of `Out`; void if it is an object that only takes values.
template <class Out>
struct written {
    using type = void;
};
template <class Out>
requires std::is_reference_v<decltype(std::declval<const Out&>()[std::uint64_t{}])>
struct written<Out> {
    using type = element_t<Out>;
};
template <class Out>
using written_t = typename written<Out>::type;

// Sums and products are folded in the type of the output's elements, of 16-bit numbers in float, other operations in their accumulator.
template <class Op, class X, class U>
struct scan_value {
    using type = accumulator_t<Op, X>;
};
template <class Op, class X, class U>
requires(!std::is_void_v<U> &&
         (std::is_base_of_v<sum, Op> || std::is_base_of_v<product, Op>)) struct scan_value<Op, X, U> {
    using type = computed_t<U>;
};
template <class Op, class In, class Map, class Out>
using scan_value_t = typename scan_value<Op, mapped_t<In, Map>, written_t<Out>>::type;

inline void check_segments(const no_segments&, std::uint64_t, const char*) {}
template <class Flags>
void check_segments(const heads<Flags>& given, std::uint64_t n, const char* call) {
    detail::check_array(given.flags, n, call);
    if (given.count < n) {
        throw invalid_argument(std::string("warpfold: ") + call + ": there are " + std::to_string(given.count) +
                               " flags of " + std::to_string(n) + " elements");
    }
}
template <class Begins>
void check_segments(const offsets<Begins>& given, std::uint64_t, const char* call) {
    detail::check_array(given.begins, given.count, call);
}

// Throws if two arrays overlap, unless they are the same array with elements of one size.
template <class In, class Out>
void check_overlap(const In& in, const Out& out, std::uint64_t n, const char* call) {
    if constexpr (std::is_pointer_v<In> && std::is_pointer_v<Out>) {
        const auto a = reinterpret_cast<std::uintptr_t>(in);
        const auto b = reinterpret_cast<std::uintptr_t>(out);
        const bool apart = a + n * sizeof(*in) <= b || b + n * sizeof(*out) <= a;
        if (!apart && (a != b || sizeof(*in) != sizeof(*out))) {
            throw invalid_argument(std::string("warpfold: ") + call +
                                   ": input and output overlap; they may be the same array, or have nothing in common");
        }
    }
}

} // namespace detail
} // namespace warpfold
