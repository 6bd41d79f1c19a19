// SPDX-License-Identifier: MIT
// Tile prefixes: what precedes a tile in a scan, folded from the totals that other blocks publish inside one launch.
//
// The usual decoupled look-back walks from tile to tile until it meets one whose prefix is known. How far it walks
// changes from run to run, and with it the order of floating-point additions. Here the order is fixed: thirty-two tiles
// are a group, the totals of a group are folded in one tree, and the totals of groups in one order. Both depend on the
// tile's number alone, so that sums have the same bits in every run.
//
// The kernels differ in the policy by which they do this:
//   policy            scans               a tile reads
//   all_tiles_prefix  short.cuh,          the totals of all tiles before it; up to 1,025 tiles
//                     general.cuh
//   grouped_prefix    general.cuh         at most 32 tiles, 32 groups and one district prefix; any number of tiles
//   running_prefix    persistent.cuh      the totals since its block's last tile; any number of tiles
// Compactions have all of them (gpu/compact/).
// A policy has
//   publish(total)             by all threads: makes the tile's total visible to later tiles
//   before(total, first, op)   by all threads, once, behind publish(): the prefix of the tile, in all of them. `first`
//                              precedes tile 0, or is no_initial; then the prefix of tile 0 is not defined.
//   release()                  by all threads, at the end: leaves the memory zero, as it was found
// running_prefix, whose blocks have many tiles, takes the tile's number besides, and a tile_ring leaves its memory zero.
//
// Totals travel in flagged slots (gpu/core/flagged_slot.cuh): words of 8 bytes, of which 4 are payload and 4 are a mark that the
// payload is there. They need no fence, and a reader loads a missing word again until its mark is there. A tile waits
// only for tiles with smaller numbers, whose blocks have started by then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "warpfold/detail/scan_options.hpp"
#include "warpfold/error.hpp"
#include "warpfold/gpu/core/flagged_slot.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

inline constexpr unsigned tiles_in_group = warp::lanes;

// The tiles of one launch. Throws invalid_argument if there are more than it can have.
inline unsigned checked_tiles(std::uint64_t tiles, const char* call) {
    if (tiles > 0x7fffffffu) {
        throw invalid_argument(std::string("warpfold: ") + call + ": more elements than one launch has tiles for");
    }
    return static_cast<unsigned>(tiles);
}

// The total of a stretch in which segments may begin: the fold from the last such beginning.
template <class A>
struct segment_total {
    // As large as the value's alignment, so that there is no gap between them.
    using flag =
        std::conditional_t<alignof(A) == 1, std::uint8_t,
                           std::conditional_t<alignof(A) == 2, std::uint16_t,
                                              std::conditional_t<alignof(A) == 4, std::uint32_t, std::uint64_t>>>;

    A value;
    flag head; // a segment begins
};

template <class A, bool Segmented>
using tile_total = std::conditional_t<Segmented, segment_total<A>, A>;

// A total's parts, and a total of its parts; without segments it is its value.
template <class A>
__device__ const A& value_of(const A& total) {
    return total;
}
template <class A>
__device__ const A& value_of(const segment_total<A>& total) {
    return total.value;
}
template <class A>
__device__ constexpr bool opened(const A&) {
    return false;
}
template <class A>
__device__ bool opened(const segment_total<A>& total) {
    return total.head != 0;
}
template <class Total, class A>
__device__ Total total_of(const A& value, [[maybe_unused]] bool head) {
    if constexpr (std::is_same_v<Total, A>) {
        return value;
    } else {
        return {value, static_cast<typename Total::flag>(head ? 1 : 0)};
    }
}

// The operation on totals that `Op` on values means.
template <class Op>
struct joined_by {
    const Op& op;

    template <class A>
    __device__ A operator()(const A& left, const A& right) const {
        return static_cast<A>(op(left, right));
    }
    template <class A>
    __device__ segment_total<A> operator()(const segment_total<A>& left, const segment_total<A>& right) const {
        return total_of<segment_total<A>>(right.head ? right.value : static_cast<A>(op(left.value, right.value)),
                                          (left.head | right.head) != 0);
    }
};
template <class Op>
joined_by(const Op&) -> joined_by<Op>;

// A total in a slot of its value; the mark says whether a segment begins.
template <class A>
__device__ void post_total(flagged_slot<A>* box, const A& total) {
    detail::publish(box, total);
}
template <class A>
__device__ void post_total(flagged_slot<A>* box, const segment_total<A>& total) {
    detail::publish(box, total.value, total.head != 0 ? 2 : 1);
}
template <class Total, class A>
__device__ Total total_in(const slot_reader<A>& words) {
    return total_of<Total>(words.value(), words.word[0] >> 33 != 0);
}

// In lane 0: `op` over the totals of the first `count` lanes, in their order; count is not 0.
template <class Total, class Op>
__device__ Total fold_lanes(Total total, unsigned count, const Op& op) {
    const unsigned lane = threadIdx.x % warp::lanes;
#pragma unroll
    for (unsigned distance = 1; distance < warp::lanes; distance *= 2) {
        const Total further = warp::shuffle_down(total, distance);
        if (lane + distance < count) {
            total = op(total, further);
        }
    }
    return total;
}

} // namespace warpfold::detail
