// SPDX-License-Identifier: MIT
// Scans over the threads of a block, which is one-dimensional and has whole warps.
//
// A block's scan has two halves. First each warp scans its own values and stores its total. Then, behind a barrier,
// each warp scans the totals of all warps, which tells it what the warps before it have. Kernels whose threads have
// several values make the first half themselves, and take store_warp_total() and scan_warp_totals() for the second.
#pragma once

#include "warpfold/warp/scan.cuh"

namespace warpfold::block {

// Shared memory for the totals of up to `Warps` warps; as it stands, of a block of any size.
template <class A, unsigned Warps = warp::lanes>
struct scan_storage {
    static_assert(Warps <= warp::lanes);
    alignas(A) unsigned char of_warp[Warps * sizeof(A)];

    [[nodiscard]] __device__ A* totals() { return reinterpret_cast<A*>(of_warp); }
};

// Stores the total of the calling warp, the `total` of its lane `from`.
template <class A, unsigned Warps>
__device__ void store_warp_total(scan_storage<A, Warps>& storage, const A& total, unsigned from = warp::lanes - 1) {
    if (threadIdx.x % warp::lanes == from) {
        storage.totals()[threadIdx.x / warp::lanes] = total;
    }
}

// The stored total of warp k in lane k of the calling warp; lanes past the last warp hold duplicates.
template <class A, unsigned Warps>
__device__ A load_warp_total(scan_storage<A, Warps>& storage, unsigned warps = blockDim.x / warp::lanes) {
    const unsigned lane = threadIdx.x % warp::lanes;
    return storage.totals()[lane < warps ? lane : warps - 1];
}

// A scan of the block's warps, in the registers of the calling warp.
template <class A>
struct warp_totals {
    A through; // in lane k: op over the totals of warps 0 to k

    // op over the totals of all warps before the calling one, in all its lanes; not defined in warp 0.
    [[nodiscard]] __device__ A before() const {
        const unsigned warp = threadIdx.x / warp::lanes;
        return warp::shuffle(through, warp == 0 ? 0 : warp - 1);
    }
    // op over the totals of all warps, in all lanes.
    [[nodiscard]] __device__ A total(unsigned warps = blockDim.x / warp::lanes) const {
        return warp::shuffle(through, warps - 1);
    }
};

// By whole warps, behind a barrier after all warps of the block have stored their totals.
template <class A, unsigned Warps, class Op>
__device__ warp_totals<A> scan_warp_totals(scan_storage<A, Warps>& storage, const Op& op,
                                           unsigned warps = blockDim.x / warp::lanes) {
    return {warp::inclusive_scan<Warps>(load_warp_total(storage, warps), op)};
}

// op(v0, op(v1, ... v[thread])) in the order of the threads, v the threads' values; `total` becomes op over all of
// them, in every thread. All threads of the block have to call this, and to meet at a barrier before `storage` is used
// again. One barrier. `op` need not commute and needs no identity.
template <class A, unsigned Warps, class Op>
__device__ A inclusive_scan(const A& value, const Op& op, scan_storage<A, Warps>& storage, A& total) {
    const A through = warp::inclusive_scan(value, op);
    store_warp_total(storage, through);
    __syncthreads();
    const warp_totals<A> warps = scan_warp_totals(storage, op);
    total = warps.total();
    const A before = warps.before();
    return threadIdx.x < warp::lanes ? through : static_cast<A>(op(before, through));
}
template <class A, unsigned Warps, class Op>
__device__ A inclusive_scan(const A& value, const Op& op, scan_storage<A, Warps>& storage) {
    A total;
    return inclusive_scan(value, op, storage, total);
}

// op(first, op(v0, ... v[thread - 1])), and `first` in thread 0; `total` becomes op(first, op over all values).
template <class A, unsigned Warps, class Op>
__device__ A exclusive_scan(const A& value, const Op& op, const A& first, scan_storage<A, Warps>& storage, A& total) {
    const A through = warp::inclusive_scan(value, op);
    store_warp_total(storage, through);
    __syncthreads();
    const warp_totals<A> warps = scan_warp_totals(storage, op);
    total = op(first, warps.total());
    const A before = warps.before();
    const A front = threadIdx.x < warp::lanes ? first : static_cast<A>(op(first, before));
    const A in_warp = warp::shuffle_up(through, 1);
    return threadIdx.x % warp::lanes == 0 ? front : static_cast<A>(op(front, in_warp));
}
template <class A, unsigned Warps, class Op>
__device__ A exclusive_scan(const A& value, const Op& op, const A& first, scan_storage<A, Warps>& storage) {
    A total;
    return exclusive_scan(value, op, first, storage, total);
}

} // namespace warpfold::block
