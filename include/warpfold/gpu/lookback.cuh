// SPDX-License-Identifier: MIT
// What stands before a tile: the totals of all tiles before it, folded inside one launch.
//
// Tiles stand in groups of G. Each tile posts its total in a box of its own, and reads the boxes of the tiles before it
// in its group, all at once, by one warp; the last tile of a group, which then knows what stands before the next group,
// posts that as the group's carry, and every tile reads the carry of the group before its own. So what is folded, and in
// which order, depends on the tile's number alone: floating-point sums come out the same in every run. A tile waits only
// for tiles with smaller numbers, whose blocks have started by then.
//
// A box is a mailbox with several readers. Each tile counts itself off when it has read its boxes; whoever is the last
// of a group to do so empties the group's boxes, the carry that the group has read, and the counter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "warpfold/gpu/mailbox.cuh"
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
    unsigned held[mailbox<A>::words] = {};
    std::memcpy(held, &total.value, sizeof(A));
    const std::uint64_t mark = total.head != 0 ? 2 : 1;
#pragma unroll
    for (unsigned w = 0; w < mailbox<A>::words; ++w) {
        const unsigned long long marked = mark << 32 | held[w];
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(&box->word[w])), "l"(marked)
                     : "memory");
    }
}

template <class A>
struct box_words {
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
    [[nodiscard]] __device__ bool there() const {
        bool all = true;
#pragma unroll
        for (unsigned w = 0; w < mailbox<A>::words; ++w) {
            all = all && word[w] >> 32 != 0;
        }
        return all;
    }
    template <bool Segmented>
    [[nodiscard]] __device__ partial<A, Segmented> taken() const {
        unsigned held[mailbox<A>::words];
#pragma unroll
        for (unsigned w = 0; w < mailbox<A>::words; ++w) {
            held[w] = static_cast<unsigned>(word[w]);
        }
        A value;
        std::memcpy(&value, held, sizeof(A));
        return partial<A, Segmented>::of(value, word[0] >> 33 != 0);
    }
};

template <class A>
__device__ void empty_box(mailbox<A>* box) {
#pragma unroll
    for (unsigned w = 0; w < mailbox<A>::words; ++w) {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(&box->word[w])), "l"(0ull)
                     : "memory");
    }
}

// The memory of one scan: zero before it and after it.
template <class A, bool Segmented, unsigned G>
struct lookback {
    using total_of = partial<A, Segmented>;
    static_assert(G % warp::lanes == 0);
    static constexpr unsigned each = G / warp::lanes; // boxes of a lane

    __host__ __device__ static constexpr std::size_t bytes(std::uint64_t tiles) {
        if (tiles <= 1) {
            return 0;
        }
        const std::uint64_t groups = (tiles + G - 1) / G;
        return (tiles + groups) * sizeof(mailbox<A>) + groups * sizeof(unsigned);
    }

    __device__ lookback(void* memory, unsigned tiles_) : tiles(tiles_) {
        const unsigned groups = (tiles + G - 1) / G;
        totals = static_cast<mailbox<A>*>(memory);
        carries = totals + tiles;
        counters = reinterpret_cast<unsigned*>(carries + groups);
    }

    // By one warp, in all its lanes: lane 0 gets op over the totals of the tiles before `tile`, which is not 0; with
    // `total`, the tile's own, posted for the tiles behind. `first`, where Has, stands in front of tile 0.
    template <bool Has, class First, class Op>
    __device__ total_of before(unsigned tile, const total_of& total, const First& first, const Op& op) const {
        const unsigned lane = threadIdx.x % warp::lanes;
        const unsigned group = tile / G, place = tile % G;
        const bool closes = place == G - 1; // the last of its group
        if (lane == 0 && !closes && tile + 1 < tiles) {
            post_partial(&totals[tile], total);
        }
        const mailbox<A>* const mine = totals + group * G + lane * each;
        const unsigned count = place <= lane * each ? 0 : min(each, place - lane * each);
        total_of sum{}, carry{};
        if constexpr (each * mailbox<A>::words <= 16) {
            box_words<A> box[each];
            box_words<A> carried;
            bool all = false;
            while (!all) {
                all = true;
#pragma unroll
                for (unsigned j = 0; j < each; ++j) {
                    if (j < count) {
                        box[j].load(mine + j);
                    }
                }
                if (group != 0) {
                    carried.load(carries + group - 1);
                    all = carried.there();
                }
#pragma unroll
                for (unsigned j = 0; j < each; ++j) {
                    all = all && (j >= count || box[j].there());
                }
            }
#pragma unroll
            for (unsigned j = 0; j < each; ++j) {
                if (j < count) {
                    sum = j == 0 ? box[0].template taken<Segmented>() : joined(sum, box[j].template taken<Segmented>(), op);
                }
            }
            if (group != 0) {
                carry = carried.template taken<Segmented>();
            }
        } else {
            const auto wait = [](const mailbox<A>* box) {
                box_words<A> words;
                do {
                    words.load(box);
                } while (!words.there());
                return words.template taken<Segmented>();
            };
            for (unsigned j = 0; j < count; ++j) {
                sum = j == 0 ? wait(mine) : joined(sum, wait(mine + j), op);
            }
            if (group != 0) {
                carry = wait(carries + group - 1);
            }
        }
        __syncwarp();
        // In the order of the lanes that have something.
        const unsigned lanes = (place + each - 1) / each;
#pragma unroll
        for (unsigned distance = 1; distance < warp::lanes; distance *= 2) {
            const total_of further = warp::shuffle_down(sum, distance);
            if (lane + distance < lanes) {
                sum = joined(sum, further, op);
            }
        }
        if (group != 0) {
            sum = place == 0 ? carry : joined(carry, sum, op);
        } else if constexpr (Has) {
            sum = joined(total_of::of(static_cast<A>(first), false), sum, op);
        }
        if (lane == 0 && closes && tile + 1 < tiles) {
            post_partial(&carries[group], joined(sum, total, op));
        }
        return sum;
    }

    // By lane 0 of the warp, after before(): whether the tile was the last of its group to come here.
    [[nodiscard]] __device__ bool count_off(unsigned tile) const {
        const unsigned group = tile / G;
        return atomicAdd(&counters[group], 1u) + 1 == min(G, tiles - group * G);
    }

    // By a whole warp, of the tile that was the last.
    __device__ void tidy(unsigned tile) const {
        const unsigned group = tile / G;
        const unsigned first = group * G, end = min(first + G, tiles);
        for (unsigned k = first + threadIdx.x % warp::lanes; k < end; k += warp::lanes) {
            empty_box(&totals[k]);
        }
        if (threadIdx.x % warp::lanes == 0) {
            if (group != 0) {
                empty_box(&carries[group - 1]);
            }
            atomicExch(&counters[group], 0u);
        }
    }

    mailbox<A>* totals;
    mailbox<A>* carries;
    unsigned* counters;
    unsigned tiles;
};

} // namespace warpfold::detail
