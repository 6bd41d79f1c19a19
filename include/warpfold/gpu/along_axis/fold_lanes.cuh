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
#include "warpfold/warp/shuffle.cuh"

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

// Blocks of a kernel. `Few` results: the blocks that share their elements are there at once, one on a multiprocessor.
template <class Kernels, bool Few>
struct axis_block {
    static constexpr unsigned threads = Few ? Kernels::value.few_block_threads : Kernels::value.block_threads;
    static constexpr unsigned loads = Few ? Kernels::value.few_loads_in_flight : Kernels::value.loads_in_flight;
    static constexpr unsigned resident = Few ? 1 : Kernels::value.resident_blocks;
};

// Threads of a block for values of type A.
template <class Kernels, bool Few, class A>
inline constexpr unsigned lanes_threads = sizeof(A) <= 128   ? axis_block<Kernels, Few>::threads
                                          : sizeof(A) <= 512 ? 64
                                                             : 32;

// Of a multiprocessor, for which registers are left: the blocks of one launch are there at once. Larger values take
// more registers.
template <class Kernels, bool Few, class A>
inline constexpr unsigned lanes_resident_blocks = sizeof(A) <= 16 ? axis_block<Kernels, Few>::resident : 1;

// Loads of a thread that are on their way together: as many bytes of single elements as of vectors.
template <class Kernels, bool Few, unsigned Width, class T>
inline constexpr unsigned lane_loads = axis_block<Kernels, Few>::loads*(Width == 1 && sizeof(T) <= 4 ? 4 : 1);

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

// Elements k, k + step, ... before `end` of `Width` results, into `mine`. `place` gives where an element is. The rest
// that gives no whole round is one round more where registers are left for it.
template <bool Few, unsigned Loads, class A, unsigned Width, class T, class Map, class Op, class Place>
__device__ void fold_lane(A (&mine)[Width], const T* from, std::uint64_t k, std::uint64_t end, std::uint64_t step,
                          const Map& map, const Op& op, const Place& place) {
    const auto take_round = [&](auto of_round, const auto& is_there) {
        constexpr unsigned count = decltype(of_round)::value;
        T items[count][Width];
        axis_place at[count];
#pragma unroll
        for (unsigned i = 0; i < count; ++i) {
            if (is_there(i)) {
                at[i] = place(k + i * step);
                if constexpr (Width == 1) {
                    items[i][0] = from[at[i].in];
                } else {
                    load_items(from + at[i].in, items[i]);
                }
            }
        }
#pragma unroll
        for (unsigned i = 0; i < count; ++i) {
#pragma unroll
            for (unsigned j = 0; is_there(i) && j < Width; ++j) {
                mine[j] = op(mine[j],
                             static_cast<A>(detail::mapped(map, items[i][j], static_cast<std::uint64_t>(at[i].role))));
            }
        }
    };
    const auto take_rounds = [&](auto of_round) {
        constexpr unsigned count = decltype(of_round)::value;
        for (; k + (count - 1) * step < end; k += count * step) {
            take_round(of_round, [](unsigned) { return true; });
        }
    };
    using whole = std::integral_constant<unsigned, Loads>;
    take_rounds(whole{});
    if constexpr (Few) {
        if (k < end) {
            take_round(whole{}, [&](unsigned i) { return k + i * step < end; });
        }
    } else {
        if constexpr (Loads > 4) {
            take_rounds(std::integral_constant<unsigned, Loads / 4>{});
        }
        take_rounds(std::integral_constant<unsigned, 1>{});
    }
}

// The values of a block's threads along elements, into those of y = 0: of a warp first, then of the warps. Neighbours
// come first, so that the order of the elements is kept.
template <class A, unsigned Width, class Op>
__device__ void fold_along(A (&mine)[Width], A* shared, const thread_place& at, bool along_first, const Op& op) {
    const unsigned apart = along_first ? 1 : at.across; // lanes between neighbours
    const unsigned of_warp = min(at.along, max(warp::lanes / apart, 1u));
    for (unsigned distance = 1; distance < of_warp; distance *= 2) {
#pragma unroll
        for (A& one : mine) {
            const A other = warp::shuffle_down(one, distance * apart);
            if ((at.y & (2 * distance - 1)) == 0) {
                one = op(one, other);
            }
        }
    }
    const unsigned warps = at.along / of_warp;
    if (warps == 1) {
        return;
    }
    const auto place = [&](unsigned of) { return shared + (of * at.across + at.x) * Width; };
    if ((at.y & (of_warp - 1)) == 0) {
#pragma unroll
        for (unsigned j = 0; j < Width; ++j) {
            place(at.y / of_warp)[j] = mine[j];
        }
    }
    __syncthreads();
    for (unsigned k = 1; at.y == 0 && k < warps; ++k) {
#pragma unroll
        for (unsigned j = 0; j < Width; ++j) {
            mine[j] = op(mine[j], place(k)[j]);
        }
    }
}

// Takes values of shares begin, begin + 1, ... before `end` of `Width` results, into `mine`. Several are on their way
// at once.
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

// Writes results to `out`. If blocks share the elements of few results, their values pass through slots[share * results
// + result], and the block of the last share folds them. For scans, `totals` gets the values of all shares instead.
template <class Kernels, bool Few, class A, unsigned Width, class T, class R, class Map, class Op, class Result>
__global__ void
__launch_bounds__(lanes_threads<Kernels, Few, A>,
                  bounded_blocks_v<lanes_threads<Kernels, Few, A>, lanes_resident_blocks<Kernels, Few, A>>)
    fold_lanes_kernel(const T* in, R* out, A* totals, flagged_slot<A>* slots, axis_indices kept, axis_indices reduced,
                      lanes_shape shape, Map map, Op op, Result result) {
    constexpr unsigned threads = lanes_threads<Kernels, Few, A>;
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
                fold_lane<Few, lane_loads<Kernels, Few, Width, T>>(
                    mine, from + reduced.in_begin, k, last, step, map, op, [&](std::uint64_t element) {
                        const auto n = static_cast<std::int64_t>(element);
                        return axis_place{n * reduced.in[0], reduced.role_begin + n * reduced.role[0]};
                    });
            } else {
                // Finding places takes more time than loads, and much code for each.
                fold_lane<false, lane_loads<Kernels, false, Width, T>>(
                    mine, from, k, last, step, map, op, [&](std::uint64_t element) { return reduced.at(element); });
            }
        }
        fold_along(mine, shared, at, shape.along_first, op);
        bool is_result = y == 0 && first < shape.results;
        if constexpr (Few) {
            if (shape.splits != 1) {
                if (is_result) {
#pragma unroll
                    for (unsigned j = 0; j < Width; ++j) {
                        detail::publish(&slots[split * shape.results + first + j], mine[j]);
                    }
                }
                __syncthreads();
                is_result = is_result && split + 1 == shape.splits;
                if (split + 1 == shape.splits) {
                    // Blocks start in the order of their index: those of the other shares have started, and none
                    // waits for another.
#pragma unroll
                    for (A& one : mine) {
                        one = Op::template identity<A>();
                    }
                    if (first < shape.results) {
                        const unsigned each = (shape.splits + along - 1) / along;
                        take_shares(mine, slots + first, shape.results, min(y * each, shape.splits),
                                    min((y + 1) * each, shape.splits), op);
                    }
                    fold_along(mine, shared, at, shape.along_first, op);
                }
            }
        }
        if (is_result) {
#pragma unroll
            for (unsigned j = 0; j < Width; ++j) {
                if (!Few && totals != nullptr) {
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
