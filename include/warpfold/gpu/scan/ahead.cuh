// SPDX-License-Identifier: MIT
// What stands before a tile, where every block keeps what stood before its last one: it folds the totals of the tiles
// between, which their blocks posted, and waits for nobody's result. So nothing goes from tile to tile in a chain.
//
// Thirty-two tiles are a group. A group's totals are folded in a fixed tree, the groups one behind the other: what is
// folded, and in which order, depends on the tile's number alone, and floating-point sums come out the same in every
// run and with any number of blocks.
//
// A total stands in a box (gpu/core/mailbox.cuh) of its tile; its mark says for which tile the box has been used this time,
// for boxes are a ring that is shorter than a large input. A block takes tiles in the order of a counter, holds at most
// `held` at a time from which it has not looked back, and posts the total of its tile k + `ahead` just before it looks
// back from its tile k; held > ahead + 1.
//
// Nobody can overtake the ring. All tiles that have been looked back from lie before any tile whose total is missing,
// and at most held * blocks more have been taken. So a block's next tile is less than held * blocks behind any that it
// held then without having posted it. While a block still needs totals from its tile t on, the tile that it takes ahead
// + 2 turns after t is not posted: it is less than (ahead + 2) * held * blocks behind t, and no tile that anybody holds
// is (ahead + 3) * held * blocks behind.
//
// A block that comes late begins at the end of a group, for the last tile of a group posts what stands before the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "warpfold/gpu/core/mailbox.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// In lane 0: op over the values of the first `count` lanes, in their order; count is not 0.
template <class A, class Op>
__device__ A fold_lanes(A value, unsigned count, const Op& op) {
    const unsigned lane = threadIdx.x % warp::lanes;
#pragma unroll
    for (unsigned distance = 1; distance < warp::lanes; distance *= 2) {
        const A further = warp::shuffle_down(value, distance);
        if (lane + distance < count) {
            value = op(value, further);
        }
    }
    return value;
}

// The memory of one scan: zero before it and after it.
template <class A>
struct tile_ring {
    static constexpr unsigned group = warp::lanes; // tiles

    static std::size_t bytes(unsigned slots) { return 16 + (slots + slots / group) * sizeof(mailbox<A>); }
    // How many boxes the ring has for so many tiles; a multiple of a group.
    static unsigned slots_of(std::uint64_t tiles, unsigned held, unsigned ahead, unsigned blocks) {
        const std::uint64_t most = (std::uint64_t{ahead + 3} * held * blocks + 4 * group) / group * group;
        const std::uint64_t all = (tiles + group - 1) / group * group;
        return static_cast<unsigned>(all < most ? all : most);
    }

    __device__ tile_ring(void* memory, unsigned slots_)
        : taken(static_cast<unsigned*>(memory)),
          left(taken + 1),
          of_tile(reinterpret_cast<mailbox<A>*>(static_cast<unsigned char*>(memory) + 16)),
          through(of_tile + slots_),
          slots(slots_) {}

    // By one thread: the next tile.
    [[nodiscard]] __device__ unsigned take() const { return atomicAdd(taken, 1u); }
    [[nodiscard]] __device__ mailbox<A>* box_of(unsigned tile) const { return &of_tile[tile % slots]; }
    [[nodiscard]] __device__ unsigned mark_of(unsigned tile) const { return 1 + tile / slots; }
    // By one thread: the tile's total, which somebody has to read; nobody reads the last one's.
    __device__ void post(unsigned tile, const A& total) const { detail::post(box_of(tile), total, mark_of(tile)); }

    // By one thread of a block that has looked back for the last time: whether it is the last block.
    [[nodiscard]] __device__ bool leave() const { return atomicAdd(left, 1u) + 1 == gridDim.x; }
    // By all threads of the last block.
    __device__ void empty(unsigned tiles) const {
        for (unsigned k = threadIdx.x; k < min(tiles, slots); k += blockDim.x) {
            detail::empty_box(&of_tile[k]);
        }
        for (unsigned k = threadIdx.x; k < min(tiles, slots) / group; k += blockDim.x) {
            detail::empty_box(&through[k]);
        }
        if (threadIdx.x < 2) {
            atomicExch(taken + threadIdx.x, 0u);
        }
    }

    unsigned* taken;
    unsigned* left;
    mailbox<A>* of_tile;
    mailbox<A>* through;
    unsigned slots;
};

// What a block knows of what stands before its tiles, the same in all its threads.
template <class A, unsigned Warps>
struct looking_back {
    static constexpr unsigned group = tile_ring<A>::group;
    static constexpr unsigned rows = 2; // groups that a warp looks at at once

    // Shared by the block.
    struct shared {
        alignas(A) unsigned char of_group[rows * Warps * sizeof(A)];
        alignas(A) unsigned char closing[sizeof(A)];
    };

    // By all threads before anything else: `first` stands in front of tile 0.
    template <class First>
    __device__ void begin_with(const First& first) {
        value = first;
        there = true;
    }
    // By all threads, some time before finish(): asks for what will be needed for `tile`.
    __device__ void ask(const tile_ring<A>& ring, unsigned tile, unsigned tiles) {
        const unsigned own = tile / group, lane = threadIdx.x % warp::lanes;
        if (!begun) {
            begun = true;
            if (own > gridDim.x / group + 1) { // not one of the first tiles of all blocks
                box_words<A> from{};
                value =
                    from.wait(&ring.through[(own - 1) % (ring.slots / group)], 1 + (own - 1) / (ring.slots / group));
                from_group = own;
                there = true;
            }
        }
#pragma unroll
        for (unsigned k = 0; k < rows; ++k) {
            const unsigned g = from_group + threadIdx.x / warp::lanes + k * Warps;
            words[k] = {};
            if (lane < count_of(g, tile, tiles)) {
                words[k].load(ring.box_of(g * group + lane));
            }
        }
    }
    // By all threads, between two barriers; then, behind the second, done(). Totals of the first groups are folded
    // here.
    template <class Op>
    __device__ void finish(const tile_ring<A>& ring, unsigned tile, unsigned tiles, shared& memory, const Op& op) {
        fold_groups(ring, tile, tiles, from_group, memory, op);
    }
    // By all threads, behind a barrier: what stands before `tile`; nothing that means anything where nothing does.
    template <class Op>
    __device__ A done(const tile_ring<A>& ring, unsigned tile, unsigned tiles, shared& memory, const Op& op) {
        const unsigned own = tile / group, rest = tile % group;
        const auto* const of_group = reinterpret_cast<const A*>(memory.of_group);
        A front = value;
        for (unsigned begin = from_group;; begin += rows * Warps) {
#pragma unroll
            for (unsigned k = 0; k < rows * Warps; ++k) {
                if (begin + k >= own) {
                    if (begin + k == own) {
                        front = rest == 0 ? value : (there ? static_cast<A>(op(value, of_group[k])) : of_group[k]);
                    }
                    break;
                }
                value = there ? static_cast<A>(op(value, of_group[k])) : of_group[k];
                there = true;
            }
            if (own - begin < rows * Warps) {
                break;
            }
            __syncthreads();
            const unsigned next = begin + rows * Warps;
#pragma unroll
            for (unsigned k = 0; k < rows; ++k) {
                words[k] = {};
            }
            fold_groups(ring, tile, tiles, next, memory, op);
            __syncthreads();
        }
        from_group = own;
        if (closes(tile, tiles)) {
            const A all = *reinterpret_cast<const A*>(memory.closing);
            value = there ? static_cast<A>(op(value, all)) : all;
            there = true;
            from_group = own + 1;
            if (threadIdx.x == 0) {
                const unsigned groups = ring.slots / group;
                detail::post(&ring.through[own % groups], value, 1 + own / groups);
                told = true;
            }
        }
        return front;
    }

    // By thread 0, behind the last done(): whether this is the last block. What the block posted has arrived by then.
    [[nodiscard]] __device__ bool leave(const tile_ring<A>& ring) const {
        if (told) {
            __threadfence(); // not everything that stands before a group is read by somebody
        }
        return ring.leave();
    }

private:
    // Whether the tile posts what stands before the next group.
    __device__ static bool closes(unsigned tile, unsigned tiles) {
        return tile % group == group - 1 && tile + 1 < tiles;
    }
    // How many boxes of group g matter to a tile; where it closes the group its own is one of them.
    __device__ static unsigned count_of(unsigned g, unsigned tile, unsigned tiles) {
        return g < tile / group ? group : (g > tile / group ? 0 : (closes(tile, tiles) ? group : tile % group));
    }
    template <class Op>
    __device__ void fold_groups(const tile_ring<A>& ring, unsigned tile, unsigned tiles, unsigned begin, shared& memory,
                                const Op& op) {
        const unsigned own = tile / group, rest = tile % group;
        const unsigned warp = threadIdx.x / warp::lanes, lane = threadIdx.x % warp::lanes;
        auto* const of_group = reinterpret_cast<A*>(memory.of_group);
#pragma unroll
        for (unsigned k = 0; k < rows; ++k) {
            const unsigned g = begin + warp + k * Warps, count = count_of(g, tile, tiles);
            if (count == 0) {
                break;
            }
            A total = value;
            if (lane < count) {
                const unsigned at = g * group + lane;
                total = words[k].wait(ring.box_of(at), ring.mark_of(at));
            }
            __syncwarp();
            const A all = fold_lanes(total, g == own ? rest : group, op);
            if (lane == 0) {
                of_group[warp + k * Warps] = all;
            }
            if (g == own && closes(tile, tiles)) {
                const A closing = fold_lanes(total, group, op);
                if (lane == 0) {
                    *reinterpret_cast<A*>(memory.closing) = closing;
                }
            }
        }
    }

    A value{}; // op over all before `from_group`
    unsigned from_group = 0;
    bool there = false; // something stands before `from_group`
    bool begun = false;
    bool told = false; // in thread 0: what stands before some group
    box_words<A> words[rows];
};

} // namespace warpfold::detail
