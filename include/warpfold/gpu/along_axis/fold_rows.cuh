// SPDX-License-Identifier: MIT
// Reductions along axes whose innermost one is contiguous: the elements of a result are rows. A team of lanes, or a
// block, folds the rows of a result, 16 bytes at a time.
#pragma once

#include <cstdint>

#include "warpfold/block/reduce.cuh"
#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/along_axis/axis_indices.cuh"
#include "warpfold/gpu/along_axis/fold_lanes.cuh"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/core/flagged_slot.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/segmented_reduce/teams.cuh"

namespace warpfold::detail {

// Shares of a launch. Rows are cut into pieces of at most `piece` elements. The pieces of a result, row by row, are
// divided into `splits` shares, one per team.
struct rows_shape {
    std::uint64_t results;
    std::uint64_t row;        // elements
    std::uint64_t piece;      // elements, a multiple of 16 bytes unless it is the row
    std::uint64_t row_pieces; // of a row
    index_divisor by_row_pieces;
    std::uint64_t pieces; // of a result
    std::uint64_t share;  // pieces of a team
    unsigned splits;
    unsigned log_team;
};

// Loads of a team, in the form that fold_by_team takes.
template <class Kernels, bool Few>
struct row_loads {
    struct loads {
        unsigned vector_loads_in_flight = axis_block<Kernels, Few>::loads;
    };
    static constexpr loads value{};
};

// `rows`: the reduced dimensions but the innermost, whose elements have the indices 0, weight, 2 weight, ... of a
// row. If teams share the pieces of few results, their values pass through slots[share * results + result], and the team
// of the last share folds them.
template <class Kernels, bool Few, class A, class T, class R, class Map, class Op, class Result>
__global__ void __launch_bounds__(axis_block<Kernels, Few>::threads, axis_block<Kernels, Few>::resident)
    fold_rows_kernel(const T* in, R* out, flagged_slot<A>* slots, axis_indices kept, axis_indices rows,
                     std::uint64_t weight, rows_shape shape, Map map, Op op, Result result) {
    __shared__ block::reduce_storage<A> storage;

    check_map<Map, T>();
    check_operation<Op, A>();
    pdl_trigger();
    pdl_wait();
    const unsigned team = 1u << shape.log_team, thread = threadIdx.x & (team - 1);
    const unsigned teams = blockDim.x >> shape.log_team;
    const std::uint64_t units = shape.results * shape.splits;
    for (std::uint64_t base = std::uint64_t{blockIdx.x} * teams; base < units;
         base += std::uint64_t{gridDim.x} * teams) {
        const std::uint64_t unit = base + (threadIdx.x >> shape.log_team);
        const std::uint64_t split = shape.splits == 1 ? 0 : unit / shape.results;
        const std::uint64_t which = unit - split * shape.results;
        A mine = Op::template identity<A>();
        axis_place to{};
        if (unit < units) {
            to = kept.at(which);
            const std::uint64_t end = min((split + 1) * shape.share, shape.pieces);
            for (std::uint64_t piece = split * shape.share; piece < end; ++piece) {
                const std::uint64_t row = shape.row_pieces == 1 ? piece : shape.by_row_pieces.divide(piece);
                const std::uint64_t first = (piece - row * shape.row_pieces) * shape.piece;
                const axis_place at = rows.at(row);
                const map_from_index<Map> indexed{map, static_cast<std::uint64_t>(at.role) + first * weight, weight};
                mine = op(mine,
                          fold_by_team<row_loads<Kernels, Few>, A>(
                              in + to.in + at.in + first, 0, static_cast<unsigned>(min(shape.piece, shape.row - first)),
                              indexed, op, thread, team));
            }
        }
        const auto fold_team = [&] {
            if (team <= warp::lanes) {
                mine = reduce_team(mine, op, team);
            } else {
                mine = block::reduce(mine, op, storage);
                __syncthreads();
            }
        };
        fold_team();
        const bool is_last = unit < units && split + 1 == shape.splits;
        if constexpr (Few) {
            if (shape.splits != 1) {
                if (thread == 0 && unit < units) {
                    detail::publish(&slots[unit], mine);
                }
                // Blocks start in the order of their index: the teams of the other shares have started, and none
                // waits for another.
                mine = Op::template identity<A>();
                for (unsigned share = thread; is_last && share < shape.splits; share += team) {
                    mine = op(mine, detail::take_slot(&slots[share * shape.results + which]));
                }
                fold_team();
            }
        }
        if (thread == 0 && is_last) {
            out[to.role] = result(mine);
        }
    }
}

} // namespace warpfold::detail
