// SPDX-License-Identifier: MIT
// Reductions on the host whose values are pairs, told apart so that the compiler makes vectors of each half: the
// smallest and largest element, and the place of one of them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/arg.hpp"
#include "warpfold/detail/extremes.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/host/lanes.hpp"

namespace warpfold::detail {

// The smallest and the largest of [begin, end), in one pass.
template <class E, class In>
E extremes_in_lanes(const In& in, std::uint64_t begin, std::uint64_t end) {
    using T = decltype(E::smallest);
    const minimum smaller_one;
    const maximum larger_one;
    T low[host_lanes], high[host_lanes];
    for (std::uint64_t j = 0; j < host_lanes; ++j) {
        low[j] = minimum::identity<T>();
        high[j] = maximum::identity<T>();
    }
    std::uint64_t k = begin;
    for (; k + host_lanes <= end; k += host_lanes) {
        for (std::uint64_t j = 0; j < host_lanes; ++j) {
            const T x = in[k + j];
            low[j] = smaller_one(low[j], x);
            high[j] = larger_one(high[j], x);
        }
    }
    for (; k < end; ++k) {
        low[0] = smaller_one(low[0], in[k]);
        high[0] = larger_one(high[0], in[k]);
    }
    return {joined_lanes(low, smaller_one), joined_lanes(high, larger_one)};
}

// The first of the best keys of [begin, end). First the key alone, in lanes; then its place, while the elements are
// still in the cache.
template <bool Smallest, class C, class In>
C best_in_lanes(const In& in, std::uint64_t begin, std::uint64_t end) {
    using key = decltype(C::key);
    using better = std::conditional_t<Smallest, minimum, maximum>;
    const auto key_at = [&](std::uint64_t k) { return key_of<element_t<In>, Smallest>(in[k]); };
    key lane[host_lanes];
    for (key& one : lane) {
        one = better::template identity<key>();
    }
    std::uint64_t k = begin;
    for (; k + host_lanes <= end; k += host_lanes) {
        for (std::uint64_t j = 0; j < host_lanes; ++j) {
            lane[j] = better{}(lane[j], key_at(k + j));
        }
    }
    for (; k < end; ++k) {
        lane[0] = better{}(lane[0], key_at(k));
    }
    return {joined_lanes(lane, better{}), begin};
}

// Where in [begin, end) the key stands first.
template <bool Smallest, class Key, class In>
std::uint64_t place_of(const Key& wanted, const In& in, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t k = begin;
    while (k + 1 < end && key_of<element_t<In>, Smallest>(in[k]) != wanted) {
        ++k;
    }
    return k;
}

} // namespace warpfold::detail
