// SPDX-License-Identifier: MIT
// The tile prefix of scans of any number of tiles, one a block: thirty-two tiles are a group, thirty-two groups a
// district. Each tile publishes its total, except that the last tile of a group publishes the group's, as soon as it has
// read the others, and the last tile of a district the prefix of the next district. One warp of a tile reads at once, a
// lane a slot, the totals of the tiles before it in its group, of the groups before that in its district, and the
// prefix of the district. The slots of one reading lie side by side, since what many tiles ask of the L2 cache at
// the same time limits a scan.
//
// Each tile counts itself off when it has read its slots. The last one of a group, or of a district, empties what
// the group, or the district, has read, and the counter. No tile waits for that.
#pragma once

#include "warpfold/gpu/scan/tile_prefix.cuh"

namespace warpfold::detail {

template <class A, bool Segmented>
class grouped_prefix {
public:
    static constexpr unsigned group = tiles_in_group;         // tiles
    static constexpr unsigned district = group * warp::lanes; // tiles
    using total_type = tile_total<A, Segmented>;

    struct storage {
        alignas(total_type) unsigned char prefix[sizeof(total_type)];
    };

    static constexpr std::size_t bytes(std::uint64_t tiles) {
        const std::uint64_t groups = (tiles + group - 1) / group, districts = (tiles + district - 1) / district;
        return tiles <= 1
                   ? 0
                   : (tiles + groups + districts) * sizeof(flagged_slot<A>) + (groups + districts) * sizeof(unsigned);
    }

    // `tiles`: the blocks that take part, the first ones of the grid. `ordered`: what the blocks before have read by
    // publish(), before a barrier, may be written after before() and another barrier.
    __device__ grouped_prefix(void* memory, storage& shared, unsigned tiles = gridDim.x, bool ordered = false)
        : prefix_(reinterpret_cast<total_type*>(shared.prefix)), tile_(blockIdx.x), tiles_(tiles), ordered_(ordered) {
        const unsigned groups = (tiles_ + group - 1) / group, districts = (tiles_ + district - 1) / district;
        of_tile_ = static_cast<flagged_slot<A>*>(memory);
        of_group_ = of_tile_ + tiles_;
        through_district_ = of_group_ + groups;
        group_counter_ = reinterpret_cast<unsigned*>(through_district_ + districts);
        district_counter_ = group_counter_ + groups;
    }

    __device__ void publish(const total_type& total) const {
        if (threadIdx.x == 0 && tile_ + 1 < tiles_ && !closes_group()) {
            fence();
            post_total(&of_tile_[tile_], total);
        }
    }

    template <class First, class Op>
    __device__ total_type before(const total_type& total, const First& first, const Op& op) {
        if (threadIdx.x < warp::lanes) {
            const total_type prefix = look_back(total, first, op);
            if (threadIdx.x == 0) {
                *prefix_ = prefix;
                in_group_before_ = atomicAdd(&group_counter_[tile_ / group], 1u);
                in_district_before_ = tiles_ > group ? atomicAdd(&district_counter_[tile_ / district], 1u) : 0u;
            }
        }
        __syncthreads();
        return *prefix_;
    }

    __device__ void release() const {
        if (threadIdx.x >= warp::lanes) {
            return;
        }
        const unsigned lane = threadIdx.x;
        const unsigned first = tile_ / group * group, count = min(group, tiles_ - first);
        if (warp::shuffle(in_group_before_, 0) + 1 == count) {
            if (lane < count) {
                detail::reset_slot(&of_tile_[first + lane]);
            }
            if (lane == 0) {
                atomicExch(&group_counter_[tile_ / group], 0u);
            }
        }
        const unsigned start = tile_ / district * district, all = min(district, tiles_ - start);
        if (tiles_ > group && warp::shuffle(in_district_before_, 0) + 1 == all) {
            if (lane < (all + group - 1) / group) {
                detail::reset_slot(&of_group_[start / group + lane]);
            }
            if (lane == 0) {
                if (start != 0) {
                    detail::reset_slot(&through_district_[tile_ / district - 1]);
                }
                atomicExch(&district_counter_[tile_ / district], 0u);
            }
        }
    }

private:
    [[nodiscard]] __device__ bool closes_group() const { return tile_ % group == group - 1; }
    [[nodiscard]] __device__ bool closes_district() const { return tile_ % district == district - 1; }

    __device__ void fence() const {
        if (ordered_) {
            __threadfence();
        }
    }

    // By the first warp: the prefix, in lane 0. Posts the totals of what the tile closes.
    template <class First, class Op>
    __device__ total_type look_back(const total_type& total, const First& first, const Op& op) const {
        const unsigned lane = threadIdx.x, tiles_before = tile_ % group, groups_before = tile_ % district / group;
        const bool posts = lane == 0 && tile_ + 1 < tiles_;
        const flagged_slot<A>* const tile_box = &of_tile_[tile_ - tiles_before + lane];
        const flagged_slot<A>* const group_box = &of_group_[tile_ / district * warp::lanes + lane];
        const flagged_slot<A>* const district_box = &through_district_[tile_ / district - 1];
        slot_reader<A> tile_words{}, group_words{}, district_words{};
        if (lane < tiles_before) {
            tile_words.load(tile_box);
        }
        if (lane < groups_before) {
            group_words.load(group_box);
        }
        if (tile_ >= district) {
            district_words.load(district_box);
        }
        total_type prefix = folded(tile_words, tile_box, tiles_before, op);
        if (posts && closes_group() && !closes_district()) {
            fence();
            post_total(&of_group_[tile_ / group], op(prefix, total));
        }
        if (groups_before != 0) {
            const total_type groups = folded(group_words, group_box, groups_before, op);
            prefix = tiles_before == 0 ? groups : op(groups, prefix);
        }
        if (tile_ >= district) {
            district_words.wait(district_box);
            fence();
            __syncwarp();
            const auto districts = total_in<total_type>(district_words);
            prefix = tile_ % district == 0 ? districts : op(districts, prefix);
        } else if constexpr (!std::is_same_v<First, no_initial>) {
            prefix = tile_ == 0 ? first : op(first, prefix);
        }
        if (posts && closes_district()) {
            fence();
            post_total(&through_district_[tile_ / district], op(prefix, total));
        }
        return prefix;
    }
    // In lane 0: op over the slots of the first `count` lanes, in their order.
    template <class Op>
    __device__ total_type folded(slot_reader<A>& words, const flagged_slot<A>* box, unsigned count,
                                 const Op& op) const {
        if (threadIdx.x % warp::lanes < count) {
            words.wait(box);
            fence();
        }
        __syncwarp();
        return fold_lanes(total_in<total_type>(words), count, op);
    }

    flagged_slot<A>* of_tile_;
    flagged_slot<A>* of_group_;
    flagged_slot<A>* through_district_; // the prefix of the next one
    unsigned* group_counter_;
    unsigned* district_counter_;
    total_type* prefix_;
    unsigned tile_, tiles_;
    bool ordered_;
    unsigned in_group_before_ = 0,
             in_district_before_ = 0; // in thread 0: tiles that have counted themselves off before
};

} // namespace warpfold::detail
