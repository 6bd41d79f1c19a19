// SPDX-License-Identifier: MIT
// Scans over the lanes of a warp, of a one-dimensional block.
#pragma once

#include "warpfold/warp/shuffle.cuh"

namespace warpfold::warp {

// op(v0, op(v1, ... v[lane])) in the order of the lanes, v the lanes' values. The whole warp has to call it. Five
// shuffles of each word of A; only neighbours are combined, so that `op` need not commute, and it needs no identity.
// With fewer `Lanes`, fewer shuffles: then only the first `Lanes` lanes have a result.
template <unsigned Lanes = lanes, class A, class Op>
__device__ A inclusive_scan(A value, const Op& op) {
    const unsigned which = threadIdx.x % lanes;
#pragma unroll
    for (unsigned distance = 1; distance < Lanes; distance *= 2) {
        const A before = shuffle_up(value, distance);
        if (which >= distance) {
            value = op(before, value);
        }
    }
    return value;
}

// `Count` such scans side by side, which takes about as long as one: no scan waits for another's shuffle.
template <class A, unsigned Count, class Op>
__device__ void inclusive_scan_each(A (&values)[Count], const Op& op) {
    const unsigned which = threadIdx.x % lanes;
#pragma unroll
    for (unsigned distance = 1; distance < lanes; distance *= 2) {
#pragma unroll
        for (unsigned k = 0; k < Count; ++k) {
            const A before = shuffle_up(values[k], distance);
            if (which >= distance) {
                values[k] = op(before, values[k]);
            }
        }
    }
}

// The same in segments: a lane where `head` is true begins one, and so does lane 0. `heads` becomes the lanes that are
// heads, as bits.
template <class A, class Op>
__device__ A inclusive_scan(A value, const Op& op, bool head, unsigned& heads) {
    heads = __ballot_sync(all_lanes, head);
    const unsigned which = threadIdx.x % lanes;
    const unsigned so_far = heads & (all_lanes >> (lanes - 1 - which));
    const unsigned reach = so_far == 0 ? which : which - (lanes - 1 - __clz(static_cast<int>(so_far)));
#pragma unroll
    for (unsigned distance = 1; distance < lanes; distance *= 2) {
        const A before = shuffle_up(value, distance);
        if (reach >= distance) {
            value = op(before, value);
        }
    }
    return value;
}

// op(first, op(v0, ... v[lane - 1])), and `first` in lane 0. The whole warp has to call it. `total` becomes
// op(first, op(v0, ... v31)) in every lane.
template <class A, class Op>
__device__ A exclusive_scan(const A& value, const Op& op, const A& first, A& total) {
    const A through = inclusive_scan(value, op);
    total = op(first, shuffle(through, lanes - 1));
    const A before = shuffle_up(through, 1);
    return threadIdx.x % lanes == 0 ? first : op(first, before);
}
template <class A, class Op>
__device__ A exclusive_scan(const A& value, const Op& op, const A& first) {
    const A before = shuffle_up(inclusive_scan(value, op), 1);
    return threadIdx.x % lanes == 0 ? first : op(first, before);
}

} // namespace warpfold::warp
