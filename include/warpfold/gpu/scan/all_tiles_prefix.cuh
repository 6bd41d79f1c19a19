// SPDX-License-Identifier: MIT
// The tile prefix of few tiles: every tile reads the totals of all tiles before it at once, each warp those of some
// groups. No tile waits for more than one step from block to block.
//
// Very few tiles may have a private slot for each pair of writer and reader. The reader empties it, and at the end nothing
// has to be counted. Else all readers share the writer's slot, count themselves off, and the last one empties all slots.
#pragma once

#include "warpfold/gpu/scan/tile_prefix.cuh"

namespace warpfold::detail {

template <class A, bool Segmented = false>
class all_tiles_prefix {
public:
    static constexpr unsigned most_tiles = warp::lanes * tiles_in_group + 1;

    using total_type = tile_total<A, Segmented>;

    struct storage {
        alignas(total_type) unsigned char of_group[warp::lanes * sizeof(total_type)];
    };

    // Bytes of memory: a counter and the slots.
    static std::size_t bytes(unsigned tiles, bool with_private) {
        return tiles <= 1 ? 0 : 16 + (with_private ? slots_before(tiles) : tiles) * sizeof(flagged_slot<A>);
    }

    // `tiles` and `ordered` as for grouped_prefix.
    __device__ all_tiles_prefix(void* memory, bool with_private, storage& shared, unsigned tiles = gridDim.x,
                                bool ordered = false)
        : left_(static_cast<unsigned*>(memory)),
          slots_(reinterpret_cast<flagged_slot<A>*>(static_cast<unsigned char*>(memory) + 16)),
          of_group_(reinterpret_cast<total_type*>(shared.of_group)),
          tiles_(tiles),
          private_(with_private),
          ordered_(ordered) {}

    __device__ void publish(const total_type& total) const {
        const unsigned tile = blockIdx.x;
        if (private_) {
            fence();
            for (unsigned reader = tile + 1 + threadIdx.x; reader < tiles_; reader += blockDim.x) {
                post_total(&slots_[slots_before(reader) + tile], total);
            }
        } else if (threadIdx.x == 0 && tile + 1 < tiles_) {
            fence();
            post_total(&slots_[tile], total);
        }
    }

    template <class First, class Op>
    __device__ total_type before(const total_type& total, const First& first, const Op& op) {
        const unsigned tile = blockIdx.x, groups = (tile + tiles_in_group - 1) / tiles_in_group;
        const unsigned warps = blockDim.x / warp::lanes, lane = threadIdx.x % warp::lanes;
        auto* const mine = (private_ ? slots_ + slots_before(tile) : slots_) + lane;
        for (unsigned g = threadIdx.x / warp::lanes; g < groups; g += warps) {
            const unsigned count = min(tiles_in_group, tile - g * tiles_in_group);
            auto* const source = &mine[g * tiles_in_group];
            total_type of_tile = total;
            if (lane < count) {
                slot_reader<A> words{};
                words.wait(source);
                of_tile = total_in<total_type>(words);
                fence();
                if (private_) {
                    detail::reset_slot(source);
                }
            }
            __syncwarp();
            of_tile = fold_lanes(of_tile, count, op);
            if (lane == 0) {
                of_group_[g] = of_tile;
            }
        }
        __syncthreads();
        if (!private_ && threadIdx.x == 0) {
            left_before_ = atomicAdd(left_, 1u);
        }
        constexpr bool has_first = !std::is_same_v<First, no_initial>;
        if (tile == 0) {
            if constexpr (has_first) {
                return first;
            }
            return total;
        }
        total_type earlier = fold_lanes(of_group_[lane < groups ? lane : groups - 1], groups, op);
        if constexpr (has_first) {
            earlier = op(first, earlier);
        }
        return warp::shuffle(earlier, 0);
    }

    __device__ void release() const {
        const unsigned lane = threadIdx.x % warp::lanes;
        if (!private_ && threadIdx.x < warp::lanes && warp::shuffle(left_before_, 0) + 1 == tiles_) {
            for (unsigned k = lane; k + 1 < tiles_; k += warp::lanes) {
                detail::reset_slot(&slots_[k]);
            }
            if (lane == 0) {
                atomicExch(left_, 0u);
            }
        }
    }

private:
    // With private slots a tile has one for each tile before it; so many stand before its own.
    __host__ __device__ static constexpr unsigned slots_before(unsigned tile) { return tile * (tile - 1) / 2; }

    __device__ void fence() const {
        if (ordered_) {
            __threadfence();
        }
    }

    unsigned* left_;
    flagged_slot<A>* slots_;
    total_type* of_group_;
    unsigned tiles_;
    bool private_, ordered_;
    unsigned left_before_ = 0; // in thread 0: so many tiles had read their slots before this one
};

} // namespace warpfold::detail
