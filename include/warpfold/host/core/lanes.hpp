// SPDX-License-Identifier: MIT
// Reductions in independent lanes, which compilers vectorise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/detail/fold.hpp"
#include "warpfold/host/core/pairwise.hpp"

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

// Folds element begin + k into lane k modulo the number of lanes.
template <class A, class In, class Map, class Op>
[[gnu::always_inline]] inline void fold_into_lanes(A (&lane)[host_lanes], const In& in, std::uint64_t begin,
                                                   std::uint64_t end, const Map& map, const Op& op) {
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
    for (std::uint64_t j = 0; k < end; ++k, ++j) {
        lane[j] = op(lane[j], static_cast<A>(detail::mapped(map, in[k], k)));
    }
}

// Of sums that round: blocks of a group. Rows of a block are added in order, then blocks of a group, then groups, so that errors
// do not grow with the number of rows.
inline constexpr std::uint64_t blocks_of_group = 8;

template <class A>
[[gnu::always_inline]] inline void add_lanes(A (&to)[host_lanes], const A (&lane)[host_lanes]) {
    WARPFOLD_OVER_LANES
    for (std::uint64_t j = 0; j < host_lanes; ++j) {
        to[j] = to[j] + lane[j];
    }
}

template <class A, class In, class Map, class Op>
[[gnu::always_inline]] inline A fold_in_lanes(const In& in, std::uint64_t begin, std::uint64_t end, const Map& map,
                                              const Op& op) {
    A lane[host_lanes];
    constexpr std::uint64_t elements = rows_of_block * host_lanes;
    if constexpr (rounded_sum_v<Op, A>) {
        if (end - begin > elements) {
            A group[host_lanes] = {}, total[host_lanes] = {};
            for (std::uint64_t block = 1; end - begin > elements; begin += elements, ++block) {
                fold_into_lanes(lane, in, begin, begin + elements, map, op);
                add_lanes(group, lane);
                if (block % blocks_of_group == 0) {
                    add_lanes(total, group);
                    std::fill_n(group, host_lanes, A{});
                }
            }
            fold_into_lanes(lane, in, begin, end, map, op);
            add_lanes(group, lane);
            add_lanes(total, group);
            return reduce_lanes(total, op);
        }
    }
    fold_into_lanes(lane, in, begin, end, map, op);
    return reduce_lanes(lane, op);
}

} // namespace warpfold::detail
