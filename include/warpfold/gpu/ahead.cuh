// SPDX-License-Identifier: MIT
// What stands before a tile, where every block keeps what stood before its last one: it folds the totals of the tiles
// between, which their blocks posted, and waits for nobody's result. So nothing goes from tile to tile in a chain.
//
// Thirty-two tiles are a group. A group's totals are folded in a fixed tree, the groups one behind the other: what is
// folded, and in which order, depends on the tile's number alone, and floating-point sums come out the same in every run
// and with any number of blocks.
//
// A total stands in a box (gpu/mailbox.cuh) of its tile; its mark says for which tile the box has been used this time,
// for boxes are a ring that is shorter than a large input. A block takes tiles in the order of a counter, holds at most
// `held` at a time from which it has not looked back, three at least, and posts a tile's total just before it looks back
// from the tile before that one.
//
// Nobody can overtake the ring. All tiles that have been looked back from lie before any tile whose total is missing, and
// at most held * blocks more have been taken. So a block's next tile is less than held * blocks behind the one that it
// held then without having posted it. While a block still needs totals from its tile t on, the third tile behind t is not
// posted: it is less than 3 * held * blocks behind t, and no tile that anybody holds is 4 * held * blocks behind.
//
// A block that comes late begins at the end of a group, for the last tile of a group posts what stands before the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "warpfold/gpu/mailbox.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// Puts a value into a box whose last one nobody needs any more. `mark` is not 0.
template <class A>
__device__ void post_marked(mailbox<A>* box, const A& value, unsigned mark) {
    unsigned held[mailbox<A>::words] = {};
    std::memcpy(held, &value, sizeof(A));
#pragma unroll
    for (unsigned w = 0; w < mailbox<A>::words; ++w) {
        const unsigned long long marked = std::uint64_t{mark} << 32 | held[w];
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(&box->word[w])), "l"(marked)
                     : "memory");
    }
}

// A value on its way from a box.
template <class A>
struct marked_value {
    unsigned long long word[mailbox<A>::words];

    __device__ void load(const mailbox<A>* box) {
#pragma unroll
        for (unsigned w = 0; w < mailbox<A>::words; ++w) {
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                         : "=l"(word[w])
                         : "l"(__cvta_generic_to_global(&box->word[w]))
                         : "memory");
        }
    }
    [[nodiscard]] __device__ bool there(unsigned mark) const {
        bool all = true;
#pragma unroll
        for (unsigned w = 0; w < mailbox<A>::words; ++w) {
            all = all && static_cast<unsigned>(word[w] >> 32) == mark;
        }
        return all;
    }
    // Asks again until it is there.
    __device__ A wait(const mailbox<A>* box, unsigned mark) {
        while (!there(mark)) {
            load(box);
        }
        unsigned held[mailbox<A>::words];
#pragma unroll
        for (unsigned w = 0; w < mailbox<A>::words; ++w) {
            held[w] = static_cast<unsigned>(word[w]);
        }
        A value;
        std::memcpy(&value, held, sizeof(A));
        return value;
    }
};

template <class A>
__device__ void empty_marked(mailbox<A>* box) {
#pragma unroll
    for (unsigned w = 0; w < mailbox<A>::words; ++w) {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(&box->word[w])), "l"(0ull)
                     : "memory");
    }
}

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

// What a block keeps from tile to tile, in its first warp; lane 0 has the value.
template <class A>
struct front_so_far {
    A value;             // op over all before `group`
    unsigned group = 0;
    bool there = false;  // something stands before `group`
    bool begun = false;
};

// The memory of one scan: zero before it and after it.
template <class A>
struct tile_ring {
    static constexpr unsigned group = warp::lanes; // tiles

    static std::size_t bytes(unsigned slots) { return 16 + (slots + slots / group) * sizeof(mailbox<A>); }
    // How many boxes the ring has for so many tiles; a multiple of a group.
    static unsigned slots_of(std::uint64_t tiles, unsigned held, unsigned blocks) {
        const std::uint64_t most = (std::uint64_t{4} * held * blocks + 4 * group) / group * group;
        const std::uint64_t all = (tiles + group - 1) / group * group;
        return static_cast<unsigned>(all < most ? all : most);
    }

    __device__ tile_ring(void* memory, unsigned slots_)
        : taken(static_cast<unsigned*>(memory)), left(taken + 1),
          of_tile(reinterpret_cast<mailbox<A>*>(static_cast<unsigned char*>(memory) + 16)), through(of_tile + slots_),
          slots(slots_) {}

    // By one thread: the next tile.
    [[nodiscard]] __device__ unsigned take() const { return atomicAdd(taken, 1u); }
    // By one thread: the tile's total.
    __device__ void post(unsigned tile, const A& total) const {
        post_marked(&of_tile[tile % slots], total, 1 + tile / slots);
    }

    // By one warp, in all its lanes: lane 0 gets op over the totals of the tiles before `tile`, behind `first`, where Has;
    // else nothing means anything for tile 0. The total of `tile` has been posted.
    template <bool Has, class First, class Op>
    __device__ A before(unsigned tile, unsigned tiles, front_so_far<A>& so_far, const First& first, const Op& op) const {
        constexpr unsigned at_once = 5;
        const unsigned lane = threadIdx.x % warp::lanes;
        const unsigned own = tile / group, rest = tile % group, ring = slots / group;
        if (!so_far.begun) {
            so_far.begun = true;
            if constexpr (Has) {
                so_far.value = first;
                so_far.there = true;
            }
            if (own > gridDim.x / group + 1) { // not one of the first tiles of all blocks
                so_far.group = own;
                so_far.there = true;
                if (lane == 0) {
                    marked_value<A> from{};
                    so_far.value = from.wait(&through[(own - 1) % ring], 1 + (own - 1) / ring);
                }
                __syncwarp();
            }
        }
        A front = so_far.value;
        // In the last tile of a group its own total is folded too, for those who begin behind it.
        const bool closes = rest == group - 1;
        unsigned slot = so_far.group % ring, mark = 1 + so_far.group / ring;
        for (unsigned g = so_far.group; g <= own; g += at_once) {
            marked_value<A> words[at_once] = {};
            unsigned slot_of[at_once], mark_of[at_once];
#pragma unroll
            for (unsigned k = 0; k < at_once; ++k) {
                slot_of[k] = slot * group + lane;
                mark_of[k] = mark;
                const unsigned count = g + k < own || (g + k == own && closes) ? group : (g + k == own ? rest : 0);
                if (lane < count) {
                    words[k].load(&of_tile[slot_of[k]]);
                }
                if (++slot == ring) {
                    slot = 0;
                    ++mark;
                }
            }
#pragma unroll
            for (unsigned k = 0; k < at_once; ++k) {
                if (g + k > own) {
                    break;
                }
                const bool last = g + k == own;
                const unsigned count = last ? rest : group;
                A total = so_far.value;
                if (lane < count || (last && closes)) {
                    total = words[k].wait(&of_tile[slot_of[k]], mark_of[k]);
                }
                __syncwarp();
                if (last) {
                    front = so_far.value;
                    if (rest != 0) {
                        const A before = fold_lanes(total, rest, op);
                        front = so_far.there ? static_cast<A>(op(front, before)) : before;
                    }
                }
                if (!last || closes) {
                    const A all = fold_lanes(total, group, op);
                    so_far.value = so_far.there ? static_cast<A>(op(so_far.value, all)) : all;
                    so_far.there = true;
                }
            }
        }
        so_far.group = closes ? own + 1 : own;
        if (closes && lane == 0 && tile + 1 < tiles) {
            post_marked(&through[own % ring], so_far.value, 1 + own / ring);
        }
        return front;
    }

    // By one thread of a block that has looked back for the last time: whether it is the last block.
    [[nodiscard]] __device__ bool leave() const { return atomicAdd(left, 1u) + 1 == gridDim.x; }
    // By all threads of the last block.
    __device__ void empty(unsigned tiles) const {
        for (unsigned k = threadIdx.x; k < min(tiles, slots); k += blockDim.x) {
            empty_marked(&of_tile[k]);
        }
        for (unsigned k = threadIdx.x; k < min(tiles, slots) / group; k += blockDim.x) {
            empty_marked(&through[k]);
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

} // namespace warpfold::detail
