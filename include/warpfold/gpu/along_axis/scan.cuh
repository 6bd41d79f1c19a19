// SPDX-License-Identifier: MIT
// Scans along an axis on a GPU. A single row without gaps is a scan of gpu/scan/, and so is each of a few very long ones,
// one after the other. Rows that follow each other and do not fill the device are the segments of one. Long columns that
// are neighbours are scan_columns_kernel's, all others scan_lanes_kernel's. If the rows of the latter do not fill the
// device, blocks divide the elements of each: fold_lanes_kernel gives the totals of the shares, scan_lanes_kernel scans
// them, and each share starts from what precedes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/axes/axis_scan.hpp"
#include "warpfold/gpu/along_axis/along_axis.cuh"
#include "warpfold/gpu/along_axis/scan_columns.cuh"
#include "warpfold/gpu/along_axis/scan_lanes.cuh"
#include "warpfold/gpu/scan/scan.cuh"

namespace warpfold::detail {

// True if the elements that a thread has together are so in memory, at addresses aligned to them, in all rows.
template <unsigned Items, class T, class R>
bool has_row_vectors(const T* in, const R* out, const axis_plan& plan) {
    const auto aligned = [](const auto* first, std::int64_t begin) {
        using X = std::remove_cvref_t<decltype(*first)>;
        return (reinterpret_cast<std::uintptr_t>(first) + static_cast<std::uint64_t>(begin) * sizeof(X)) %
                   items_alignment_v<X, Items> ==
               0;
    };
    bool all = plan.reduced.at[0].in == 1 && plan.reduced.at[0].role == 1 &&
               aligned(in, plan.kept.in_begin + plan.reduced.in_begin) && aligned(out, plan.kept.role_begin);
    for (unsigned d = 0; d < plan.kept.count; ++d) {
        all = all && aligned(static_cast<const T*>(nullptr), plan.kept.at[d].in) &&
              aligned(static_cast<const R*>(nullptr), plan.kept.at[d].role);
    }
    return all;
}

// Elements of columns along which scan_lanes_kernel walks: if they fill half of the device, or in any case.
inline constexpr std::uint64_t short_columns = 1024, shortest_shared_columns = 64;

template <gpu_target On>
struct axis_scan_engine<On> {
    using policy_type = policy_t<tuning::along_axis_policy<>, On>;
    using Kernels = kernels_of<policy_type>;

    template <bool Inclusive, class A, class T, class R, class Op, class Initial>
    static void run(const On& on, const T* in, const axis_plan& plan, R* out, const Op& op, const Initial& initial,
                    const char* call) {
        const plan_dimension &row = plan.reduced.at[0], &rows = plan.kept.at[0];
        if (row.in == 1 && row.role == 1) {
            // Calls scan(options of a scan in segments of the type of `segments`).
            const auto with_options = [&](const auto& segments, const auto& scan) {
                using Segments = std::remove_cvref_t<decltype(segments)>;
                if constexpr (Inclusive || !std::is_same_v<Initial, no_initial>) {
                    scan(scan_options<A, Initial, Segments, Inclusive, false>{initial, segments});
                } else {
                    scan(scan_options<A, A, Segments, false, false>{Op::template identity<A>(), segments});
                }
            };
            if (is_alone(on, plan, sizeof(T))) {
                return with_options(no_segments{}, [&](const auto& how) {
                    for (std::uint64_t k = 0; k < plan.kept.size; ++k) {
                        const auto [from, to] = plan.kept.of(k);
                        scan_engine<On>::run(on, in + from, row.extent, out + to, identity_map{}, op, how, call);
                    }
                });
            }
            const auto length = static_cast<std::int64_t>(row.extent);
            if (plan.kept.count == 1 && rows.in == length && rows.role == length &&
                shape_of<A, T>(on, plan).splits != 1) {
                return with_options(offsets<equal_segments>{{row.extent}, rows.extent}, [&](const auto& how) {
                    scan_engine<On>::run(on, in + plan.kept.in_begin, rows.extent * row.extent,
                                         out + plan.kept.role_begin, identity_map{}, op, how, call);
                });
            }
        }
        with_scan_identity<A>(op, initial, [&](const auto& by, const auto& map, const auto& first, const auto& result) {
            scan<Inclusive>(on, in, plan, out, by, map, first, result, call);
        });
    }

private:
    static bool is_alone(const On& on, const axis_plan& plan, std::size_t element) {
        const policy_type policy = policy_of<tuning::along_axis_policy<>>(on);
        return plan.kept.size == 1 || (plan.reduced.size >= policy.scanned_alone_min_bytes / element &&
                                       plan.kept.size <= policy.scanned_alone_max_rows);
    }
    template <class A, class T>
    static lanes_shape shape_of(const On& on, const axis_plan& plan) {
        const policy_type policy = policy_of<tuning::along_axis_policy<>>(on);
        return shape_of_lanes<T>(policy, plan, 1, lanes_threads<Kernels, false, A>,
                                 multiprocessors() * policy.blocks_per_multiprocessor, lanes_use::scan);
    }
    template <bool Inclusive, class A, class T, class R, class Op, class Map, class Result>
    static void scan(const On& on, const T* in, const axis_plan& plan, R* out, const Op& op, const Map& map,
                     const A& first, const Result& result, const char* call) {
        const call_device scope;
        constexpr unsigned threads = lanes_threads<Kernels, false, A>;
        lanes_shape shape = shape_of<A, T>(on, plan);
        if constexpr (has_columns_kernel_v<A, T, R>) {
            if (scan_columns<Inclusive>(on, in, plan, shape, out, op, map, first, result, call)) {
                return;
            }
        }
        constexpr unsigned items = scan_lane_items<A>;
        shape.share = rounded_quotient(shape.share, items) * items;
        shape.splits = static_cast<unsigned>(rounded_quotient(shape.length, shape.share));
        shape.by_vectors = has_row_vectors<items>(in, out, plan);
        if (shape.splits == 1) {
            return launch<Inclusive>(on, in, plan, shape, out, static_cast<A*>(nullptr), map, op, first, result);
        }
        const std::uint64_t rows = plan.kept.size;
        const call_memory memory(on, rows * shape.splits * sizeof(A), 0, call, std::max<std::size_t>(alignof(A), 16));
        A* const totals = static_cast<A*>(memory.slots()); // zero again by the last launch
        constexpr auto fold = &fold_lanes_kernel<Kernels, false, A, 1, T, A, Map, Op, identity_result>;
        pdl_launch(properties_of<fold>(), fold, grid_of_blocks(shape.tiles * shape.splits), threads, 0, on.stream, in,
                   static_cast<A*>(nullptr), totals, static_cast<flagged_slot<A>*>(nullptr), axis_indices(plan.kept),
                   axis_indices(plan.reduced), shape, map, op, identity_result{});

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
        launch<false>(on, static_cast<const A*>(totals), of_totals, one, totals, static_cast<A*>(nullptr),
                      identity_map{}, op, first, identity_result{});
        launch<Inclusive>(on, in, plan, shape, out, totals, map, op, first, result);
    }

    // Whether it was done: columns that are not neighbours are left, and short ones that fill the device.
    template <bool Inclusive, class A, class T, class R, class Op, class Map, class Result>
    static bool scan_columns(const On& on, const T* in, const axis_plan& plan, const lanes_shape& lanes, R* out,
                             const Op& op, const Map& map, const A& first, const Result& result, const char* call) {
        const plan_dimension& column = plan.kept.at[0];
        if (plan.kept.count == 0 || column.in != 1 || column.role != 1) {
            return false;
        }
        const columns_shape shape = shape_of_columns<A>(in, out, plan);
        const std::uint64_t blocks = shape.tiles * shape.shares;
        // What lanes would write in parts of sectors is better left to them only if it is half as much.
        const bool in_parts = shape.staged && shape.copy != columns_copy::whole && lanes.log_across > 5;
        const std::uint64_t short_enough =
            lanes.tiles < 2 * multiprocessors() ? shortest_shared_columns : short_columns / (in_parts ? 2 : 1);
        if ((lanes.splits == 1 && lanes.length <= short_enough) || blocks > 0x7fffffff) {
            return false;
        }
        const call_memory memory(
            on, shape.shares == 1 ? 0 : share_totals<A>::bytes(plan.kept.size, shape.shares, shape.tiles), 0, call,
            std::max<std::size_t>(alignof(A), 16));
        const share_totals<A> totals(memory.slots(), plan.kept.size, shape.shares, shape.tiles);
        constexpr auto kernel = &scan_columns_kernel<Inclusive, A, T, R, Map, Op, Result>;
        const plan_dimension& along = plan.reduced.at[0];
        pdl_launch(properties_of<kernel>(), kernel, static_cast<unsigned>(blocks), columns_threads,
                   columns_shared_bytes<A, T, R>(shape), on.stream, in + plan.reduced.in_begin, out, totals,
                   axis_indices(plan.kept), along.in, along.role, shape, map, op, first, result);
        return true;
    }

    template <bool Inclusive, class A, class T, class R, class Map, class Op, class Result>
    static void launch(const On& on, const T* in, const axis_plan& plan, const lanes_shape& shape, R* out, A* starts,
                       const Map& map, const Op& op, const A& first, const Result& result) {
        constexpr auto kernel = &scan_lanes_kernel<Kernels, Inclusive, A, T, R, Map, Op, Result>;
        pdl_launch(properties_of<kernel>(), kernel, grid_of_blocks(shape.tiles * shape.splits),
                   lanes_threads<Kernels, false, A>, 0, on.stream, in, out, starts, axis_indices(plan.kept),
                   axis_indices(plan.reduced), shape, map, op, first, result);
    }
};

} // namespace warpfold::detail
