// SPDX-License-Identifier: MIT
// Scans over the threads of a block.
#pragma once

#include "warpfold/warp/scan.cuh"

namespace warpfold {

namespace block {

// Shared memory that the scans need, for a block of any size.
template <class A>
struct scan_storage {
    alignas(A) unsigned char of_warp[warp::lanes * sizeof(A)];
};

} // namespace block

namespace detail {

// op over the values of the thread's warp up to the thread; `before` becomes op over those of all warps before, which
// there are none of for warp 0, and `total` op over the values of all threads.
template <class A, class Op>
__device__ A scan_warps(const A& value, const Op& op, block::scan_storage<A>& storage, A& before, A& total) {
    auto* const of_warp = reinterpret_cast<A*>(storage.of_warp);
    const unsigned warps = blockDim.x / warp::lanes;
    const unsigned warp = threadIdx.x / warp::lanes, lane = threadIdx.x % warp::lanes;
    const A through = warp::inclusive_scan(value, op);
    if (lane == warp::lanes - 1) {
        of_warp[warp] = through;
    }
    __syncthreads();
    // Lanes beyond the last warp repeat its value; nobody asks for theirs.
    const A of_warps = warp::inclusive_scan(of_warp[lane < warps ? lane : warps - 1], op);
    before = warp::shuffle(of_warps, warp == 0 ? 0 : warp - 1);
    total = warp::shuffle(of_warps, warps - 1);
    return through;
}

} // namespace detail

namespace block {

// op(v0, op(v1, ... v[thread])) in the order of the threads, v the threads' values; `total` becomes op over all of
// them, in every thread. The block is one-dimensional and has whole warps. All its threads have to call this, and to
// meet at a barrier before `storage` is used again. One barrier. `op` need not commute and needs no identity.
template <class A, class Op>
__device__ A inclusive_scan(const A& value, const Op& op, scan_storage<A>& storage, A& total) {
    A before;
    const A through = detail::scan_warps(value, op, storage, before, total);
    return threadIdx.x < warp::lanes ? through : static_cast<A>(op(before, through));
}
template <class A, class Op>
__device__ A inclusive_scan(const A& value, const Op& op, scan_storage<A>& storage) {
    A total;
    return inclusive_scan(value, op, storage, total);
}

// op(first, op(v0, ... v[thread - 1])), and `first` in thread 0; `total` becomes op(first, op over all values).
template <class A, class Op>
__device__ A exclusive_scan(const A& value, const Op& op, const A& first, scan_storage<A>& storage, A& total) {
    A before;
    const A through = detail::scan_warps(value, op, storage, before, total);
    total = op(first, total);
    const A front = threadIdx.x < warp::lanes ? first : static_cast<A>(op(first, before));
    const A in_warp = warp::shuffle_up(through, 1);
    return threadIdx.x % warp::lanes == 0 ? front : static_cast<A>(op(front, in_warp));
}
template <class A, class Op>
__device__ A exclusive_scan(const A& value, const Op& op, const A& first, scan_storage<A>& storage) {
    A total;
    return exclusive_scan(value, op, first, storage, total);
}

} // namespace block
} // namespace warpfold
