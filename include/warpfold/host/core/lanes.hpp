// SPDX-License-Identifier: MIT
// Reductions in independent lanes, which compilers vectorise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/detail/fold.hpp"

namespace warpfold::detail {

inline constexpr std::uint64_t host_lanes = 32;

// Before a loop over lanes: Clang would unroll it, and find no vectors afterwards. Functions with such loops are inlined always, as
// Clang's `flatten` does not reach them, and they would miss the vectors of with_widest_vectors().
#if defined(__clang__)
#define WARPFOLD_OVER_LANES _Pragma("clang loop unroll(disable)")
#else
#define WARPFOLD_OVER_LANES
#endif

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

// Prefetches what stands behind the lanes from in[k] on, first into the L2 cache and later into L1: a core can have more lines of
// memory on their way than hardware prefetchers ask for.
template <class In>
[[gnu::always_inline]] inline void prefetch_behind(const In& in, std::uint64_t k) {
    if constexpr (std::is_pointer_v<In>) {
        const auto lanes = reinterpret_cast<std::uintptr_t>(in + k);
        for (std::uint64_t byte = 0; byte < host_lanes * sizeof(*in); byte += 64) {
            __builtin_prefetch(reinterpret_cast<const void*>(lanes + 8192 + byte), 0, 2);
            if constexpr (sizeof(*in) != 1) { // of bytes two turns share a line
                __builtin_prefetch(reinterpret_cast<const void*>(lanes + 1024 + byte));
            }
        }
    }
}

template <class A, class In, class Map, class Op>
[[gnu::always_inline]] inline A fold_in_lanes(const In& in, std::uint64_t begin, std::uint64_t end, const Map& map,
                                              const Op& op) {
    A lane[host_lanes];
    for (A& one : lane) {
        one = Op::template identity<A>();
    }
    std::uint64_t k = begin;
    for (; k + host_lanes <= end; k += host_lanes) {
        prefetch_behind(in, k);
        WARPFOLD_OVER_LANES
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
