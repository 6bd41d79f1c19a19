// SPDX-License-Identifier: MIT
// What the calls of select.hpp and by_key.hpp are for every target: tests that select elements, and tasks.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/argument_arrays.hpp"
#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/device_lambda.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/detail/scan_options.hpp"

namespace warpfold {

// a == b: the equality of calls without one. NaN is not equal to itself.
struct equals {
    template <class T>
    WARPFOLD_HD constexpr bool operator()(const T& a, const T& b) const {
        return a == b;
    }
};

namespace detail {

// --- tests: which elements are selected ----------------------------------------------------------------------------------

// Those for which predicate(x), or predicate(x, index), is true.
template <class Predicate>
struct element_test {
    Predicate predicate;
};
// Those at whose index it is true of the stencil's element.
template <class Stencil, class Predicate>
struct stencil_test {
    Stencil stencil;
    Predicate predicate;
};
// The first of each run of equal neighbours.
template <class Equal>
struct run_head_test {
    Equal equal;
};

struct is_true {
    template <class T>
    WARPFOLD_HD constexpr bool operator()(const T& x) const {
        return static_cast<bool>(x);
    }
};

template <class Test>
inline constexpr bool is_stencil_test_v = false;
template <class Stencil, class Predicate>
inline constexpr bool is_stencil_test_v<stencil_test<Stencil, Predicate>> = true;

// A test by a range of so many elements.
template <class Test>
struct test_by_range {
    Test test;
    std::uint64_t size;
};

// The test of a call with n elements, from what the user gives. Throws invalid_argument if it reads a range that is shorter.
template <class Test, class Count>
auto test_of(const Test& test, const Count&, const char*) {
    if constexpr (is_stencil_test_v<Test>) {
        return test;
    } else {
        return element_test<stored_callable_t<Test>>{test};
    }
}
template <class Test, class Count>
auto test_of(const test_by_range<Test>& of_range, const Count& count, const char* call) {
    if (of_range.size < least_of(count)) {
        throw invalid_argument(std::string("warpfold: ") + call + ": there are " + std::to_string(of_range.size) +
                               " flags of " + std::to_string(least_of(count)) + " elements");
    }
    return of_range.test;
}
template <class Equal, class Count>
auto test_of(const run_head_test<Equal>& test, const Count&, const char*) {
    return test;
}

WARPFOLD_CALLS_ANY
template <class Equal, class T>
WARPFOLD_HD constexpr bool equal_by(const Equal& equal, const T& a, const T& b) {
    return static_cast<bool>(equal(a, b));
}

// The type in which elements of type T are written to `Out`.
template <class Out, class T>
using element_written_t = std::conditional_t<std::is_void_v<written_t<Out>>, T, written_t<Out>>;

// Where the number of results is written.
template <class Place>
concept number_place = place_for<Place, std::uint64_t>;

template <class Place>
WARPFOLD_HD void write_number(const Place& place, std::uint64_t number) {
    if constexpr (std::is_pointer_v<Place>) {
        *place = static_cast<std::remove_pointer_t<Place>>(number);
    } else {
        *place = number;
    }
}

// Flags: whether a run of equal keys begins.
template <class Keys, class Equal>
struct run_heads {
    WARPFOLD_HD bool operator[](std::uint64_t k) const {
        return k == 0 || !detail::equal_by(equal, static_cast<const element_t<Keys>&>(keys[k - 1]),
                                           static_cast<const element_t<Keys>&>(keys[k]));
    }

    Keys keys;
    Equal equal;
};

// --- tasks ---------------------------------------------------------------------------------------------------------------

struct no_output {};

// An array of ones: folds of its elements are run lengths.
struct all_ones {
    WARPFOLD_HD constexpr std::uint32_t operator[](std::uint64_t) const { return 1; }
};

// Selected elements go to `out`, the others to `rejected` unless that is a no_output. The count is that of the selected.
template <class In, class Out, class Rejected, class Test>
struct selection {
    static constexpr bool has_rejected = !std::is_same_v<Rejected, no_output>;

    In in;
    Out out;
    Rejected rejected;
    Test test;

    // Whether results are written over the input.
    [[nodiscard]] bool is_in_place() const {
        if constexpr (std::is_pointer_v<In> && std::is_pointer_v<Out>) {
            return static_cast<const void*>(in) == static_cast<const void*>(out);
        }
        return false;
    }
};

// The first key of each run of equal keys goes to `keys_out`, op over the run's values, folded in A, to `values_out`.
template <class A, class Keys, class Values, class KeysOut, class ValuesOut, class Op, class Equal>
struct keyed_fold {
    using value = A;

    Keys keys;
    Values values;
    KeysOut keys_out;
    ValuesOut values_out;
    Op op;
    Equal equal;

    [[nodiscard]] static constexpr bool is_in_place() { return false; }
};

} // namespace detail
} // namespace warpfold
