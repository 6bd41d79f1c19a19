// SPDX-License-Identifier: MIT
// The tile prefix of the persistent kernel. A block keeps the prefix of its last tile and folds the totals of the tiles
// since then, which their blocks have published. It waits for no other block's prefix, so that no chain of hops through
// the L2 cache limits the scan.
//
// *Order.* The totals of a group are folded in a fixed tree, and the groups one behind the other. A block's first tile
// may start behind many others: then the block begins with the prefix of its group, for the last tile of each group
// publishes that of the next one.
//
// *The ring.* Each tile's total has a slot in a ring that is shorter than a large input; the mark says for which tile
// it is used. A block takes tiles in the order of a counter, holds at most `held` at a time whose prefix it has not
// folded yet, and publishes the total of its tile k + `ahead` just before it folds the prefix of its tile k; held >
// ahead + 1. The ring has room for (ahead + 3) * held tiles a block, so that no slot is used again too early:
//   All tiles whose prefix is folded lie before any tile whose total is missing, and at most held * blocks more have
//   been taken. So a block's next tile is less than held * blocks behind any that it held then without having published
//   it. While a block still needs totals from its tile t on, the tile that it takes ahead + 2 turns after t is not
//   published: it is less than (ahead + 2) * held * blocks behind t, and no tile that any block holds is (ahead + 3) *
//   held * blocks behind.
#pragma once

#include "warpfold/block/scan.cuh"
#include "warpfold/gpu/scan/tile_prefix.cuh"

namespace warpfold::detail {

// The total of a tile as one of several tiles.
struct same_total {
    template <class A>
    __device__ const A& operator()(const A& total, unsigned /*tile*/) const {
        return total;
    }
};

// The memory of one persistent scan: zero before it and after it. `A`: totals of several tiles, `Local`: of one.
template <class A, class Local = A>
struct tile_ring {
    static constexpr unsigned group = tiles_in_group;

    static std::size_t bytes(unsigned slots) {
        return 16 + slots * sizeof(flagged_slot<Local>) + slots / group * sizeof(flagged_slot<A>);
    }
    // How many slots the ring has for so many tiles: a power of two, at least a group.
    static unsigned slots_of(std::uint64_t tiles, unsigned held, unsigned ahead, unsigned blocks) {
        const std::uint64_t most = std::uint64_t{ahead + 3} * held * blocks + 4 * group;
        unsigned slots = group;
        while (slots < most && slots < tiles) {
            slots *= 2;
        }
        return slots;
    }

    // `ordered_`: what blocks have read before they publish a total, or wait for one, those that wait for it may write.
    __device__ tile_ring(void* memory, unsigned slots_, bool ordered_)
        : taken(static_cast<unsigned*>(memory)),
          left(taken + 1),
          of_tile(reinterpret_cast<flagged_slot<Local>*>(static_cast<unsigned char*>(memory) + 16)),
          of_group(reinterpret_cast<flagged_slot<A>*>(of_tile + slots_)),
          slots(slots_),
          ordered(ordered_) {}

    // By one thread: the next tile.
    [[nodiscard]] __device__ unsigned take() const { return atomicAdd(taken, 1u); }
    // By one thread of a block that has folded its last prefix: whether it is the last block.
    [[nodiscard]] __device__ bool leave() const { return atomicAdd(left, 1u) + 1 == gridDim.x; }

    // A tile's total. By one thread each: post, and wait with what load() of the words has found.
    [[nodiscard]] __device__ const flagged_slot<Local>* box_of(unsigned tile) const { return &of_tile[slot(tile)]; }
    __device__ void publish(unsigned tile, const Local& total) const {
        fence();
        detail::publish(&of_tile[slot(tile)], total, mark(tile));
    }
    __device__ Local wait(unsigned tile, slot_reader<Local>& words) const {
        const Local total = words.wait(box_of(tile), mark(tile));
        fence();
        return total;
    }

    // The prefix of the group behind `g`.
    __device__ void post_group(unsigned g, const A& prefix) const {
        fence();
        detail::publish(&of_group[slot(g * group) / group], prefix, mark(g * group));
    }
    __device__ A wait_group(unsigned g) const {
        slot_reader<A> words{};
        const A prefix = words.wait(&of_group[slot(g * group) / group], mark(g * group));
        fence();
        return prefix;
    }
    __device__ void fence() const {
        if (ordered) {
            __threadfence();
        }
    }

    // By all threads of the last block.
    __device__ void clear(unsigned tiles) const {
        for (unsigned k = threadIdx.x; k < min(tiles, slots); k += blockDim.x) {
            detail::reset_slot(&of_tile[k]);
        }
        for (unsigned k = threadIdx.x; k < min(tiles, slots) / group; k += blockDim.x) {
            detail::reset_slot(&of_group[k]);
        }
        if (threadIdx.x < 2) {
            atomicExch(taken + threadIdx.x, 0u);
        }
    }

    unsigned* taken;
    unsigned* left;
    [[nodiscard]] __device__ unsigned slot(unsigned tile) const { return tile & (slots - 1); }
    // What marks a tile in its slot; tiles that share the slot have other marks.
    [[nodiscard]] __device__ unsigned mark(unsigned tile) const {
        return 1 + (tile >> (__ffs(static_cast<int>(slots)) - 1));
    }

    flagged_slot<Local>* of_tile;
    flagged_slot<A>* of_group;
    unsigned slots;
    bool ordered;
};

// The prefix of a block of `Warps` warps, the same in all its threads. `Widen` makes totals of several tiles of those of one.
template <class A, unsigned Warps, class Local = A, class Widen = same_total>
class running_prefix {
public:
    static constexpr unsigned group = tiles_in_group;
    static constexpr unsigned rows = 2; // groups that a warp reads at once

    struct storage {
        alignas(A) unsigned char of_group[rows * Warps * sizeof(A)];
        alignas(A) unsigned char closing[sizeof(A)];
    };

    // By all threads: `first` precedes tile 0, or is no_initial.
    template <class First>
    __device__ running_prefix(const tile_ring<A, Local>& ring, unsigned tiles, storage& shared, const First& first)
        : ring_(ring),
          tiles_(tiles),
          of_group_(reinterpret_cast<A*>(shared.of_group)),
          closing_(reinterpret_cast<A*>(shared.closing)) {
        if constexpr (!std::is_same_v<First, no_initial>) {
            value_ = first;
            there_ = true;
        }
    }

    // By the first warp: the total of a tile, from those of its warps.
    template <class Op>
    __device__ void publish(unsigned tile, block::scan_storage<Local, Warps>& totals, const Op& op) const {
        const Local total = fold_lanes(block::load_warp_total(totals, Warps), Warps, op);
        if (threadIdx.x == 0 && tile + 1 < tiles_) { // nothing needs the last one
            ring_.publish(tile, total);
        }
    }

    // By all threads, some time before before(tile): loads the totals that will be needed, as far as they are there.
    __device__ void request(unsigned tile) {
        const unsigned own = tile / group, lane = threadIdx.x % warp::lanes;
        if (!begun_) {
            begun_ = true;
            if (own > gridDim.x / group + 1) { // not one of the first tiles of all blocks
                value_ = ring_.wait_group(own - 1);
                from_group_ = own;
                there_ = true;
            }
        }
#pragma unroll
        for (unsigned k = 0; k < rows; ++k) {
            const unsigned g = from_group_ + threadIdx.x / warp::lanes + k * Warps;
            words_[k] = {};
            if (lane < count_of(g, tile)) {
                words_[k].load(ring_.box_of(g * group + lane));
            }
        }
    }

    // By all threads, behind a barrier since the last call: the prefix of `tile`, which is not the last one's nor before
    // it. It is not defined where nothing precedes the tile. Barriers.
    template <class Op>
    __device__ A before(unsigned tile, const Op& op) {
        const unsigned own = tile / group, rest = tile % group;
        fold_groups(tile, from_group_, op);
        __syncthreads();
        A front = value_;
        for (unsigned begin = from_group_;; begin += rows * Warps) {
#pragma unroll
            for (unsigned k = 0; k < rows * Warps; ++k) {
                if (begin + k >= own) {
                    if (begin + k == own) {
                        front = rest == 0 ? value_ : followed_by(of_group_[k], op);
                    }
                    break;
                }
                value_ = followed_by(of_group_[k], op);
                there_ = true;
            }
            if (own - begin < rows * Warps) {
                break;
            }
            __syncthreads();
#pragma unroll
            for (unsigned k = 0; k < rows; ++k) {
                words_[k] = {};
            }
            fold_groups(tile, begin + rows * Warps, op);
            __syncthreads();
        }
        from_group_ = own;
        if (closes_group(tile)) {
            value_ = followed_by(*closing_, op);
            there_ = true;
            from_group_ = own + 1;
            if (threadIdx.x == 0) {
                ring_.post_group(own, value_);
                posted_ = true;
            }
        }
        return front;
    }

    // By thread 0, behind the last before(): whether this is the last block. What the block has posted is visible then.
    [[nodiscard]] __device__ bool leave() const {
        if (posted_) {
            __threadfence(); // the prefix of a group may have no reader
        }
        return ring_.leave();
    }

private:
    // Whether the tile publishes the prefix of the next group.
    [[nodiscard]] __device__ bool closes_group(unsigned tile) const {
        return tile % group == group - 1 && tile + 1 < tiles_;
    }
    // How many totals of group g a tile needs; its own is one of them where it closes the group.
    [[nodiscard]] __device__ unsigned count_of(unsigned g, unsigned tile) const {
        return g < tile / group ? group : (g > tile / group ? 0 : (closes_group(tile) ? group : tile % group));
    }
    template <class Op>
    [[nodiscard]] __device__ A followed_by(const A& total, const Op& op) const {
        return there_ ? static_cast<A>(op(value_, total)) : total;
    }
    // Each warp folds the totals of the groups begin + warp and begin + warp + Warps, as far as `tile` needs them.
    template <class Op>
    __device__ void fold_groups(unsigned tile, unsigned begin, const Op& op) {
        const unsigned own = tile / group, rest = tile % group;
        const unsigned warp = threadIdx.x / warp::lanes, lane = threadIdx.x % warp::lanes;
#pragma unroll
        for (unsigned k = 0; k < rows; ++k) {
            const unsigned g = begin + warp + k * Warps, count = count_of(g, tile);
            if (count == 0) {
                break;
            }
            A total = value_;
            if (lane < count) {
                total = Widen{}(ring_.wait(g * group + lane, words_[k]), g * group + lane);
            }
            __syncwarp();
            const A all = fold_lanes(total, g == own ? rest : group, op);
            if (lane == 0) {
                of_group_[warp + k * Warps] = all;
            }
            if (g == own && closes_group(tile)) {
                const A closing = fold_lanes(total, group, op);
                if (lane == 0) {
                    *closing_ = closing;
                }
            }
        }
    }

    tile_ring<A, Local> ring_;
    unsigned tiles_;
    A* of_group_;
    A* closing_;
    A value_{}; // op over all before `from_group_`
    unsigned from_group_ = 0;
    bool there_ = false; // something precedes `from_group_`
    bool begun_ = false;
    bool posted_ = false; // in thread 0: the prefix of some group
    slot_reader<Local> words_[rows];
};

} // namespace warpfold::detail
