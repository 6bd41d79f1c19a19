// SPDX-License-Identifier: MIT
// Reductions along axes in any layout. A block is a grid of threads: across results, and along the elements of each.
// Neighbouring threads have neighbours in memory, as far as there are any. A thread has `Width` neighbouring results,
// which it loads together.
#pragma once

#include <cstdint>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/along_axis/axis_indices.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/flagged_slot.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/resident_blocks.cuh"
#include "warpfold/gpu/core/thread_items.cuh"

namespace warpfold::detail {

// Shares of a launch. A tile is the results of a block; its elements are divided into `splits` shares, one per block.
struct lanes_shape {
    std::uint64_t results;
    std::uint64_t length; // elements of a result
    std::uint64_t share;  // elements of a block
    std::uint64_t tiles;
    unsigned splits;
    unsigned log_across;     // threads across results
    bool along_first;        // neighbouring threads are along the elements of a result
    bool by_vectors = false; // of scans: a thread's elements are loaded and stored together
};

// Threads of a block for values of type A.
template <class Kernels, class A>
inline constexpr unsigned lanes_threads = sizeof(A) <= 128   ? Kernels::value.block_threads
                                          : sizeof(A) <= 512 ? 64
                                                             : 32;

// Of a multiprocessor, for which registers are left: the blocks of one launch are there at once. Larger values take
// more registers.
template <class Kernels, class A>
inline constexpr unsigned lanes_resident_blocks = sizeof(A) <= 16 ? Kernels::value.resident_blocks : 1;

// The sides of a block as a grid of threads, and a thread's place in it: x across results, y along elements.
struct thread_place {
    unsigned across, along, x, y;
};
template <unsigned Threads>
__device__ thread_place thread_place_of(const lanes_shape& shape) {
    const unsigned across = 1u << shape.log_across, along = Threads >> shape.log_across, k = threadIdx.x;
    return shape.along_first ? thread_place{across, along, k / along, k & (along - 1)}
                             : thread_place{across, along, k & (across - 1), k >> shape.log_across};
}

// Elements k, k + step, ... before `end` of `Width` results, into `mine`. `place` gives where an element is.
template <class Kernels, class A, unsigned Width, class T, class Map, class Op, class Place>
__device__ void fold_lane(A (&mine)[Width], const T* from, std::uint64_t k, std::uint64_t end, std::uint64_t step,
                          const Map& map, const Op& op, const Place& place) {
    constexpr unsigned loads = Kernels::value.loads_in_flight;
    const auto load = [&](T(&items)[Width], const axis_place& at) {
        if constexpr (Width == 1) {
            items[0] = from[at.in];
        } else {
            load_items(from + at.in, items);
        }
    };
    const auto take = [&](const T(&items)[Width], const axis_place& at) {
#pragma unroll
        for (unsigned j = 0; j < Width; ++j) {
            mine[j] = op(mine[j], static_cast<A>(detail::mapped(map, items[j], static_cast<std::uint64_t>(at.role))));
        }
    };
    const auto take_rounds = [&](auto of_round) {
        constexpr unsigned count = decltype(of_round)::value;
        for (; k + (count - 1) * step < end; k += count * step) {
            T items[count][Width];
            axis_place at[count];
#pragma unroll
            for (unsigned i = 0; i < count; ++i) {
                at[i] = place(k + i * step);
                load(items[i], at[i]);
            }
#pragma unroll
            for (unsigned i = 0; i < count; ++i) {
                take(items[i], at[i]);
            }
        }
    };
    if constexpr (Width == 1 && sizeof(T) <= 4) { // as many bytes in flight as with vectors
        take_rounds(std::integral_constant<unsigned, 4 * loads>{});
    }
    take_rounds(std::integral_constant<unsigned, loads>{});
    take_rounds(std::integral_constant<unsigned, 1>{});
}

// The values of a block's threads along elements, into those of y = 0. Neighbours first, so that the order of the
// elements is kept.
template <class A, unsigned Width, class Op>
__device__ void fold_along(A (&mine)[Width], A* shared, const thread_place& at, const Op& op) {
    const unsigned slot = (at.y * at.across + at.x) * Width;
    for (unsigned distance = 1; distance < at.along; distance *= 2) {
        if ((at.y & distance) != 0 && (at.y & (distance - 1)) == 0) {
#pragma unroll
            for (unsigned j = 0; j < Width; ++j) {
                shared[slot + j] = mine[j];
            }
        }
        __syncthreads();
        if ((at.y & (2 * distance - 1)) == 0) {
#pragma unroll
            for (unsigned j = 0; j < Width; ++j) {
                mine[j] = op(mine[j], shared[slot + distance * at.across * Width + j]);
            }
        }
    }
}

// Takes values of shares begin, begin + 1, ... before `end` of `Width` results, into `mine`. Several are on their way at once.
template <class A, unsigned Width, class Op>
__device__ void take_shares(A (&mine)[Width], flagged_slot<A>* slots, std::uint64_t results, unsigned begin,
                            unsigned end, const Op& op) {
    constexpr unsigned words_at_once = 4, words = Width * flagged_slot<A>::words;
    constexpr unsigned at_once = words < words_at_once ? words_at_once / words : 1;
    slot_reader<A> readers[at_once][Width];
    for (unsigned share = begin; share < end; share += at_once) {
        flagged_slot<A>* const first = slots + share * results;
        const auto for_each = [&](const auto& work) {
#pragma unroll
            for (unsigned i = 0; i < at_once; ++i) {
#pragma unroll
                for (unsigned j = 0; i < end - share && j < Width; ++j) {
                    work(readers[i][j], first + i * results + j, mine[j]);
                }
            }
        };
        for_each([](slot_reader<A>& reader, const flagged_slot<A>* slot, A&) { reader.load(slot); });
        for_each([&](slot_reader<A>& reader, flagged_slot<A>* slot, A& of_result) {
            of_result = op(of_result, reader.wait(slot));
            reset_slot(slot);
        });
    }
}

// Writes results to `out`. If blocks share the elements of a result, their values pass through slots[share * results
// + result], and the block of the last share folds them; for scans, `totals` gets the values of all shares instead.
template <class Kernels, class A, unsigned Width, class T, class R, class Map, class Op, class Result>
__global__ void __launch_bounds__(lanes_threads<Kernels, A>,
                                  bounded_blocks_v<lanes_threads<Kernels, A>, lanes_resident_blocks<Kernels, A>>)
    fold_lanes_kernel(const T* in, R* out, A* totals, flagged_slot<A>* slots, axis_indices kept, axis_indices reduced,
                      lanes_shape shape, Map map, Op op, Result result) {
    constexpr unsigned threads = lanes_threads<Kernels, A>;
    __shared__ alignas(A) unsigned char room[threads * Width * sizeof(A)];
    auto* const shared = reinterpret_cast<A*>(room);

    check_map<Map, T>();
    check_operation<Op, A>();
    pdl_trigger();
    pdl_wait();
    const thread_place at = thread_place_of<threads>(shape);
    const auto [across, along, x, y] = at;
    const std::uint64_t blocks = shape.tiles * shape.splits;
    for (std::uint64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
        const std::uint64_t split = shape.splits == 1 ? 0 : block / shape.tiles;
        const std::uint64_t first = ((block - split * shape.tiles) * across + x) * Width; // result
        A mine[Width];
#pragma unroll
        for (A& one : mine) {
            one = Op::template identity<A>();
        }
        axis_place to{};
        if (first < shape.results) {
            to = kept.at(first);
            const T* const from = in + to.in;
            const std::uint64_t begin = split * shape.share, end = min(begin + shape.share, shape.length);
            std::uint64_t k = begin + y, last = end, step = along;
            if constexpr (!is_commutative_v<Op>) {
                const std::uint64_t each = end > begin ? (end - begin + along - 1) / along : 0;
                k = begin + y * each;
                last = min(k + each, end);
                step = 1;
            }
            if (reduced.count <= 1) {
                fold_lane<Kernels>(mine, from + reduced.in_begin, k, last, step, map, op, [&](std::uint64_t element) {
                    const auto n = static_cast<std::int64_t>(element);
                    return axis_place{n * reduced.in[0], reduced.role_begin + n * reduced.role[0]};
                });
            } else {
                fold_lane<Kernels>(mine, from, k, last, step, map, op,
                                   [&](std::uint64_t element) { return reduced.at(element); });
            }
        }
        fold_along(mine, shared, at, op);
        const bool is_result = y == 0 && first < shape.results;
        if (slots != nullptr) {
            if (is_result) {
#pragma unroll
                for (unsigned j = 0; j < Width; ++j) {
                    detail::publish(&slots[split * shape.results + first + j], mine[j]);
                }
            }
            __syncthreads();
        }
        const bool is_last = split + 1 == shape.splits;
        if (slots != nullptr && is_last) {
            // Blocks start in the order of their index: those of the other shares have started, and none waits for another.
#pragma unroll
            for (A& one : mine) {
                one = Op::template identity<A>();
            }
            if (first < shape.results) {
                const unsigned each = (shape.splits + along - 1) / along;
                take_shares(mine, slots + first, shape.results, min(y * each, shape.splits),
                            min((y + 1) * each, shape.splits), op);
            }
            fold_along(mine, shared, at, op);
        }
        if (is_result && (slots == nullptr || is_last)) {
#pragma unroll
            for (unsigned j = 0; j < Width; ++j) {
                if (totals != nullptr) {
                    totals[split * shape.results + first + j] = mine[j];
                } else {
                    out[to.role + static_cast<std::int64_t>(j) * kept.role[0]] = result(mine[j]);
                }
            }
        }
        __syncthreads();
    }
}

} // namespace warpfold::detail
