// SPDX-License-Identifier: MIT
// Segmented reduction on a GPU, in one launch. The kernels, and when they are chosen:
//
//  kernel                     segments                                                          file
//  unit_segments_kernel       of length 1 (equal_segments{1})                                   short_segments.cuh
//  short_segments_kernel      one length below 2 KiB, many of them                              short_segments.cuh
//  team_per_segment_kernel    one length; a team of lanes folds each                            teams.cuh
//  block_per_segment_kernel   one length, long: a block folds each                              teams.cuh
//  few_segments_kernel        up to 16,384, operation commutes, values up to 32 bytes           few_segments.cuh
//  merge_path_kernel          everything else                                                   this file
//
// merge_path_kernel divides elements and ends of segments evenly among the warps of the grid, so lengths do not matter.
// Where segments are short, the lanes of a block fold one each (lane_tiles.cuh).
// A block joins the open segments of its warps and publishes what it leaves open; the block in which that segment ends
// collects it. The order depends on the offsets and the device only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/block/reduce.cuh"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/segments.hpp"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/flagged_slot.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/segmented_reduce/element_shares.cuh"
#include "warpfold/gpu/segmented_reduce/few_segments.cuh"
#include "warpfold/gpu/segmented_reduce/join_blocks.cuh"
#include "warpfold/gpu/segmented_reduce/lane_tiles.cuh"
#include "warpfold/gpu/segmented_reduce/short_segments.cuh"
#include "warpfold/gpu/segmented_reduce/teams.cuh"
#include "warpfold/gpu/segmented_reduce/warp_share.cuh"

namespace warpfold::detail {

template <class Kernels, class A, class In, class Offsets>
struct merge_path_storage {
    using T = element_t<In>;
    static constexpr unsigned warps = warp_tile<Kernels, T, A>::warps;

    union {
        warp_share_storage<Kernels, T, A> of_warp[warps];
        std::conditional_t<sizeof(A) <= 32, element_shares_storage<A>, unsigned char> pieces;
        typename lane_tiles_room<A, In, Offsets>::type lanes;
    };
    alignas(segment_carry<A>) unsigned char ends[warps * sizeof(segment_carry<A>)];
    block::reduce_storage<A> folding;
    alignas(segment_carry<A>) unsigned char whole[sizeof(segment_carry<A>)]; // of the whole block
};

inline constexpr unsigned samples_of_many = 512;

// Blocks per multiprocessor. Fewer blocks have more registers each, which is faster if values are larger than elements
// or no offsets are loaded.
template <class Kernels, class In, class A, class Offsets>
inline constexpr unsigned merge_path_blocks =
    (sizeof(A) > sizeof(element_t<In>) ||
     std::is_same_v<Offsets, equal_segments>)&&warp_tile<Kernels, element_t<In>, A>::blocks_per_multiprocessor
            > 1
        ? warp_tile<Kernels, element_t<In>, A>::blocks_per_multiprocessor * 2 / 3
        : warp_tile<Kernels, element_t<In>, A>::blocks_per_multiprocessor;

// If there are as many elements as segments: writes the results of positions [begin, end), both even, provided that
// every segment there has one element. Neighbouring warps have neighbouring tiles, for coalescing.
template <class Kernels, class A, class In, class Offsets, class Map, class Op, class Result, class Out>
__device__ bool fold_unit_segments_of_block(const In& in, const segment_path<Offsets>& path, const Map& map,
                                            const Op& op, const Result& result, const Out& out, std::uint64_t begin,
                                            std::uint64_t end) {
    using singles = unit_segment_run<Kernels, A, In, Offsets, 128>;
    const std::uint64_t stride = blockDim.x / warp::lanes * singles::size;
    bool single = static_cast<std::uint64_t>(path.offsets[begin / 2]) == path.base + begin / 2;
    for (std::uint64_t s = begin / 2 + threadIdx.x / warp::lanes * singles::size; single && s < end / 2; s += stride) {
        const auto count = static_cast<unsigned>(min(end / 2 - s, std::uint64_t{singles::size}));
        singles some;
        some.load(in, path.offsets, path.base + s, s, count);
        single = some.fold(map, op, result, out, path.base + s, s, count);
    }
    return __syncthreads_and(single ? 1 : 0) != 0;
}

template <class Kernels, class A, class In, class Offsets, class Map, class Op, class Result, class Out>
__global__ void __launch_bounds__(warp_tile<Kernels, element_t<In>, A>::threads,
                                  merge_path_blocks<Kernels, In, A, Offsets>)
    merge_path_kernel(In in, Offsets offsets, std::uint64_t segments, Map map, Op op, Result result, Out out,
                      segment_cut cut, flagged_slot<A>* slots) {
    using T = element_t<In>;
    using tile = warp_tile<Kernels, T, A>;
    __shared__ merge_path_storage<Kernels, A, In, Offsets> shared;
    __shared__ offset_samples<samples_of_many> samples;
    check_operation<Op, A>();

    pdl_trigger();
    pdl_wait();
    auto& whole = *reinterpret_cast<segment_carry<A>*>(shared.whole);
    const segment_path<Offsets> path(offsets, segments, cut, samples);
    __syncthreads();
    if constexpr (shares_elements_v<Op, A>) {
        if (path.elements / (Kernels::value.long_segment_min_bytes / sizeof(T) + 1) >= segments) {
            fold_element_shares_noinline<Kernels, A>(in, offsets, segments, cut, map, op, result, out, slots, samples,
                                                     shared.pieces, whole, shared.folding);
            return;
        }
    }
    const std::uint64_t warps = std::uint64_t{gridDim.x} * tile::warps;
    const std::uint64_t even = (path.total + warps - 1) / warps;
    const std::uint64_t share =
        even <= Kernels::value.warp_min_share ? Kernels::value.warp_min_share : (even + 31) / 32 * 32;
    const std::uint64_t block_begin = blockIdx.x * tile::warps * share;
    if (block_begin >= path.total) {
        return;
    }
    if constexpr (has_lane_tiles_v<A, In, Offsets>) {
        if (path.elements != segments && path.elements < segments * Kernels::value.lane_segment_max &&
            fold_by_lanes<Kernels, A>(in, path, samples, map, op, result, out, slots, shared.lanes, whole,
                                      shared.folding, tile::warps * share)) {
            return;
        }
    }
    const unsigned warp = threadIdx.x / warp::lanes;
    const std::uint64_t begin = block_begin + warp * share;
    auto* const ends = reinterpret_cast<segment_carry<A>*>(shared.ends);
    bool single = false; // every segment of the block has one element
    if constexpr (!std::is_same_v<Offsets, equal_segments>) {
        if (path.elements == segments) {
            single = fold_unit_segments_of_block<Kernels, A>(in, path, map, op, result, out, block_begin,
                                                             min(block_begin + tile::warps * share, path.total));
        }
    }
    if (single) {
        if (threadIdx.x % warp::lanes == 0) {
            const A nothing = Op::template identity<A>();
            ends[warp] = {nothing, nothing, block_begin / 2, warp == 0, true, false};
        }
    } else if (begin < path.total) {
        const std::uint64_t end = begin + share < path.total ? begin + share : path.total;
        const std::uint64_t first = path.ends_before(begin, samples);
        const bool begun_before = first < segments && path.begin_of(first) < begin;
        const A nothing = Op::template identity<A>();
        warp_share<Kernels, A, In, Offsets, Map, Op, Result, Out> mine{
            in,          path,         map,           op, result, out,     shared.of_warp[warp],
            end - begin, begun_before, begin - first, 0,  first,  nothing, nothing};
        mine.run();
        if (threadIdx.x % warp::lanes == 0) {
            ends[warp] = {mine.head, mine.open, first, true, mine.segment != first, begun_before};
        }
    } else if (threadIdx.x % warp::lanes == 0) {
        ends[warp].some = false;
    }
    __syncthreads();

    // Joins the warps: the block's part of the first segment that ends in it, if that began before the block, and of
    // the segment that it leaves open.
    A open = Op::template identity<A>();
    if (threadIdx.x == 0) {
        whole.ended = false;
        whole.begun_before = false;
        whole.segment = 0;
        for (unsigned w = 0; w < tile::warps && ends[w].some; ++w) {
            const segment_carry<A>& one = ends[w];
            if (!one.ended) {
                open = op(open, one.open);
                continue;
            }
            if (!whole.ended) {
                whole.ended = true;
                whole.segment = one.segment;
                whole.begun_before = path.begin_of(one.segment) < block_begin;
                whole.head = op(open, one.head);
                if (one.begun_before && !whole.begun_before) {
                    out[one.segment] = result(whole.head);
                }
            } else if (one.begun_before) {
                out[one.segment] = result(static_cast<A>(op(open, one.head)));
            }
            open = one.open;
        }
    }
    __syncthreads();
    const std::uint64_t begun = whole.ended ? path.begin_of(whole.segment) : 0;
    const auto first_block = static_cast<unsigned>(begun == 0 ? 0 : (begun - 1) / (tile::warps * share));
    join_blocks(slots, block_begin + tile::warps * share < path.total, open, first_block, op, result, out, whole,
                shared.folding);
}

template <gpu_target On>
struct segmented_engine<On> {
    using policy_type = policy_t<tuning::segmented_reduce_policy<>, On>;
    using Kernels = kernels_of<policy_type>;

    template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
    static void into(const On& on, const In& in, const Offsets& offsets, std::uint64_t segments, const Map& map,
                     const Op& op, const Result& result, const Out& out, const char* call) {
        detail::check_segments(in, offsets, segments, out, call);
        if (segments == 0) {
            return;
        }
        const call_device scope;
        const policy_type policy = policy_of<tuning::segmented_reduce_policy<>>(on);
        const unsigned multiprocessors = device_attribute<cudaDevAttrMultiProcessorCount>();
        if constexpr (std::is_same_v<Offsets, equal_segments>) {
            if (offsets.length == 1) {
                return launch_unit<A>(on, in, segments, multiprocessors, map, op, result, out);
            }
            if constexpr (std::is_pointer_v<In> && short_segments<element_t<In>>::possible) {
                const std::uint64_t bytes = offsets.length * sizeof(element_t<In>), all = bytes * segments;
                // Teams read whole vectors, as many each, as fast.
                const bool suit_teams = is_commutative_v<Op> && sizeof(element_t<In>) >= 4 && bytes % 256 == 0 &&
                                        reinterpret_cast<std::uintptr_t>(in) % 16 == 0 && all <= policy.teams_max_bytes;
                if (are_short_segments(bytes) && all > policy.short_teams_max_bytes && !suit_teams) {
                    return launch_short_segments<A>(on, in, offsets.length, segments, map, op, result, out);
                }
            }
            if (offsets.length == 0 || (is_commutative_v<Op> &&
                                        teams_suit<element_t<In>>(policy, offsets.length, segments, multiprocessors))) {
                return launch_teams<A>(on, in, offsets.length, segments, multiprocessors, map, op, result, out);
            }
        }
        if constexpr (shares_elements_v<Op, A>) {
            const unsigned blocks = multiprocessors * Kernels::value.few_resident_blocks;
            const unsigned ranges = std::min(blocks, few_segments::ranges);
            if (segments <= std::min<std::uint64_t>(policy.few_max_segments, ranges * few_segments::of_range)) {
                const segment_cut cut(segments, ranges);
                const std::uint64_t fair_part = ~std::uint64_t{0} / (16 * std::uint64_t{blocks}) * 17; // * 2^-64
                const call_memory memory(on, blocks * sizeof(flagged_slot<A>), 0, call);
                pdl_launch(properties_of<&few_segments_kernel<Kernels, A, In, Offsets, Map, Op, Result, Out>>(),
                           &few_segments_kernel<Kernels, A, In, Offsets, Map, Op, Result, Out>, blocks,
                           few_segments::threads, 0, on.stream, in, offsets, segments, map, op, result, out, cut,
                           fair_part, static_cast<flagged_slot<A>*>(memory.slots()));
                return;
            }
        }
        using tile = warp_tile<Kernels, element_t<In>, A>;
        const unsigned blocks = multiprocessors * merge_path_blocks<Kernels, In, A, Offsets>;
        const segment_cut cut(segments, samples_of_many);
        const call_memory memory(on, blocks * sizeof(flagged_slot<A>), 0, call);
        pdl_launch(properties_of<&merge_path_kernel<Kernels, A, In, Offsets, Map, Op, Result, Out>>(),
                   &merge_path_kernel<Kernels, A, In, Offsets, Map, Op, Result, Out>, blocks, tile::threads, 0,
                   on.stream, in, offsets, segments, map, op, result, out, cut,
                   static_cast<flagged_slot<A>*>(memory.slots()));
    }

private:
    template <class A, class In, class Map, class Op, class Result, class Out>
    static void launch_unit(const On& on, const In& in, std::uint64_t segments, unsigned multiprocessors,
                            const Map& map, const Op& op, const Result& result, const Out& out) {
        using shape = unit_segments<element_t<In>>;
        const bool many = segments > std::uint64_t{multiprocessors} * 2 * shape::most_threads * shape::items;
        const unsigned threads = many ? shape::most_threads : shape::least_threads;
        const std::uint64_t of_block = std::uint64_t{shape::items} * threads;
        pdl_launch(properties_of<&unit_segments_kernel<A, In, Map, Op, Result, Out>>(),
                   &unit_segments_kernel<A, In, Map, Op, Result, Out>,
                   static_cast<unsigned>((segments + of_block - 1) / of_block), threads, 0, on.stream, in, segments,
                   map, op, result, out);
    }
    // True if each segment of one length suits a team: there are enough for all threads, or none is long.
    template <class T>
    static bool teams_suit(const policy_type& policy, std::uint64_t length, std::uint64_t segments,
                           unsigned multiprocessors) {
        if (length > ~0u / 2) {
            return false;
        }
        const std::uint64_t bytes = length * sizeof(T);
        if (bytes * segments <= policy.teams_max_bytes) {
            return bytes <= Kernels::value.few_range_max_bytes / 4 || segments >= 4ull * multiprocessors;
        }
        return bytes >= policy.team_segment_min_bytes && segments >= 16ull * multiprocessors;
    }
    template <class A, class In, class Map, class Op, class Result, class Out>
    static void launch_teams(const On& on, const In& in, std::uint64_t length, std::uint64_t segments,
                             unsigned multiprocessors, const Map& map, const Op& op, const Result& result,
                             const Out& out) {
        const std::uint64_t vectors = (length * sizeof(element_t<In>) + 15) / 16;
        const std::uint64_t many = std::uint64_t{multiprocessors} * 1024; // threads
        unsigned log_team = 0;
        while (log_team < segment_teams::log_warp &&
               (vectors > std::uint64_t{Kernels::value.equal_vector_loads_in_flight} << log_team ||
                (vectors > 1u << log_team && segments << log_team < many))) {
            ++log_team;
        }
        if (vectors > 256 && (segments * warp::lanes < many || vectors > 4096)) {
            // More threads per block while all blocks stay resident and each thread has something to load.
            unsigned threads = segment_teams::threads;
            while (threads < segment_teams::most_threads &&
                   vectors > std::uint64_t{threads} * Kernels::value.vector_loads_in_flight &&
                   segments * threads <= many) {
                threads *= 2;
            }
            const auto blocks =
                static_cast<unsigned>(std::min<std::uint64_t>(segments, std::uint64_t{multiprocessors} * 1024));
            pdl_launch(properties_of<&block_per_segment_kernel<Kernels, A, In, Map, Op, Result, Out>>(),
                       &block_per_segment_kernel<Kernels, A, In, Map, Op, Result, Out>, blocks, threads, 0, on.stream,
                       in, static_cast<unsigned>(length), segments, map, op, result, out);
            return;
        }
        const std::uint64_t of_block = segment_teams::threads >> log_team;
        const auto blocks = static_cast<unsigned>(
            std::min<std::uint64_t>((segments + of_block - 1) / of_block, std::uint64_t{multiprocessors} * 1024));
        pdl_launch(properties_of<&team_per_segment_kernel<Kernels, A, In, Map, Op, Result, Out>>(),
                   &team_per_segment_kernel<Kernels, A, In, Map, Op, Result, Out>, blocks, segment_teams::threads, 0,
                   on.stream, in, static_cast<unsigned>(length), segments, log_team, map, op, result, out);
    }
};

} // namespace warpfold::detail
