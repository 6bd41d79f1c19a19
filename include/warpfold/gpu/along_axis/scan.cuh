// SPDX-License-Identifier: MIT
// Scans along an axis on a GPU. Rows without gaps, one after the other, are the segments of one scan of all elements
// (gpu/scan/). All others are scan_lanes_kernel's. If the rows do not fill the device, blocks divide the elements of each:
// fold_lanes_kernel gives the totals of the shares, one block scans them, and each share starts from what precedes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/axis_scan.hpp"
#include "warpfold/gpu/along_axis/along_axis.cuh"
#include "warpfold/gpu/along_axis/scan_lanes.cuh"
#include "warpfold/gpu/scan/scan.cuh"

namespace warpfold::detail {

// Flags of the first elements of rows of one length.
struct row_heads {
    __device__ bool operator[](std::uint64_t k) const { return k == length.divide(k) * length.by; }

    index_divisor length;
};

template <gpu_target On>
struct axis_scan_engine<On> {
    using policy_type = policy_t<tuning::along_axis_policy<>, On>;
    using Kernels = kernels_of<policy_type>;

    template <bool Inclusive, class A, class T, class R, class Op, class Initial>
    static void run(const On& on, const T* in, const axis_plan& plan, R* out, const Op& op, const Initial& initial,
                    const char* call) {
        if (is_dense(plan)) {
            const heads<row_heads> segments(row_heads{index_divisor(plan.reduced.size)});
            const T* const from = in + plan.kept.in_begin;
            R* const to = out + plan.kept.role_begin;
            const std::uint64_t n = plan.kept.size * plan.reduced.size;
            using Segments = heads<row_heads>;
            if constexpr (Inclusive || !std::is_same_v<Initial, no_initial>) {
                scan_engine<On>::run(on, from, n, to, identity_map{}, op,
                                     scan_options<A, Initial, Segments, Inclusive, false>{initial, segments}, call);
            } else {
                scan_engine<On>::run(on, from, n, to, identity_map{}, op,
                                     scan_options<A, A, Segments, false, false>{Op::template identity<A>(), segments},
                                     call);
            }
            return;
        }
        with_scan_identity<A>(op, initial, [&](const auto& by, const auto& map, const auto& first, const auto& result) {
            scan<Inclusive>(on, in, plan, out, by, map, first, result, call);
        });
    }

private:
    // Rows without gaps, one after the other, of at least two elements.
    static bool is_dense(const axis_plan& plan) {
        const plan_dimension& axis = plan.reduced.at[0];
        const auto length = static_cast<std::int64_t>(axis.extent);
        return plan.reduced.count == 1 && axis.in == 1 && axis.role == 1 &&
               (plan.kept.count == 0 ||
                (plan.kept.count == 1 && plan.kept.at[0].in == length && plan.kept.at[0].role == length));
    }

    template <bool Inclusive, class A, class T, class R, class Op, class Map, class Result>
    static void scan(const On& on, const T* in, const axis_plan& plan, R* out, const Op& op, const Map& map,
                     const A& first, const Result& result, const char* call) {
        const policy_type policy = policy_of<tuning::along_axis_policy<>>(on);
        constexpr unsigned threads = lanes_threads<Kernels, A>;
        const std::uint64_t blocks =
            std::uint64_t{device_attribute<cudaDevAttrMultiProcessorCount>()} * policy.blocks_per_multiprocessor;
        const lanes_shape shape = shape_of_lanes(policy, plan, 1, threads, blocks);
        if (shape.splits == 1) {
            return launch<Inclusive>(on, in, plan, shape, out, static_cast<const A*>(nullptr), map, op, first, result);
        }
        const std::uint64_t rows = plan.kept.size;
        const call_memory memory(on, 0, rows * shape.splits * sizeof(A), call, std::max<std::size_t>(alignof(A), 16));
        A* const totals = static_cast<A*>(memory.data());
        constexpr auto fold = &fold_lanes_kernel<Kernels, A, 1, T, A, Map, Op, identity_result>;
        pdl_launch(properties_of<fold>(), fold, grid_of_blocks(shape.tiles * shape.splits), threads, 0, on.stream, in,
                   static_cast<A*>(nullptr), totals, axis_indices(plan.kept), axis_indices(plan.reduced), shape, map,
                   op, identity_result{});

        axis_plan of_totals;
        of_totals.kept.add({rows, 1, 1});
        const auto apart = static_cast<std::int64_t>(rows);
        of_totals.reduced.add({shape.splits, apart, apart});
        const std::uint64_t along = std::min<std::uint64_t>(std::bit_floor(shape.splits), 32);
        const lanes_shape one{rows,
                              shape.splits,
                              shape.splits,
                              rounded_quotient(rows, threads / along),
                              1,
                              static_cast<unsigned>(std::countr_zero(threads / along)),
                              false};
        launch<false>(on, static_cast<const A*>(totals), of_totals, one, totals, static_cast<const A*>(nullptr),
                      identity_map{}, op, first, identity_result{});
        launch<Inclusive>(on, in, plan, shape, out, static_cast<const A*>(totals), map, op, first, result);
    }

    template <bool Inclusive, class A, class T, class R, class Map, class Op, class Result>
    static void launch(const On& on, const T* in, const axis_plan& plan, const lanes_shape& shape, R* out,
                       const A* starts, const Map& map, const Op& op, const A& first, const Result& result) {
        constexpr auto kernel = &scan_lanes_kernel<Kernels, Inclusive, A, T, R, Map, Op, Result>;
        pdl_launch(properties_of<kernel>(), kernel, grid_of_blocks(shape.tiles * shape.splits),
                   lanes_threads<Kernels, A>, 0, on.stream, in, out, starts, axis_indices(plan.kept),
                   axis_indices(plan.reduced), shape, map, op, first, result);
    }
};

} // namespace warpfold::detail
