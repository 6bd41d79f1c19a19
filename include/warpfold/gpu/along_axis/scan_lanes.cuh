// SPDX-License-Identifier: MIT
// Scans along an axis in any layout. A block is a grid of threads: across rows, and along the elements of each. It walks
// along the axis in tiles, in which a thread has some consecutive elements of its row.
#pragma once

#include <cstdint>
#include <cstring>

#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/along_axis/axis_indices.cuh"
#include "warpfold/gpu/along_axis/fold_lanes.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/thread_items.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

template <class A>
inline constexpr unsigned scan_lane_items = sizeof(A) <= 8 ? 8 : (sizeof(A) <= 32 ? 4 : 1); // of a thread in a tile

// op over the values of a row's threads before this one; `all` becomes op over all of them. Called by the whole block. The
// first form is for rows of neighbouring threads.
template <class A, class Op>
__device__ A scan_along(A mine, A& all, const Op& op, A* shared, unsigned y, unsigned along) {
    const unsigned lanes = min(along, warp::lanes), lane = y & (lanes - 1);
    for (unsigned step = 1; step < lanes; step *= 2) {
        const A other = warp::shuffle_up(mine, step);
        if (lane >= step) {
            mine = op(other, mine);
        }
    }
    all = warp::shuffle(mine, threadIdx.x % warp::lanes | (lanes - 1));
    const A left = warp::shuffle_up(mine, 1);
    A before = lane == 0 ? static_cast<A>(Op::template identity<A>()) : left;
    if (along > lanes) {
        const unsigned warps = along / lanes, mine_of_row = y / lanes;
        A* const of_row = shared + threadIdx.x / lanes - mine_of_row;
        if (lane == 0) {
            of_row[mine_of_row] = all;
        }
        __syncthreads();
        all = of_row[0];
        for (unsigned w = 1; w < warps; ++w) {
            if (w == mine_of_row) {
                before = op(all, before);
            }
            all = op(all, of_row[w]);
        }
        __syncthreads();
    }
    return before;
}
// `slot`, `distance`: the thread's place in `shared`, and the distance of the next along the row.
template <class A, class Op>
__device__ A scan_along(A mine, A& all, const Op& op, A* shared, unsigned slot, unsigned distance, unsigned y,
                        unsigned along) {
    for (unsigned step = 1; step < along; step *= 2) {
        shared[slot] = mine;
        __syncthreads();
        if (y >= step) {
            mine = op(shared[slot - step * distance], mine);
        }
        __syncthreads();
    }
    shared[slot] = mine;
    __syncthreads();
    all = shared[slot + (along - 1 - y) * distance];
    const A before = y == 0 ? static_cast<A>(Op::template identity<A>()) : shared[slot - distance];
    __syncthreads();
    return before;
}

// `axis`: the scanned dimension; its role is the place in `out`. Each share starts from starts[split * rows + row], which is
// zero afterwards, or, if `starts` is null, from `initial`.
template <class Kernels, bool Inclusive, class A, class T, class R, class Map, class Op, class Result>
__global__ void __launch_bounds__(lanes_threads<Kernels, false, A>)
    scan_lanes_kernel(const T* in, R* out, A* starts, axis_indices kept, axis_indices axis, lanes_shape shape, Map map,
                      Op op, A initial, Result result) {
    constexpr unsigned threads = lanes_threads<Kernels, false, A>, items = scan_lane_items<A>;
    __shared__ alignas(A) unsigned char room[threads * sizeof(A)];
    auto* const shared = reinterpret_cast<A*>(room);

    check_operation<Op, A>();
    pdl_trigger();
    pdl_wait();
    const auto [across, along, x, y] = thread_place_of<threads>(shape);
    const std::uint64_t blocks = shape.tiles * shape.splits;
    for (std::uint64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
        const std::uint64_t split = shape.splits == 1 ? 0 : block / shape.tiles;
        const std::uint64_t row = (block - split * shape.tiles) * across + x;
        const std::uint64_t begin = split * shape.share, end = min(begin + shape.share, shape.length);
        const bool is_row = row < shape.results;
        const axis_place first = is_row ? kept.at(row) : axis_place{};
        A carry = initial;
        if (starts != nullptr) {
            A* const start = starts + split * shape.results + row;
            if (is_row) {
                carry = *start;
            }
            __syncthreads();
            if (is_row && y == 0) {
                std::memset(static_cast<void*>(__builtin_assume_aligned(start, alignof(A))), 0, sizeof(A));
            }
        }
        for (std::uint64_t tile = begin; tile < end; tile += along * items) {
            const std::uint64_t k = tile + y * items;
            const T* const from = in + first.in + axis.in_begin + static_cast<std::int64_t>(k) * axis.in[0];
            R* const to = out + first.role + static_cast<std::int64_t>(k) * axis.role[0];
            const auto count = static_cast<unsigned>(is_row && k < end ? min(end - k, std::uint64_t{items}) : 0);
            A value[items];
            if (count == items) {
                T loaded[items];
                if (shape.by_vectors) {
                    load_items(from, loaded);
                } else {
#pragma unroll
                    for (unsigned j = 0; j < items; ++j) {
                        loaded[j] = from[j * axis.in[0]];
                    }
                }
#pragma unroll
                for (unsigned j = 0; j < items; ++j) {
                    value[j] = static_cast<A>(map(loaded[j]));
                }
            } else {
#pragma unroll
                for (unsigned j = 0; j < items; ++j) {
                    value[j] = j < count ? static_cast<A>(map(from[j * axis.in[0]])) : Op::template identity<A>();
                }
            }
#pragma unroll
            for (unsigned j = 1; j < items; ++j) {
                value[j] = op(value[j - 1], value[j]);
            }
            A before = carry;
            if (along == 1) {
                carry = op(carry, value[items - 1]);
            } else {
                A all;
                const A earlier = shape.along_first
                                      ? scan_along(value[items - 1], all, op, shared, y, along)
                                      : scan_along(value[items - 1], all, op, shared, y * across + x, across, y, along);
                before = op(carry, earlier);
                carry = op(carry, all);
            }
            const auto written = [&](unsigned j) {
                if constexpr (Inclusive) {
                    return result(op(before, value[j]));
                } else {
                    return result(j == 0 ? before : op(before, value[j == 0 ? 0 : j - 1]));
                }
            };
            if (count == items) {
                R stored[items];
#pragma unroll
                for (unsigned j = 0; j < items; ++j) {
                    stored[j] = written(j);
                }
                if (shape.by_vectors) {
                    store_items(to, stored);
                } else {
#pragma unroll
                    for (unsigned j = 0; j < items; ++j) {
                        to[j * axis.role[0]] = stored[j];
                    }
                }
            } else {
#pragma unroll
                for (unsigned j = 0; j < items; ++j) {
                    if (j < count) {
                        to[j * axis.role[0]] = written(j);
                    }
                }
            }
        }
    }
}

} // namespace warpfold::detail
