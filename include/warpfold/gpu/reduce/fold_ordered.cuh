// SPDX-License-Identifier: MIT
// The fold of a warp's share of an array strictly in order, for operations that do not commute.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/core/vector_load.cuh"
#include "warpfold/warp/reduce.cuh"
#include "warpfold/warp/shuffle.cuh"

namespace warpfold::detail {

// By value: of references nvcc would make addresses in local memory.
template <class A>
__device__ A chosen(bool first, A a, A b) {
    return first ? a : b;
}

// The values of all lanes for row 0, then for row 1, ..., folded in this order; in lane 0. Four rows take
// 8 shuffles, and 20 one by one: of two rows, one lane of a pair goes on with the first and the other with the second.
template <class A, class Op, unsigned Rows>
__device__ A fold_rows(A (&rows)[Rows], const Op& op) {
    const unsigned lane = threadIdx.x % warp::lanes;
    unsigned distance = 1;
#pragma unroll
    for (unsigned left = Rows; left > 1; left /= 2) {
        const bool second = (lane & distance) != 0;
#pragma unroll
        for (unsigned i = 0; i < left / 2; ++i) {
            const A kept = chosen(second, rows[2 * i + 1], rows[2 * i]);
            const A other = warp::shuffle(chosen(second, rows[2 * i], rows[2 * i + 1]), lane ^ distance);
            rows[i] = op(chosen(second, other, kept), chosen(second, kept, other));
        }
        distance *= 2;
    }
    A value = rows[0]; // of row lane % Rows, for Rows lanes
#pragma unroll
    for (; distance < warp::lanes; distance *= 2) {
        value = op(value, warp::shuffle_down(value, distance));
    }
#pragma unroll
    for (distance = 1; distance < Rows; distance *= 2) {
        value = op(value, warp::shuffle_down(value, distance));
    }
    return value;
}

// The warp's partial value of n elements, strictly in order: in lane 0; other lanes get the identity. A warp has
// consecutive rows, and a lane has a vector of each, or 32 bytes of elements where these are not read by vectors.
template <class A, class In, class Map, class Op>
__device__ A fold_ordered(const In& in, std::uint64_t n, const Map& map, const Op& op) {
    using T = element_t<In>;
    const unsigned lane = threadIdx.x % warp::lanes;
    const std::uint64_t warps = std::uint64_t{gridDim.x} * (blockDim.x / warp::lanes);
    const std::uint64_t warp = std::uint64_t{blockIdx.x} * (blockDim.x / warp::lanes) + threadIdx.x / warp::lanes;
    A total = Op::template identity<A>();
    const auto take = [&](A& into, const T& x, std::uint64_t index) {
        into = op(into, static_cast<A>(detail::mapped(map, x, index)));
    };
    const auto take_all = [&](A& into, std::uint64_t first, std::uint64_t end) {
#pragma unroll 1
        for (std::uint64_t k = first; k < end; ++k) {
            take(into, in[k], k);
        }
    };
    // The warp's share of `all` rows or groups of rows.
    const auto for_share = [&](std::uint64_t all, const auto& fold) {
        const std::uint64_t each = (all + warps - 1) / warps;
        const std::uint64_t end = min((warp + 1) * each, all);
        for (std::uint64_t k = warp * each; k < end; ++k) {
            total = op(total, fold(k));
        }
    };
    if constexpr (std::is_pointer_v<In> && fits_vectors_v<T>) {
        const vector_view<T> view(in, n);
        constexpr unsigned width = vector_view<T>::width;
        constexpr unsigned rows = sizeof(A) <= 8 ? 4 : 1;
        constexpr unsigned group = rows * warp::lanes; // vectors
        if (view.vectors != 0) {
            if (warp == 0) {
                take_all(total, 0, view.head);
            }
            for_share((view.vectors + group - 1) / group, [&](std::uint64_t k) {
                const std::uint64_t first = k * group + lane;
                uint4 loaded[rows];
                A values[rows];
#pragma unroll
                for (unsigned r = 0; r < rows; ++r) {
                    loaded[r] =
                        load_vector<cache_hint::stream>(view.data + min(first + r * warp::lanes, view.vectors - 1));
                }
#pragma unroll
                for (unsigned r = 0; r < rows; ++r) {
                    const std::uint64_t at = first + r * warp::lanes;
                    values[r] = Op::template identity<A>();
                    if (at < view.vectors) {
#pragma unroll
                        for (unsigned j = 0; j < width; ++j) {
                            take(values[r], element_of<T>(loaded[r], j), view.head + at * width + j);
                        }
                    }
                }
                return fold_rows(values, op);
            });
            if (warp == warps - 1) {
                take_all(total, view.tail, n);
            }
            return lane == 0 ? total : Op::template identity<A>();
        }
    }
    constexpr unsigned run = sizeof(T) >= 32 ? 1 : 32 / sizeof(T);
    constexpr unsigned row = run * warp::lanes;
    for_share((n + row - 1) / row, [&](std::uint64_t r) {
        const std::uint64_t first = r * row + lane * run;
        A mine = Op::template identity<A>();
        if (first + run <= n) {
#pragma unroll
            for (unsigned j = 0; j < run; ++j) {
                take(mine, in[first + j], first + j);
            }
        } else {
            take_all(mine, first, n);
        }
        return warp::reduce(mine, op);
    });
    return lane == 0 ? total : Op::template identity<A>();
}

} // namespace warpfold::detail
