// SPDX-License-Identifier: MIT
// Whole segments folded by a team: some lanes of a warp, a warp, or a block.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/block/reduce.cuh"
#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/vector_load.cuh"
#include "warpfold/gpu/segmented_reduce/merge_path.cuh"
#include "warpfold/tuning/segmented_reduce.hpp"
#include "warpfold/warp/reduce.cuh"

namespace warpfold::detail {

// The partial value of thread `thread` of a team of `team` threads, for `count` elements from `first` on. Each thread
// has `Loads` vectors in flight; in the last round `Least`, if no more are left.
template <class Kernels, class A, unsigned Loads = Kernels::value.vector_loads_in_flight, unsigned Least = Loads,
          class Size, class In, class Map, class Op>
__device__ A fold_by_team(const In& in, std::uint64_t first, Size count, const Map& map, const Op& op, unsigned thread,
                          unsigned team) {
    using T = element_t<In>;
    A mine = Op::template identity<A>();
    const auto value = [&](const T& x, std::uint64_t k) { return static_cast<A>(detail::mapped(map, x, first + k)); };
    if constexpr (std::is_pointer_v<In> && fits_vectors_v<T>) {
        const vector_view<T> view(in + first, count);
        constexpr unsigned width = vector_view<T>::width;
        const auto vectors = static_cast<Size>(view.vectors), head = static_cast<Size>(view.head);
        // In groups of four, so that the chain of dependent operations is shorter.
        const auto take_vector = [&](const uint4& vector, Size k) {
            const auto at = [&](unsigned j) { return value(element_of<T>(vector, j), head + k * width + j); };
            if constexpr (width % 4 == 0) {
#pragma unroll
                for (unsigned j = 0; j < width; j += 4) {
                    mine = op(mine, op(op(at(j), at(j + 1)), op(at(j + 2), at(j + 3))));
                }
            } else {
#pragma unroll
                for (unsigned j = 0; j < width; ++j) {
                    mine = op(mine, at(j));
                }
            }
        };
        Size k = thread;
        for (; k + (Loads - 1) * team < vectors; k += Loads * team) {
            uint4 loaded[Loads];
            load_vectors<cache_hint::stream>(loaded, view.data + k, team);
#pragma unroll
            for (unsigned i = 0; i < Loads; ++i) {
                take_vector(loaded[i], k + i * team);
            }
        }
        const auto take_rest = [&](auto most) {
            constexpr unsigned loads = decltype(most)::value;
            uint4 loaded[loads];
#pragma unroll
            for (unsigned i = 0; i < loads; ++i) {
                if (k + i * team < vectors) {
                    loaded[i] = load_vector<cache_hint::stream>(view.data + k + i * team);
                }
            }
#pragma unroll
            for (unsigned i = 0; i < loads; ++i) {
                if (k + i * team < vectors) {
                    take_vector(loaded[i], k + i * team);
                }
            }
        };
        if (k < vectors) {
            if (Least < Loads && vectors <= k - thread + Least * team) { // the same for the whole team
                take_rest(std::integral_constant<unsigned, Least>{});
            } else {
                take_rest(std::integral_constant<unsigned, Loads>{});
            }
        }
        view.for_edges(count, thread, team, [&](Size edge) { mine = op(mine, value(in[first + edge], edge)); });
    } else {
#pragma unroll 4
        for (Size k = thread; k < count; k += team) {
            mine = op(mine, value(in[first + k], k));
        }
    }
    return mine;
}

// The same for at most Loads * team elements, loaded one by one, all in flight together.
template <class A, unsigned Loads, class In, class Map, class Op>
__device__ A fold_little(const In& in, std::uint64_t first, unsigned count, const Map& map, const Op& op,
                         unsigned thread, unsigned team) {
    using T = element_t<In>;
    A mine = Op::template identity<A>();
#pragma unroll
    for (unsigned i = 0; i < Loads; ++i) {
        const unsigned k = thread + i * team;
        if (k < count) {
            const T x = in[first + k];
            mine = op(mine, static_cast<A>(detail::mapped(map, x, first + k)));
        }
    }
    return mine;
}

// op over the values of a team of lanes, a power of two, in its first lane.
template <class A, class Op>
__device__ A reduce_team(A value, const Op& op, unsigned team) {
#pragma unroll
    for (unsigned distance = 1; distance < warp::lanes; distance *= 2) {
        if (distance >= team) {
            break;
        }
        value = op(value, warp::shuffle_down(value, distance));
    }
    return value;
}

// Segments of one length, each folded by 1 << log_team lanes or by a block.
struct segment_teams {
    static constexpr unsigned threads = 256;
    static constexpr unsigned log_threads = 8;
    static constexpr unsigned log_warp = 5;
    static constexpr unsigned blocks_per_multiprocessor = 4;
    static constexpr unsigned most_threads = 1024; // of a block that folds one segment
};

template <class Kernels, class A, class In, class Map, class Op, class Result, class Out>
__global__ void __launch_bounds__(segment_teams::threads, segment_teams::blocks_per_multiprocessor)
    team_per_segment_kernel(In in, unsigned length, std::uint64_t segments, unsigned log_team, Map map, Op op,
                            Result result, Out out) {
    check_operation<Op, A>();
    pdl_trigger();
    pdl_wait();
    const unsigned team = 1u << log_team, thread = threadIdx.x & (team - 1);
    const unsigned log_teams = segment_teams::log_threads - log_team;
    const std::uint64_t stride = std::uint64_t{gridDim.x} << log_teams;
    // The lanes of a warp stay together.
    const unsigned own_team = threadIdx.x >> log_team;
    const unsigned behind = own_team & ((warp::lanes >> log_team) - 1); // the team's index in its warp
    std::uint64_t s = (std::uint64_t{blockIdx.x} << log_teams) + own_team;
    for (; s - behind < segments; s += stride) {
        A mine = Op::template identity<A>();
        if (s < segments) {
            mine = fold_by_team<Kernels, A, Kernels::value.equal_vector_loads_in_flight>(in, s * length, length, map,
                                                                                         op, thread, team);
        }
        mine = reduce_team(mine, op, team);
        if (thread == 0 && s < segments) {
            out[s] = result(mine);
        }
    }
}

template <class Kernels, class A, class In, class Map, class Op, class Result, class Out>
__global__ void __launch_bounds__(segment_teams::most_threads)
    block_per_segment_kernel(In in, unsigned length, std::uint64_t segments, Map map, Op op, Result result, Out out) {
    __shared__ block::reduce_storage<A> storage;

    check_operation<Op, A>();
    pdl_trigger();
    pdl_wait();
    for (std::uint64_t s = blockIdx.x; s < segments; s += gridDim.x) {
        A mine = fold_by_team<Kernels, A>(in, s * length, length, map, op, threadIdx.x, blockDim.x);
        mine = block::reduce(mine, op, storage);
        if (threadIdx.x == 0) {
            out[s] = result(mine);
        }
        __syncthreads();
    }
}

} // namespace warpfold::detail
