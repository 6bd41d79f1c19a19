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
#include "warpfold/host/core/vectors.hpp"

namespace warpfold::detail {

inline constexpr std::uint64_t host_lanes = 32;

// The lanes of a fold in A: host_lanes, of narrow integers as many as four vectors of 32 bytes hold, since one vector waits for itself.
template <class A>
inline constexpr std::uint64_t lanes_of_fold = std::is_integral_v<A> && sizeof(A) < 4 ? 4 * host_lanes / sizeof(A)
                                                                                      : host_lanes;

// Elements with `step` between neighbours.
template <class T>
struct stepped {
    const T& operator[](std::uint64_t k) const { return from[static_cast<std::int64_t>(k) * step]; }

    const T* from;
    std::int64_t step;
};

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

template <class A, std::uint64_t Lanes, class Op>
A reduce_lanes(A (&lane)[Lanes], const Op& op) {
    for (std::uint64_t half = Lanes / 2; half != 0; half /= 2) {
        for (std::uint64_t j = 0; j < half; ++j) {
            lane[j] = op(lane[j], lane[j + half]);
        }
    }
    return lane[0];
}

// Prefetches what stands behind the lanes from in[k] on, first into the L2 cache and later into L1: a core can have more lines of
// memory on their way than hardware prefetchers ask for.
template <std::uint64_t Lanes = host_lanes, class In>
[[gnu::always_inline]] inline void prefetch_behind(const In& in, std::uint64_t k) {
    if constexpr (std::is_pointer_v<In>) {
        const auto lanes = reinterpret_cast<std::uintptr_t>(in + k);
        for (std::uint64_t byte = 0; byte < Lanes * sizeof(*in); byte += 64) {
            __builtin_prefetch(reinterpret_cast<const void*>(lanes + 8192 + byte), 0, 2);
            if constexpr (Lanes * sizeof(*in) >= 64) { // else two turns share a line
                __builtin_prefetch(reinterpret_cast<const void*>(lanes + 1024 + byte));
            }
        }
    }
}

// Folds element begin + k into lane k modulo the number of lanes.
template <class A, std::uint64_t Lanes, class In, class Map, class Op>
[[gnu::always_inline]] inline void fold_into_lanes(A (&lane)[Lanes], const In& in, std::uint64_t begin,
                                                   std::uint64_t end, const Map& map, const Op& op) {
    for (A& one : lane) {
        one = Op::template identity<A>();
    }
    std::uint64_t k = begin;
    for (; k + Lanes <= end; k += Lanes) {
        prefetch_behind<Lanes>(in, k);
        WARPFOLD_OVER_LANES
        for (std::uint64_t j = 0; j < Lanes; ++j) {
            lane[j] = op(lane[j], static_cast<A>(detail::mapped(map, in[k + j], k + j)));
        }
    }
    for (std::uint64_t j = 0; k < end; ++k, ++j) {
        lane[j] = op(lane[j], static_cast<A>(detail::mapped(map, in[k], k)));
    }
}

// The same of elements with gaps, in the same order: a few lanes at a time, each in a register, in blocks of rows that stay in the L1
// cache. To put vectors together of single elements takes two to four times as long.
template <class A, std::uint64_t Lanes, class T, class Map, class Op>
[[gnu::always_inline]] inline void fold_into_lanes(A (&lane)[Lanes], const stepped<T>& in, std::uint64_t begin,
                                                   std::uint64_t end, const Map& map, const Op& op) {
    constexpr std::uint64_t together = 8;
    for (A& one : lane) {
        one = Op::template identity<A>();
    }
    std::uint64_t k = begin;
    if constexpr (std::is_floating_point_v<A> && (std::is_same_v<Op, minimum> || std::is_same_v<Op, maximum>)) {
        // These take several instructions. They are for vectors, so elements are copied without gaps first.
        A room[rows_of_block * Lanes], part[Lanes];
        for (std::uint64_t count = 0; k != end; k += count) {
            count = std::min(rows_of_block * Lanes, end - k);
            const T* const from = &in[k];
            const auto read = [&](auto step) {
                for (std::uint64_t j = 0; j < count; ++j) {
                    room[j] = static_cast<A>(detail::mapped(map, from[static_cast<std::int64_t>(j) * step], k + j));
                }
            };
            in.step == 2 ? read(std::integral_constant<std::int64_t, 2>{}) : read(in.step);
            fold_into_lanes(part, static_cast<const A*>(room), 0, count, identity_map{}, op);
            for (std::uint64_t j = 0; j < Lanes; ++j) {
                lane[j] = op(lane[j], part[j]);
            }
        }
        return;
    }
    for (std::uint64_t rows = 0; end - k >= Lanes; k += rows * Lanes) {
        rows = std::min(rows_of_block, (end - k) / Lanes);
        for (std::uint64_t first = 0; first < Lanes; first += together) {
            A some[together];
            std::copy_n(lane + first, together, some);
            for (std::uint64_t at = k + first; at < k + rows * Lanes; at += Lanes) {
                const T* const from = &in[at];
                unrolled<together>([&](std::uint64_t j) {
                    const T& x = from[static_cast<std::int64_t>(j) * in.step];
                    some[j] = op(some[j], static_cast<A>(detail::mapped(map, x, at + j)));
                });
            }
            std::copy_n(some, together, lane + first);
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
    constexpr std::uint64_t lanes = lanes_of_fold<A>, elements = rows_of_block * host_lanes;
    if (lanes != host_lanes && end - begin >= 2 * lanes) {
        A wide[lanes];
        fold_into_lanes(wide, in, begin, end, map, op);
        return reduce_lanes(wide, op);
    }
    A lane[host_lanes];
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

// The same as a function of its own, with the widest vectors: inside a large function GCC keeps the lanes in memory, which takes two
// to three times as long.
template <class A, class In, class Map, class Op>
[[gnu::noinline]] A fold_in_lanes_apart(const In& in, std::uint64_t begin, std::uint64_t end, const Map& map,
                                        const Op& op) {
    return with_widest_vectors([&] { return fold_in_lanes<A>(in, begin, end, map, op); });
}

} // namespace warpfold::detail
