// SPDX-License-Identifier: MIT
// arg_min and arg_max as a reduction of (key, index) pairs.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/floating.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/limits.hpp"
#include "warpfold/detail/portable.hpp"
#include "warpfold/float16.hpp"

namespace warpfold {

// The result of arg_min and arg_max.
template <class T>
struct located {
    T value;
    std::uint64_t index;
};

// The index in a result of no elements.
inline constexpr std::uint64_t no_element = ~std::uint64_t{0};

namespace detail {

// An integer with the order of a floating-point number. -0 is below +0, and NaN is outside all numbers, on either side.
template <class T>
WARPFOLD_HD constexpr auto ordered_bits(T x) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8,
                  "warpfold: minimum, maximum, arg_min, arg_max and min_max take float and double, and no long double");
    using key = std::make_signed_t<bits_of<T>>;
    constexpr int sign = sizeof(T) * 8 - 1;
    const key bits = __builtin_bit_cast(key, x);
    return static_cast<key>(bits ^ static_cast<key>(static_cast<bits_of<T>>(bits >> sign) >> 1));
}

// The same, but NaN wins: below all keys for the smallest element, above all for the largest. half and bfloat16 have the
// keys of floats. Other types are their own keys.
template <class T, bool Smallest>
WARPFOLD_HD constexpr auto key_of(const T& x) {
    if constexpr (std::is_floating_point_v<T>) {
        using key = std::make_signed_t<bits_of<T>>;
        constexpr key first = Smallest ? limits_of<key>::smallest : limits_of<key>::largest;
        return x != x ? first : ordered_bits(x);
    } else if constexpr (is_float16_v<T>) {
        return key_of<float, Smallest>(static_cast<float>(x));
    } else {
        return x;
    }
}

// The floating-point number of a key. NaN gives a NaN, not always the same one.
template <class T>
WARPFOLD_HD constexpr T number_of_key(std::make_signed_t<bits_of<T>> key) {
    constexpr int sign = sizeof(T) * 8 - 1;
    const auto half = static_cast<decltype(key)>(static_cast<bits_of<T>>(key >> sign) >> 1);
    return __builtin_bit_cast(T, static_cast<decltype(key)>(key ^ half));
}

template <class Key>
struct candidate {
    Key key;
    std::uint64_t index;
};

template <class T, bool Smallest>
struct candidate_map {
    WARPFOLD_HD constexpr auto operator()(const T& x, std::uint64_t index) const {
        return candidate<decltype(key_of<T, Smallest>(x))>{key_of<T, Smallest>(x), index};
    }
};

// The better of two candidates; of equal ones the first.
template <bool Smallest>
struct better_candidate {
    static constexpr bool commutative = true;
    static constexpr bool smallest = Smallest;

    template <class C>
    requires std::numeric_limits<decltype(C::key)>::is_specialized WARPFOLD_HD static constexpr C identity() {
        using limits = limits_of<decltype(C::key)>;
        return {Smallest ? limits::largest : limits::smallest, no_element};
    }
    template <class C>
    WARPFOLD_HD constexpr C operator()(const C& a, const C& b) const {
        const bool b_first = Smallest ? b.key < a.key : a.key < b.key;
        const bool a_first = Smallest ? a.key < b.key : b.key < a.key;
        return b_first || (!a_first && b.index < a.index) ? b : a;
    }
};

// True if `Op` compares candidates whose keys are numbers.
template <class Op, class C>
inline constexpr bool chooses_number_v = false;
template <bool Smallest, class Key>
inline constexpr bool chooses_number_v<better_candidate<Smallest>, candidate<Key>> = std::is_arithmetic_v<Key>;

// The result of a candidate. Only a NaN is read again.
template <class In>
struct located_result {
    using T = element_t<In>;

    template <class Key>
    WARPFOLD_HD constexpr located<T> operator()(const candidate<Key>& best) const {
        using number = computed_t<T>;
        if constexpr (std::is_floating_point_v<number>) {
            const auto value = number_of_key<number>(best.key);
            return {value != value ? in[best.index] : static_cast<T>(value), best.index};
        } else {
            return {best.key, best.index};
        }
    }
    template <class C>
    WARPFOLD_HD constexpr located<T> operator()(const optional_value<C>& best) const {
        return (*this)(best.value);
    }

    In in;
};

// The same, or no_element of no elements.
template <class In>
struct located_or_none {
    using T = element_t<In>;

    template <class Key>
    WARPFOLD_HD constexpr located<T> operator()(const candidate<Key>& best) const {
        return best.index == no_element ? located<T>{T(), no_element} : result(best);
    }
    template <class C>
    WARPFOLD_HD constexpr located<T> operator()(const optional_value<C>& best) const {
        return best.has_value ? result(best.value) : located<T>{T(), no_element};
    }

    located_result<In> result;
};

// The result from the key alone: of NaN, not always the same one.
template <class T>
struct located_by_key {
    template <class Key>
    WARPFOLD_HD constexpr located<T> operator()(const candidate<Key>& best) const {
        using number = computed_t<T>;
        if constexpr (std::is_floating_point_v<number>) {
            return {static_cast<T>(number_of_key<number>(best.key)), best.index};
        } else {
            return {best.key, best.index};
        }
    }
    template <class C>
    WARPFOLD_HD constexpr located<T> operator()(const optional_value<C>& best) const {
        return (*this)(best.value);
    }
};

template <bool Smallest, class T>
struct arg_fold {
    using map = candidate_map<T, Smallest>;
    using A = decltype(map{}(std::declval<const T&>(), std::uint64_t{}));
    using op = better_candidate<Smallest>;
    static constexpr bool plain = has_identity<op, A>;
    using folded = std::conditional_t<plain, A, optional_value<A>>;
    using folded_map = std::conditional_t<plain, map, optional_map<map, A>>;
    using folded_op = std::conditional_t<plain, op, optional_operation<op>>;
};

} // namespace detail
} // namespace warpfold
