// SPDX-License-Identifier: MIT
// Complex numbers as pairs of real numbers, for exact sums of their parts: std::complex, cuda::std::complex,
// thrust::complex, cuComplex and cuDoubleComplex, recognised by their members. None of their headers is needed.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/portable.hpp"

namespace warpfold::detail {

template <class T>
concept exact_part = std::is_same_v<T, float> || std::is_same_v<T, double>;

// `type`: of the parts, which are next to each other in memory.
template <class C>
struct complex_part {};
template <class C>
requires(exact_part<typename C::value_type> && sizeof(C) == 2 * sizeof(typename C::value_type) && requires(const C& c) {
    { c.real() } -> std::convertible_to<typename C::value_type>;
    { c.imag() } -> std::convertible_to<typename C::value_type>;
}) struct complex_part<C> {
    using type = typename C::value_type;
};
template <class C>
requires(exact_part<decltype(C::x)>&& std::is_same_v<decltype(C::x), decltype(C::y)> &&
         sizeof(C) == 2 * sizeof(decltype(C::x))) struct complex_part<C> {
    using type = decltype(C::x);
};
template <class C>
using complex_part_t = typename complex_part<std::remove_cv_t<C>>::type;

// `type`: complex numbers of the kind of C with parts of type T (exact_sum.cuh adds float2).
template <class C, class T>
struct with_parts {};
template <class C, class T>
requires std::is_same_v<complex_part_t<C>, T>
struct with_parts<C, T> {
    using type = C;
};
template <template <class> class C, class Part, class T>
requires(!std::is_same_v<Part, T>) struct with_parts<C<Part>, T> {
    using type = C<T>;
};

template <class C>
concept complex_number = requires {
    typename complex_part_t<C>;
};
template <class In>
concept complex_summable = !array_like<In> && complex_number<element_t<In>>;

// The imaginary part of an element if `part` is 1, the real one if it is 0.
template <class T, class In>
WARPFOLD_HD T part_at(const In& in, std::uint64_t k, unsigned part) {
    if constexpr (std::is_pointer_v<In>) {
        return reinterpret_cast<const complex_part_t<std::remove_pointer_t<In>>*>(in)[2 * k + part];
    } else {
        const auto c = in[k];
        if constexpr (requires { c.real(); }) {
            return static_cast<T>(part == 0 ? c.real() : c.imag());
        } else {
            return static_cast<T>(part == 0 ? c.x : c.y);
        }
    }
}

// One part of each of n elements, with its sign changed if `Negates`.
template <class T, class In, bool Negates = false>
struct complex_parts {
    WARPFOLD_HD T operator[](std::uint64_t k) const {
        const T x = detail::part_at<T>(in, k, part);
        return Negates ? -x : x;
    }

    In in;
    unsigned part;
};

// Both parts of each of n elements, as 2 n numbers: part, other part, part, ... The second of each pair has its sign
// changed if `negates`.
template <class T, class In>
struct complex_pairs {
    WARPFOLD_HD T operator[](std::uint64_t k) const {
        const auto second = static_cast<unsigned>(k % 2);
        const T x = detail::part_at<T>(in, k / 2, second ^ first);
        return second != 0 && negates ? -x : x;
    }

    In in;
    unsigned first;
    bool negates;
};

// The 2 n numbers in the order of memory.
template <class T, class In>
auto as_numbers(const In& in) {
    if constexpr (std::is_pointer_v<In>) {
        if constexpr (std::is_same_v<complex_part_t<std::remove_pointer_t<In>>, T>) {
            return reinterpret_cast<const T*>(in);
        } else {
            return complex_pairs<T, In>{in, 0, false};
        }
    } else {
        return complex_pairs<T, In>{in, 0, false};
    }
}

// Elements of real numbers (Parts = 1) or of complex ones (Parts = 2): one part of each, and all parts as numbers.
template <class T, unsigned Parts, class In>
auto part_of_elements(const In& in, unsigned part) {
    if constexpr (Parts == 1) {
        return in;
    } else {
        return complex_parts<T, In>{in, part};
    }
}
template <class T, unsigned Parts, class In>
auto all_parts(const In& in) {
    if constexpr (Parts == 1) {
        return in;
    } else {
        return detail::as_numbers<T>(in);
    }
}

// Where one part of each result goes.
template <class Out>
struct complex_places {
    WARPFOLD_HD auto& operator[](std::uint64_t k) const {
        return reinterpret_cast<complex_part_t<std::remove_pointer_t<Out>>*>(out)[2 * k + part];
    }

    Out out;
    unsigned part;
};
template <class C>
auto* part_place(C* out, unsigned part) {
    return reinterpret_cast<complex_part_t<C>*>(out) + part;
}

// An output for complex numbers with parts of type T.
template <class Out, class T>
concept complex_place_for = requires(const Out& out) {
    detail::part_place(detail::decayed_output(out), 0u);
    requires std::is_same_v<
        std::remove_cv_t<std::remove_pointer_t<decltype(detail::part_place(detail::decayed_output(out), 0u))>>, T>;
};

} // namespace warpfold::detail
