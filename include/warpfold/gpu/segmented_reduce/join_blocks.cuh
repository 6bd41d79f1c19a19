// SPDX-License-Identifier: MIT
// Segments that cross warps or blocks: the partial values at both ends of a share, and how blocks join theirs.
#pragma once

#include <cstdint>

#include "warpfold/block/reduce.cuh"
#include "warpfold/gpu/core/flagged_slot.cuh"

namespace warpfold::detail {

template <class A>
struct segment_carry {
    A head;                // of the first segment that ends in the share, if it began before
    A open;                // of the segment that does not end in the share
    std::uint64_t segment; // the segment of `head`
    bool some;             // false: the share is empty
    bool ended;            // true: a segment ends in the share
    bool begun_before;
};

// The flag of a slot whose block saw a segment end; other slots have flag 1. So the slots say which block takes them. A
// block that starts too early, because offsets decrease, stops at such a slot and never waits for a value that is not
// published.
inline constexpr unsigned flag_of_ended = 2;

// Called by a whole block. `whole` and, in thread 0, `open` are known. `first_block` is the block in which the segment
// before that of `head` ended. A block followed by more elements publishes `open`. A block in which a segment ends
// takes the slots from first_block up to its own, so each slot is reset once.
template <class A, class Op, class Result, class Out>
__device__ void join_blocks(flagged_slot<A>* slots, bool posts, const A& open, unsigned first_block, const Op& op,
                            const Result& result, const Out& out, const segment_carry<A>& whole,
                            block::reduce_storage<A>& folding) {
    __shared__ volatile unsigned stop; // slots before it belong to another block
    // A block publishes before it waits for earlier blocks, which started before it and never wait for later ones.
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
    const unsigned count = first_block < blockIdx.x ? blockIdx.x - first_block : 0; // 0 if offsets decrease
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
