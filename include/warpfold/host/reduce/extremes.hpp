// SPDX-License-Identifier: MIT
// Reductions to pairs, with each half in lanes of its own so that compilers vectorise them: min_max, arg_min, arg_max.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "warpfold/detail/arg.hpp"
#include "warpfold/detail/extremes.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/host/core/vectors.hpp"

namespace warpfold::detail {

// The smallest and the largest of [begin, end), in one pass. Floating-point numbers are compared as integers of the
// same order, outside of which NaN lies on either side.
template <class E, class In>
[[gnu::always_inline]] inline E extremes_in_lanes(const In& in, std::uint64_t begin, std::uint64_t end) {
    using T = decltype(E::smallest);
    const auto key_of_number = [](const T& x) {
        if constexpr (std::is_floating_point_v<T>) {
            return ordered_bits(x);
        } else {
            return x;
        }
    };
    using key = decltype(key_of_number(T{}));
    const minimum smaller_one;
    const maximum larger_one;
    const key none_smaller = key_of_number(minimum::identity<T>()), none_larger = key_of_number(maximum::identity<T>());
    key low[host_lanes], high[host_lanes];
    for (std::uint64_t j = 0; j < host_lanes; ++j) {
        low[j] = none_smaller;
        high[j] = none_larger;
    }
    std::uint64_t k = begin;
    for (; k + host_lanes <= end; k += host_lanes) {
        prefetch_behind(in, k);
        WARPFOLD_OVER_LANES
        for (std::uint64_t j = 0; j < host_lanes; ++j) {
            const key x = key_of_number(static_cast<T>(in[k + j]));
            low[j] = smaller_one(low[j], x);
            high[j] = larger_one(high[j], x);
        }
    }
    for (; k < end; ++k) {
        low[0] = smaller_one(low[0], key_of_number(static_cast<T>(in[k])));
        high[0] = larger_one(high[0], key_of_number(static_cast<T>(in[k])));
    }
    const key least = reduce_lanes(low, smaller_one), most = reduce_lanes(high, larger_one);
    if constexpr (std::is_floating_point_v<T>) {
        const T nan = std::numeric_limits<T>::quiet_NaN();
        return least < none_larger || most > none_smaller ? E{nan, nan}
                                                          : E{number_of_key<T>(least), number_of_key<T>(most)};
    } else {
        return {least, most};
    }
}

// The best key of [begin, end), with index `begin`. The index is searched for afterwards, while the elements are in the
// cache.
template <bool Smallest, class C, class In>
[[gnu::always_inline]] inline C best_in_lanes(const In& in, std::uint64_t begin, std::uint64_t end) {
    using key = decltype(C::key);
    using better = std::conditional_t<Smallest, minimum, maximum>;
    const auto key_at = [&](std::uint64_t k) { return key_of<element_t<In>, Smallest>(in[k]); };
    key lane[host_lanes];
    for (key& one : lane) {
        one = better::template identity<key>();
    }
    std::uint64_t k = begin;
    for (; k + host_lanes <= end; k += host_lanes) {
        prefetch_behind(in, k);
        WARPFOLD_OVER_LANES
        for (std::uint64_t j = 0; j < host_lanes; ++j) {
            lane[j] = better{}(lane[j], key_at(k + j));
        }
    }
    for (; k < end; ++k) {
        lane[0] = better{}(lane[0], key_at(k));
    }
    return {reduce_lanes(lane, better{}), begin};
}

// The first index in [begin, end) with the key, which is there.
template <bool Smallest, class Key, class In>
[[gnu::always_inline]] inline std::uint64_t place_in_lanes(const Key& wanted, const In& in, std::uint64_t begin,
                                                           std::uint64_t end) {
    const auto is_at = [&](std::uint64_t k) { return key_of<element_t<In>, Smallest>(in[k]) == wanted; };
    std::uint64_t k = begin;
    for (; k + host_lanes <= end; k += host_lanes) {
        Key same = 0;
        WARPFOLD_OVER_LANES
        for (std::uint64_t j = 0; j < host_lanes; ++j) {
            same = static_cast<Key>(same | static_cast<Key>(is_at(k + j)));
        }
        if (same != 0) {
            break;
        }
    }
    while (k + 1 < end && !is_at(k)) {
        ++k;
    }
    return k;
}
template <bool Smallest, class Key, class In>
std::uint64_t place_of(const Key& wanted, const In& in, std::uint64_t begin, std::uint64_t end) {
    return with_widest_vectors([&] { return place_in_lanes<Smallest>(wanted, in, begin, end); });
}

} // namespace warpfold::detail
