// SPDX-License-Identifier: MIT
// What stands before a tile: the totals of all tiles before it, folded inside one launch.
//
// Thirty-two tiles are a group, thirty-two groups a district. Each tile posts its total in a box of its own; the last
// tile of a group posts the group's total as soon as it knows the others', and the last tile of a district posts what
// stands before the next one. One warp of a tile reads at once, a lane a box, the totals of the tiles before it in its
// group, of the groups before that in its district, and what stands before the district. So what is folded, and in
// which order, depends on the tile's number alone: floating-point sums come out the same in every run. A tile waits
// only for tiles with smaller numbers, whose blocks have started by then. Every box lies in a line with its neighbours,
// and who waits asks again only for what is missing: what many tiles ask of the L2 cache at the same time is what
// limits a scan.
//
// A box is a mailbox with several readers. Each tile counts itself off when it has read its boxes; whoever is the last
// of a group, or of a district, to do so empties what the group, or the district, has read, and the counter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "warpfold/gpu/core/mailbox.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// A truth of so many bytes, so that it fits behind a value without a gap.
template <std::size_t Alignment>
struct truth_of {
    using type = std::uint64_t;
};
template <>
struct truth_of<1> {
    using type = std::uint8_t;
};
template <>
struct truth_of<2> {
    using type = std::uint16_t;
};
template <>
struct truth_of<4> {
    using type = std::uint32_t;
};

// A total, and whether a segment begins in what it is the total of; then it is the total from the last such beginning.
template <class A, bool Segmented>
struct partial {
    using truth = typename truth_of<alignof(A)>::type;
    __device__ static partial of(const A& value, bool head) { return {value, static_cast<truth>(head ? 1 : 0)}; }

    A value;
    truth head;
};
template <class A>
struct partial<A, false> {
    __device__ static partial of(const A& value, bool) { return {value}; }

    A value;
    static constexpr bool head = false;
};

template <class A, bool Segmented, class Op>
__device__ partial<A, Segmented> joined(const partial<A, Segmented>& left, const partial<A, Segmented>& right,
                                        const Op& op) {
    return partial<A, Segmented>::of(right.head ? right.value : static_cast<A>(op(left.value, right.value)),
                                     (left.head | right.head) != 0);
}

template <class A, bool Segmented>
__device__ void post_partial(mailbox<A>* box, const partial<A, Segmented>& total) {
    detail::post(box, total.value, total.head != 0 ? 2 : 1);
}
template <bool Segmented, class A>
__device__ partial<A, Segmented> taken(const box_words<A>& words) {
    return partial<A, Segmented>::of(words.value(), words.word[0] >> 33 != 0);
}

// The memory of one scan: zero before it and after it.
template <class A, bool Segmented>
struct lookback {
    static constexpr unsigned group = warp::lanes;            // tiles
    static constexpr unsigned district = group * warp::lanes; // tiles
    using total_of = partial<A, Segmented>;

    __host__ __device__ static constexpr std::size_t bytes(std::uint64_t tiles) {
        const std::uint64_t groups = (tiles + group - 1) / group, districts = (tiles + district - 1) / district;
        return tiles <= 1 ? 0
                          : (tiles + groups + districts) * sizeof(mailbox<A>) + (groups + districts) * sizeof(unsigned);
    }

    __device__ lookback(void* memory, unsigned tiles_) : tiles(tiles_) {
        const unsigned groups = (tiles + group - 1) / group, districts = (tiles + district - 1) / district;
        of_tile = static_cast<mailbox<A>*>(memory);
        of_group = of_tile + tiles;
        through_district = of_group + groups;
        group_counter = reinterpret_cast<unsigned*>(through_district + districts);
        district_counter = group_counter + groups;
    }

    // By one warp, in all its lanes: lane 0 gets op over the totals of the tiles before `tile`; with `total`, the
    // tile's own, posted for the tiles behind. `first`, where Has, stands in front of tile 0; else nothing means
    // anything for tile 0.
    template <bool Has, class First, class Op>
    __device__ total_of before(unsigned tile, const total_of& total, const First& first, const Op& op) const {
        const unsigned lane = threadIdx.x % warp::lanes;
        const unsigned tiles_before = tile % group, groups_before = tile % district / group;
        const bool more = tile + 1 < tiles;
        const bool closes_group = tiles_before == group - 1,
                   closes_district = closes_group && groups_before == warp::lanes - 1;
        if (lane == 0 && more && !closes_group) {
            post_partial(&of_tile[tile], total);
        }
        const mailbox<A>* const tile_box = &of_tile[tile - tiles_before + lane];
        const mailbox<A>* const group_box = &of_group[tile / district * warp::lanes + lane];
        const mailbox<A>* const district_box = &through_district[tile / district - 1];
        box_words<A> tile_words{}, group_words{}, district_words{};
        if (lane < tiles_before) {
            tile_words.load(tile_box);
        }
        if (lane < groups_before) {
            group_words.load(group_box);
        }
        if (tile >= district) {
            district_words.load(district_box);
        }
        total_of sum = folded(tile_words, tile_box, tiles_before, op);
        if (lane == 0 && more && closes_group && !closes_district) {
            post_partial(&of_group[tile / group], joined(sum, total, op));
        }
        if (groups_before != 0) {
            const total_of groups = folded(group_words, group_box, groups_before, op);
            sum = tiles_before == 0 ? groups : joined(groups, sum, op);
        }
        if (tile >= district) {
            district_words.wait(district_box);
            __syncwarp();
            const total_of districts = taken<Segmented>(district_words);
            sum = tile % district == 0 ? districts : joined(districts, sum, op);
        } else if constexpr (Has) {
            const total_of given = total_of::of(static_cast<A>(first), false);
            sum = tile == 0 ? given : joined(given, sum, op);
        }
        if (lane == 0 && more && closes_district) {
            post_partial(&through_district[tile / district], joined(sum, total, op));
        }
        return sum;
    }

    // By one thread, when all of its warp have left before(): how many tiles of the group and of the district have
    // come here before.
    struct counts {
        unsigned in_group, in_district;
    };
    [[nodiscard]] __device__ counts count_off(unsigned tile) const {
        return {atomicAdd(&group_counter[tile / group], 1u),
                tiles > group ? atomicAdd(&district_counter[tile / district], 1u) : 0u};
    }

    // By a whole warp at the end of the tile: empties what no tile will read any more.
    __device__ void tidy(unsigned tile, const counts& earlier) const {
        const unsigned lane = threadIdx.x % warp::lanes;
        const unsigned first = tile / group * group, count = min(group, tiles - first);
        if (earlier.in_group + 1 == count) {
            if (lane < count) {
                detail::empty_box(&of_tile[first + lane]);
            }
            if (lane == 0) {
                atomicExch(&group_counter[tile / group], 0u);
            }
        }
        const unsigned start = tile / district * district, all = min(district, tiles - start);
        if (tiles > group && earlier.in_district + 1 == all) {
            if (lane < (all + group - 1) / group) {
                detail::empty_box(&of_group[start / group + lane]);
            }
            if (lane == 0) {
                if (start != 0) {
                    detail::empty_box(&through_district[tile / district - 1]);
                }
                atomicExch(&district_counter[tile / district], 0u);
            }
        }
    }

    mailbox<A>* of_tile;
    mailbox<A>* of_group;
    mailbox<A>* through_district;
    unsigned* group_counter;
    unsigned* district_counter;
    unsigned tiles;

private:
    // Lane 0 gets op over the boxes of the first `count` lanes, in their order.
    template <class Op>
    __device__ static total_of folded(box_words<A>& words, const mailbox<A>* box, unsigned count, const Op& op) {
        const unsigned lane = threadIdx.x % warp::lanes;
        if (lane < count) {
            words.wait(box);
        }
        __syncwarp();
        total_of sum = taken<Segmented>(words);
#pragma unroll
        for (unsigned distance = 1; distance < warp::lanes; distance *= 2) {
            const total_of further = warp::shuffle_down(sum, distance);
            if (lane + distance < count) {
                sum = joined(sum, further, op);
            }
        }
        return sum;
    }
};

} // namespace warpfold::detail
