// SPDX-License-Identifier: MIT
// Reductions in independent lanes, which compilers vectorise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "warpfold/detail/fold.hpp"

namespace warpfold::detail {

inline constexpr std::uint64_t host_lanes = 32;

// Calls work(0), ... work(Runs - 1) as separate statements, so that sums stay in registers.
template <class Work, std::size_t... Run>
inline void unrolled(const Work& work, std::index_sequence<Run...>) {
    (work(Run), ...);
}
template <std::uint64_t Runs, class Work>
inline void unrolled(const Work& work) {
    unrolled(work, std::make_index_sequence<Runs>{});
}

template <class A, class Op>
A reduce_lanes(A (&lane)[host_lanes], const Op& op) {
    for (std::uint64_t half = host_lanes / 2; half != 0; half /= 2) {
        for (std::uint64_t j = 0; j < half; ++j) {
            lane[j] = op(lane[j], lane[j + half]);
        }
    }
    return lane[0];
}

template <class A, class In, class Map, class Op>
A fold_in_lanes(const In& in, std::uint64_t begin, std::uint64_t end, const Map& map, const Op& op) {
    A lane[host_lanes];
    for (A& one : lane) {
        one = Op::template identity<A>();
    }
    std::uint64_t k = begin;
    for (; k + host_lanes <= end; k += host_lanes) {
#if defined(__clang__)
#pragma clang loop unroll(disable) // it would stay scalar
#endif
        for (std::uint64_t j = 0; j < host_lanes; ++j) {
            lane[j] = op(lane[j], static_cast<A>(detail::mapped(map, in[k + j], k + j)));
        }
    }
    for (; k < end; ++k) {
        lane[k % host_lanes] = op(lane[k % host_lanes], static_cast<A>(detail::mapped(map, in[k], k)));
    }
    return reduce_lanes(lane, op);
}

} // namespace warpfold::detail
