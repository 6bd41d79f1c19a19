// SPDX-License-Identifier: MIT
// Segments of one short length. A warp copies consecutive segments to shared memory, up to 4 KiB, and teams of its lanes
// fold them there. Several warps of a scheduler are at different steps, so that copies are in flight while others fold.
// Segments of one element need no shared memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/core/async_copy.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/vector_load.cuh"
#include "warpfold/gpu/segmented_reduce/staged_part.cuh"
#include "warpfold/gpu/segmented_reduce/teams.cuh"
#include "warpfold/gpu/segmented_reduce/warp_tile.cuh"

namespace warpfold::detail {

// How a warp folds them. A unit is what a lane reads from shared memory at once.
struct short_segments_shape {
    unsigned length;     // elements
    unsigned unit_bytes; // 16, 4, or those of an element
    unsigned units;      // of a segment
    unsigned log_team;   // lanes that fold a segment
    unsigned of_warp;    // segments
};

template <class T>
struct short_segments {
    static constexpr bool possible = fits_vectors_v<T>;
    static constexpr unsigned threads = 128;
    static constexpr unsigned most_bytes = 4096; // of a warp

    // All of them have `all_bytes` bytes, and one has no more than a warp.
    static short_segments_shape shape_of(const T* in, std::uint64_t length, std::uint64_t all_bytes) {
        constexpr unsigned few_bytes = most_bytes / 2; // of a warp, where there are few: more multiprocessors get some
        constexpr std::uint64_t many_bytes = std::uint64_t{1} << 26;
        const auto bytes = static_cast<unsigned>(length * sizeof(T));
        const std::uintptr_t alignment = reinterpret_cast<std::uintptr_t>(in) | bytes;
        const unsigned unit =
            alignment % 16 == 0 ? 16 : (sizeof(T) < 4 && alignment % 4 == 0 ? 4 : static_cast<unsigned>(sizeof(T)));
        const unsigned units = bytes / unit;
        const auto shape_in = [&](unsigned room) {
            // More lanes fold a segment if others had none, or if too many lanes that read together read the same bank:
            // of eight that read 16 bytes two may, else four of all.
            const auto needs_more = [&](unsigned log_team) {
                return room / bytes << log_team < warp::lanes ||
                       (unit == 16 ? log_team < 2 && units % (4u << log_team) == 0 : bytes % (32u << log_team) == 0);
            };
            unsigned log_team = 0;
            while (log_team < 5 && needs_more(log_team)) {
                ++log_team;
            }
            const unsigned teams = warp::lanes >> log_team;
            return short_segments_shape{static_cast<unsigned>(length), unit, units, log_team,
                                        room / bytes / teams * teams};
        };
        if (all_bytes <= many_bytes && bytes <= few_bytes) {
            const short_segments_shape shape = shape_in(few_bytes);
            if (shape.of_warp * bytes > few_bytes / 4 * 3) {
                return shape;
            }
        }
        return shape_in(most_bytes);
    }
};

// The fold of every `step`-th word of a segment from `begin` on, before `end`; a word has several elements.
// value(element, its index in the segment)
template <class Word, class A, class T, class Op, class Value>
__device__ A fold_words(const T* segment, unsigned begin, unsigned end, unsigned step, const Op& op,
                        const Value& value) {
    constexpr unsigned width = sizeof(Word) / sizeof(T);
    A mine = Op::template identity<A>();
#pragma unroll 4
    for (unsigned k = begin; k < end; k += step) {
        const Word word = reinterpret_cast<const Word*>(segment)[k];
        T x[width];
        std::memcpy(x, &word, sizeof(word));
        const auto at = [&](unsigned j) { return value(x[j], k * width + j); };
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
    }
    return mine;
}

template <class A, class T, class Map, class Op, class Result, class Out>
__global__ void __launch_bounds__(short_segments<T>::threads)
    short_segments_kernel(const T* in, short_segments_shape shape, std::uint64_t segments, Map map, Op op,
                          Result result, Out out) {
    using all = short_segments<T>;
    constexpr unsigned warps = all::threads / warp::lanes;
    __shared__ staged_part<T, all::most_bytes / sizeof(T)> parts[warps];
    check_operation<Op, A>();

    pdl_trigger();
    pdl_wait();
    const unsigned warp = threadIdx.x / warp::lanes, lane = threadIdx.x % warp::lanes;
    const std::uint64_t first = (std::uint64_t{blockIdx.x} * warps + warp) * shape.of_warp; // segment
    if (first >= segments) {
        return;
    }
    const auto here = static_cast<unsigned>(min(segments - first, std::uint64_t{shape.of_warp}));
    const T* const begin = in + first * shape.length;
    parts[warp].copy({in, in + segments * shape.length}, begin, here * shape.length, lane, warp::lanes);
    wait_all_copies();
    __syncwarp();

    const unsigned team = 1u << shape.log_team, thread = lane & (team - 1), own = lane >> shape.log_team;
    unsigned unit = thread, end = shape.units, step = team;
    if constexpr (!is_commutative_v<Op>) {
        const unsigned each = (shape.units + team - 1) >> shape.log_team;
        unit = min(thread * each, shape.units);
        end = min(unit + each, shape.units);
        step = 1;
    }
    for (unsigned s = own; s - own < here; s += warp::lanes >> shape.log_team) {
        A mine = Op::template identity<A>();
        if (s < here) {
            const T* const segment = parts[warp].at(begin) + s * shape.length;
            const std::uint64_t index = (first + s) * shape.length;
            const auto value = [&](const T& x, unsigned k) {
                return static_cast<A>(detail::mapped(map, x, index + k));
            };
            if (shape.unit_bytes == sizeof(T)) {
                mine = fold_staged<A>(segment, static_cast<int>(unit), static_cast<int>(end), static_cast<int>(step),
                                      op, value);
            } else if (shape.unit_bytes == 16) {
                mine = fold_words<uint4, A>(segment, unit, end, step, op, value);
            } else if constexpr (sizeof(T) < 4) {
                mine = fold_words<unsigned, A>(segment, unit, end, step, op, value);
            }
        }
        mine = reduce_team(mine, op, team);
        if (thread == 0 && s < here) {
            out[first + s] = result(mine);
        }
    }
}

// True if segments of so many bytes suit that kernel, provided that there are many. Without shared memory warps read whole KiB
// as fast.
constexpr bool are_short_segments(std::uint64_t bytes, std::uint64_t most = 2048) {
    return bytes != 0 && bytes <= most && bytes % 1024 != 0;
}

template <class A, class On, class T, class Map, class Op, class Result, class Out>
void launch_short_segments(const On& on, const T* in, std::uint64_t length, std::uint64_t segments, const Map& map,
                           const Op& op, const Result& result, const Out& out) {
    using all = short_segments<T>;
    const short_segments_shape shape = all::shape_of(in, length, length * segments * sizeof(T));
    const std::uint64_t of_block = std::uint64_t{shape.of_warp} * (all::threads / warp::lanes);
    constexpr auto kernel = &short_segments_kernel<A, T, Map, Op, Result, Out>;
    pdl_launch(properties_of<kernel>(), kernel, static_cast<unsigned>((segments + of_block - 1) / of_block),
               all::threads, 0, on.stream, in, shape, segments, map, op, result, out);
}

// Segments of one element: a transform. On an H100 the fastest copy has blocks of 1,024 threads that each read and
// write 16 bytes once (docs/decisions). If fewer blocks are needed than are resident at once, smaller ones balance
// better.
template <class T>
struct unit_segments {
    static constexpr unsigned most_threads = 1024, least_threads = 256;
    static constexpr unsigned items = sizeof(T) >= 16 ? 1 : (sizeof(T) >= 4 ? 16 / sizeof(T) : 4); // of a thread
};

template <class A, class In, class Map, class Op, class Result, class Out>
__global__ void __launch_bounds__(unit_segments<element_t<In>>::most_threads)
    unit_segments_kernel(In in, std::uint64_t segments, Map map, Op op, Result result, Out out) {
    using T = element_t<In>;
    constexpr unsigned items = unit_segments<T>::items;

    pdl_trigger();
    pdl_wait();
    const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x * items + threadIdx.x;
    const auto write = [&](const T& x, std::uint64_t k) {
        const A one = static_cast<A>(detail::mapped(map, x, k));
        out[k] = result(static_cast<A>(op(Op::template identity<A>(), one)));
    };
    if (first + (items - 1) * blockDim.x < segments) {
        raw_value<T> x[items];
#pragma unroll
        for (unsigned j = 0; j < items; ++j) {
            x[j].put(in[first + j * blockDim.x]);
        }
#pragma unroll
        for (unsigned j = 0; j < items; ++j) {
            write(x[j].element(), first + j * blockDim.x);
        }
    } else {
        for (std::uint64_t k = first; k < segments; k += blockDim.x) {
            write(in[k], k);
        }
    }
}

} // namespace warpfold::detail
