// SPDX-License-Identifier: MIT
// What a warp or a block has of the segments at both ends of its part of a segmented reduction, and how the blocks join
// what they have.
#pragma once

#include <cstdint>

#include "warpfold/block/reduce.cuh"
#include "warpfold/gpu/core/flagged_slot.cuh"

namespace warpfold::detail {

template <class A>
struct segment_carry {
    A head;                // of the first one that ends here, if it began before
    A open;                // of the one that does not end here
    std::uint64_t segment; // the one with the head
    bool some;             // whether there is anything
    bool ended;            // whether a segment ended
    bool begun_before;
};

// The mark of a box whose block saw a segment end; of others it is 1. So the boxes say by themselves which block takes
// them, and where offsets that decrease make a block look too far it stops, and waits for nothing that never comes.
inline constexpr unsigned flag_of_ended = 2;

// By a whole block, of which `whole` and, in thread 0, `open` are known. `first_block` is the one in which the segment
// before the one with the head ended. A block with elements behind its own posts; a block in which a segment ends takes
// the boxes from first_block up to its own: so each box is emptied once.
template <class A, class Op, class Result, class Out>
__device__ void join_blocks(flagged_slot<A>* slots, bool posts, const A& open, unsigned first_block, const Op& op,
                            const Result& result, const Out& out, const segment_carry<A>& whole,
                            block::reduce_storage<A>& folding) {
    __shared__ volatile unsigned stop; // boxes before it are another block's
    // A block posts before it waits for those before it, which started earlier and wait for none behind them.
    if (threadIdx.x == 0) {
        if (posts) {
            detail::publish(&slots[blockIdx.x], open, whole.ended ? flag_of_ended : 1);
        }
        stop = first_block;
    }
    if (blockIdx.x == 0 || !whole.ended) {
        return;
    }
    __syncthreads();
    const unsigned count = first_block < blockIdx.x ? blockIdx.x - first_block : 0; // 0 if the offsets decrease
    const unsigned each = (count + blockDim.x - 1) / blockDim.x;
    const unsigned begin = first_block + min(threadIdx.x * each, count);
    const unsigned end = first_block + min((threadIdx.x + 1) * each, count);
    A before = Op::template identity<A>();
    for (unsigned k = end; k > begin;) {
        --k;
        slot_reader<A> one{};
        while (!one.ready() && k >= stop) {
            one.load(&slots[k]);
        }
        before = op(one.value(), before);
        if (k > stop && one.ready(flag_of_ended)) {
            atomicMax(const_cast<unsigned*>(&stop), k);
        }
    }
    __syncthreads();
    for (unsigned k = max(begin, stop); k < end; ++k) {
        detail::reset_slot(&slots[k]);
    }
    before = warpfold::block::reduce(before, op, folding);
    if (threadIdx.x == 0 && whole.begun_before) {
        out[whole.segment] = result(static_cast<A>(op(before, whole.head)));
    }
}

} // namespace warpfold::detail
