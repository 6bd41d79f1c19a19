// SPDX-License-Identifier: MIT
// A candidate of arg_min or arg_max in one word of 64 bits: a key of up to 32 bits above an index of 32 bits. The
// better of two candidates is the smaller word.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/arg.hpp"
#include "warpfold/detail/fold.hpp"

namespace warpfold::detail {

template <class Op, class A>
inline constexpr bool packs_into_word_v = false;
template <bool Smallest, class Key>
inline constexpr bool packs_into_word_v<better_candidate<Smallest>, candidate<Key>> = std::is_integral_v<Key> &&
                                                                                      sizeof(Key) <= 4;

inline constexpr std::uint64_t most_packed_elements = ~std::uint32_t{0}; // elements; no_element is the last index

template <bool Smallest>
struct pack_candidate {
    template <class T>
    WARPFOLD_HD constexpr std::uint64_t operator()(const T& x, std::uint64_t index) const {
        const auto key = key_of<T, Smallest>(x);
        const std::uint32_t flip = std::is_signed_v<decltype(key)> ? 0x80000000u : 0u;
        const std::uint32_t ordered = static_cast<std::uint32_t>(key) ^ flip;
        return std::uint64_t{Smallest ? ordered : ~ordered} << 32 | index;
    }
};

// Applies `result` to the candidate in a word.
template <bool Smallest, class Result, class C>
struct unpack_candidate {
    WARPFOLD_HD constexpr auto operator()(std::uint64_t word) const {
        using key = decltype(C::key);
        const auto upper = static_cast<std::uint32_t>(word >> 32);
        const std::uint32_t flip = std::is_signed_v<key> ? 0x80000000u : 0u;
        const auto index = static_cast<std::uint32_t>(word);
        return result(C{static_cast<key>((Smallest ? upper : ~upper) ^ flip), index == ~0u ? no_element : index});
    }

    Result result;
};

} // namespace warpfold::detail
