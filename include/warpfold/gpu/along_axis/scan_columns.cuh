// SPDX-License-Identifier: MIT
// Scans of columns, whose neighbours are neighbours in memory, in one pass. A block copies a share of some columns to
// shared memory, folds it, gets what precedes it (share_prefix.cuh), and scans what is in shared memory. Results go out
// from there row by row if warps would else write parts of sectors.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/gpu/along_axis/along_axis.cuh"
#include "warpfold/gpu/along_axis/axis_indices.cuh"
#include "warpfold/gpu/along_axis/scan_lanes.cuh"
#include "warpfold/gpu/along_axis/share_prefix.cuh"
#include "warpfold/gpu/core/async_copy.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/resident_blocks.cuh"
#include "warpfold/gpu/core/thread_items.cuh"

namespace warpfold::detail {

inline constexpr unsigned columns_threads = 256;
inline constexpr unsigned columns_tile_bytes = 32 * 1024; // of a block
template <class A>
inline constexpr unsigned columns_resident_blocks = sizeof(A) <= 4 ? 5 : 4; // for which registers are left
// Columns of a block at most, and where it has not all that are neighbours.
template <class A>
inline constexpr unsigned columns_at_most = sizeof(A) <= 8 ? 64 : 32;
inline constexpr unsigned columns_of_many = 32;

// How a share is copied to shared memory, and its results back.
enum class columns_copy {
    elements,
    vectors, // in: 16 bytes of a row
    whole    // in and out: 16 bytes of all, since rows follow each other without gaps
};

// Shares of a launch. A tile is `across` neighbours of the innermost kept dimension, or what is left of it. A thread has
// 2^log_each elements of a column, one after the other.
struct columns_shape {
    std::uint64_t inner;    // extent of that dimension
    std::uint64_t of_inner; // tiles of it
    std::uint64_t tiles;
    std::uint64_t length; // of a column
    std::uint64_t shares; // of a column
    unsigned across;
    unsigned log_each;
    unsigned gap; // cells behind a thread's elements in shared memory, so that lanes are in different banks
    columns_copy copy;
    bool staged; // results go through shared memory

    [[nodiscard]] __host__ __device__ unsigned along() const { return columns_threads / across; }
    [[nodiscard]] __host__ __device__ unsigned share() const { return along() << log_each; }
    [[nodiscard]] __host__ __device__ unsigned run() const { return across << log_each; } // elements between gaps
    // Where row k of a share begins.
    [[nodiscard]] __host__ __device__ unsigned place(unsigned k) const { return k * across + (k >> log_each) * gap; }
    [[nodiscard]] __host__ __device__ unsigned cells() const { return along() * (run() + gap); }
};

// A cell of shared memory holds an element, and then its result.
template <class T, class R>
inline constexpr unsigned columns_cell = std::max(sizeof(T), sizeof(R));
template <class T, class R>
__host__ __device__ std::size_t columns_cell_bytes(const columns_shape& shape) {
    return (std::size_t{shape.cells()} * columns_cell<T, R> + 15) / 16 * 16;
}
// Elements that are copied together; 1 if there is no such way.
template <class T, class R>
inline constexpr unsigned columns_vector = sizeof(T) == sizeof(R) && 16 % sizeof(T) == 0 ? 16 / sizeof(T) : 1;

// Calls work(k, x) for all x of `width` and all k of `count`, by all threads of the block, in this order.
template <class Work>
__device__ void for_rows(unsigned count, unsigned width, const Work& work) {
    const unsigned rows = columns_threads / width, more = columns_threads % width;
    unsigned k = threadIdx.x / width, x = threadIdx.x % width;
#pragma unroll 4
    while (k < count) {
        work(k, x);
        k += rows;
        x += more;
        if (x >= width) {
            x -= width;
            ++k;
        }
    }
}

template <bool Inclusive, class A, class T, class R, class Map, class Op, class Result>
__global__ void __launch_bounds__(columns_threads, bounded_blocks_v<columns_threads, columns_resident_blocks<A>>)
    scan_columns_kernel(const T* in, R* out, share_totals<A> totals, axis_indices kept, std::int64_t in_pitch,
                        std::int64_t out_pitch, columns_shape shape, Map map, Op op, A initial, Result result) {
    constexpr unsigned cell = columns_cell<T, R>, vector = columns_vector<T, R>;
    extern __shared__ uint4 columns_room[];
    auto* const cells = reinterpret_cast<unsigned char*>(columns_room);
    auto* const shared = reinterpret_cast<A*>(cells + columns_cell_bytes<T, R>(shape));
    const auto element = [&](unsigned at) { return reinterpret_cast<T*>(cells + at * cell); };
    const auto its_result = [&](unsigned at) { return reinterpret_cast<R*>(cells + at * cell); };
    check_operation<Op, A>();
    pdl_trigger();
    pdl_wait();

    share_place at{};
    at.share = static_cast<unsigned>(blockIdx.x / shape.tiles);
    at.tile = blockIdx.x - at.share * shape.tiles;
    at.across = shape.across;
    at.along = shape.along();
    at.x = threadIdx.x % shape.across;
    at.y = threadIdx.x / shape.across;
    const std::uint64_t outer = at.tile / shape.of_inner, column = (at.tile - outer * shape.of_inner) * shape.across;
    const auto width = static_cast<unsigned>(min(std::uint64_t{shape.across}, shape.inner - column));
    const std::uint64_t begin = std::uint64_t{at.share} * shape.share();
    const auto count = static_cast<unsigned>(min(std::uint64_t{shape.share()}, shape.length - begin));
    at.row = outer * shape.inner + column + at.x;
    at.is_row = at.x < width && at.y < at.along;
    const axis_place first = kept.at(outer * shape.inner + column);
    const T* const from = in + first.in + static_cast<std::int64_t>(begin) * in_pitch;
    R* const to = out + first.role + static_cast<std::int64_t>(begin) * out_pitch;

    // Calls work(at, place, n) for n elements at `at` of a share without gaps, by vectors and what is left.
    const auto for_whole = [&](const auto& work) {
        const unsigned all = count * width;
        for_rows((count + (1u << shape.log_each) - 1) >> shape.log_each, shape.run() / vector,
                 [&](unsigned run, unsigned x) {
                     const unsigned e = run * shape.run() + x * vector;
                     if (e < all) {
                         work(e, e + run * shape.gap, min(vector, all - e));
                     }
                 });
    };
    if (shape.copy == columns_copy::whole) {
        for_whole([&](unsigned e, unsigned place, unsigned n) {
            if (n == vector) {
                copy_items_async<T, vector>(from + e, element(place));
            } else {
                for (unsigned i = 0; i < n; ++i) {
                    *element(place + i) = from[e + i];
                }
            }
        });
    } else if (shape.copy == columns_copy::vectors) {
        for_rows(count, width / vector, [&](unsigned k, unsigned x) {
            copy_items_async<T, vector>(from + k * in_pitch + x * vector, element(shape.place(k) + x * vector));
        });
    } else {
        for_rows(count, width, [&](unsigned k, unsigned x) {
            copy_items_async<T, 1>(from + k * in_pitch + x, element(shape.place(k) + x));
        });
    }
    wait_all_copies();
    __syncthreads();

    const unsigned own = at.y << shape.log_each;
    const unsigned mine = at.is_row && own < count ? min(1u << shape.log_each, count - own) : 0;
    const unsigned place = shape.place(own) + at.x;
    A all = Op::template identity<A>();
#pragma unroll 8
    for (unsigned j = 0; j < mine; ++j) {
        all = op(all, static_cast<A>(map(*element(place + j * shape.across))));
    }
    A before = Op::template identity<A>();
    if (at.along > 1) {
        before = scan_along(static_cast<A>(all), all, op, shared, threadIdx.x, at.across, at.y, at.along);
    }
    const A precedes = shape.shares == 1 ? initial : totals.before(at, all, initial, op, shared);
    A value = op(precedes, before);
    const auto next = [&](unsigned j) {
        const A one = static_cast<A>(map(*element(place + j * shape.across))), last = value;
        value = op(value, one);
        return result(Inclusive ? value : last);
    };
    if (!shape.staged || (shape.copy != columns_copy::whole && width != shape.across)) {
        R* const column_out = to + static_cast<std::int64_t>(own) * out_pitch + at.x;
#pragma unroll 8
        for (unsigned j = 0; j < mine; ++j) {
            column_out[j * out_pitch] = static_cast<R>(next(j));
        }
        return;
    }
#pragma unroll 8
    for (unsigned j = 0; j < mine; ++j) {
        const R stored = static_cast<R>(next(j));
        std::memcpy(static_cast<void*>(its_result(place + j * shape.across)), &stored, sizeof(R));
    }
    __syncthreads();
    if (shape.copy == columns_copy::whole) {
        for_whole([&](unsigned e, unsigned from_place, unsigned n) {
            if (n == vector) {
                R items[vector];
                load_items(static_cast<const R*>(its_result(from_place)), items);
                store_items(to + e, items);
            } else {
                for (unsigned i = 0; i < n; ++i) {
                    to[e + i] = *its_result(from_place + i);
                }
            }
        });
        return;
    }
    // Rows by warps, which begin where a sector begins; what precedes that in a row comes last.
    constexpr unsigned of_sector = sizeof(R) > 32 ? 1 : 32 / sizeof(R);
    const unsigned parts = width / warp::lanes;
#pragma unroll 4
    for (unsigned u = threadIdx.x / warp::lanes; u < count * parts; u += columns_threads / warp::lanes) {
        const unsigned k = parts == 1 ? u : u / 2; // at most columns_at_most
        R* const row = to + k * out_pitch;
        const unsigned shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(row) / sizeof(R)) % of_sector;
        unsigned x = (u - k * parts) * warp::lanes + threadIdx.x % warp::lanes - shift;
        x += x > width ? width : 0;
        row[x] = *its_result(shape.place(k) + x);
    }
}

// Bytes of shared memory of a block: cells, and values of threads.
template <class A, class T, class R>
std::size_t columns_shared_bytes(const columns_shape& shape) {
    return columns_cell_bytes<T, R>(shape) +
           std::max(columns_threads * sizeof(A), share_totals<A>::shared_bytes(shape.across));
}

template <class A, class T, class R>
inline constexpr bool has_columns_kernel_v =
    sizeof(A) <= 16 && columns_cell<T, R> <= 16 && columns_cell<T, R> % alignof(T) == 0 &&
    columns_cell<T, R> % alignof(R) == 0 && std::is_trivially_copyable_v<T>&& std::is_trivially_copyable_v<R>;

// log_each of large arrays: as much as a tile holds.
template <class T, class R>
inline constexpr unsigned columns_log_each =
    static_cast<unsigned>(std::bit_width(columns_tile_bytes / columns_threads / columns_cell<T, R>)) - 1;

template <class A, class T, class R>
columns_shape shape_of_columns(const T* in, const R* out, const axis_plan& plan) {
    constexpr unsigned cell = columns_cell<T, R>, vector = columns_vector<T, R>;
    constexpr auto by_vector = static_cast<std::int64_t>(vector);
    const plan_dimension& along = plan.reduced.at[0];
    const T* const from = in + plan.reduced.in_begin + plan.kept.in_begin;
    const R* const to = out + plan.kept.role_begin;
    // Of rows of memory, and of what they begin with.
    const auto all_strides = [&](const auto& fit) {
        bool all = fit(along);
        for (unsigned d = 1; d < plan.kept.count; ++d) {
            all = all && fit(plan.kept.at[d]);
        }
        return all;
    };
    // Halves of sectors that other blocks fill do no harm; single elements do.
    const bool fill_halves = reinterpret_cast<std::uintptr_t>(to) % 16 == 0 && all_strides([](const plan_dimension& d) {
                                 return static_cast<std::uint64_t>(d.role) * sizeof(R) % 16 == 0;
                             });
    const bool in_by_vectors = vector > 1 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0;

    columns_shape shape{};
    shape.inner = plan.kept.at[0].extent;
    shape.across = static_cast<unsigned>(shape.inner);
    if (shape.inner > columns_at_most<A>) {
        shape.across = fill_halves ? columns_of_many : columns_at_most<A>;
    }
    shape.of_inner = rounded_quotient(shape.inner, shape.across);
    shape.tiles = plan.kept.size / shape.inner * shape.of_inner;
    shape.length = plan.reduced.size;
    shape.gap = static_cast<unsigned>(rounded_quotient(shape.across * cell, 16) * 16 / cell);
    shape.log_each = columns_log_each<T, R>;
    const auto shares = [&] { return rounded_quotient(shape.length, shape.share()); };
    while (shape.log_each > 3 && shape.tiles * shares() < 2 * multiprocessors()) {
        --shape.log_each;
    }
    shape.shares = shares();

    const auto inner = static_cast<std::int64_t>(shape.inner);
    if (in_by_vectors && shape.across == shape.inner && along.in == inner && along.role == inner &&
        reinterpret_cast<std::uintptr_t>(to) % 16 == 0 && shape.run() % vector == 0 &&
        all_strides([&](const plan_dimension& d) {
            return &d == &along || (d.in % by_vector == 0 && d.role % by_vector == 0);
        })) {
        shape.copy = columns_copy::whole;
    } else if (in_by_vectors && shape.across % vector == 0 && shape.inner % vector == 0 &&
               all_strides([&](const plan_dimension& d) { return d.in % by_vector == 0; })) {
        shape.copy = columns_copy::vectors;
    }
    shape.staged = shape.copy == columns_copy::whole || (!fill_halves && shape.across % warp::lanes == 0);
    return shape;
}

// Bytes of a workspace that is enough for scans of up to n elements by this kernel: of columns with more than
// `least_length` elements, or few columns.
template <class A, class T, class R>
std::size_t columns_workspace_bytes(std::uint64_t n, std::uint64_t least_length) {
    if constexpr (has_columns_kernel_v<A, T, R>) {
        constexpr std::uint64_t share = columns_threads / columns_at_most<A> << columns_log_each<T, R>;
        const std::uint64_t few = std::uint64_t{columns_at_most<A>} * 4 * multiprocessors();
        const std::uint64_t shares = n / share + n / least_length + few, columns = n / least_length + few;
        return (shares + shares / shares_in_group + 2 * columns) * (sizeof(flagged_slot<A>) + sizeof(unsigned));
    } else {
        return 0;
    }
}

} // namespace warpfold::detail
