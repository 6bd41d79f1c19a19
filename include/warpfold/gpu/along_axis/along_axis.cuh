// SPDX-License-Identifier: MIT
// Reductions along axes on a GPU. The kernels, and when they are chosen:
//
//  kernel                 plan                                                              file
//  short_segments_kernel  contiguous rows below 2 KiB, or 4 KiB, without gaps, more than 1  ../segmented_reduce/
//                         MiB in all, or 32, and results without gaps                       short_segments.cuh
//  fold_rows_kernel       the innermost reduced dimension is contiguous, its rows have 32   fold_rows.cuh
//                         bytes and more, the operation commutes
//  fold_lanes_kernel      everything else; vectors of columns if the innermost kept         fold_lanes.cuh
//                         dimension is contiguous and all others keep their alignment
//
// The latter two have a form for few results: fewer threads with more loads in flight. If the results do not fill the
// device, its blocks divide the elements of each, and the last one folds their values. The order depends on the plan,
// the address's alignment, the device and the policy only.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/gpu/along_axis/axis_indices.cuh"
#include "warpfold/gpu/along_axis/fold_lanes.cuh"
#include "warpfold/gpu/along_axis/fold_rows.cuh"
#include "warpfold/gpu/core/pdl_launch.cuh"
#include "warpfold/gpu/core/target.hpp"
#include "warpfold/gpu/core/vector_load.cuh"
#include "warpfold/gpu/reduce/packed_candidate.cuh"
#include "warpfold/gpu/segmented_reduce/short_segments.cuh"
#include "warpfold/tuning/along_axis.hpp"

namespace warpfold::detail {

constexpr std::uint64_t rounded_quotient(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

inline unsigned grid_of_blocks(std::uint64_t blocks) {
    return static_cast<unsigned>(std::min<std::uint64_t>(blocks, (1u << 31) - 1));
}

// Columns of a thread: as many as 16 bytes of elements and 64 bytes of values hold.
template <class T, class A>
constexpr unsigned columns_of_thread() {
    unsigned width = fits_vectors_v<T> ? 16 / sizeof(T) : 1;
    while (width > 1 && width * sizeof(A) > 64) {
        width /= 2;
    }
    return width;
}

// True if `width` neighbouring results have neighbouring elements at addresses aligned to them, everywhere.
template <class T>
bool has_columns(const T* in, const axis_plan& plan, unsigned width) {
    if (plan.kept.count == 0 || plan.kept.at[0].in != 1 || plan.by_rows()) {
        return false;
    }
    const auto aligned = [width](std::int64_t stride) { return stride % static_cast<std::int64_t>(width) == 0; };
    bool all =
        plan.kept.at[0].extent % width == 0 &&
        reinterpret_cast<std::uintptr_t>(in + plan.kept.in_begin + plan.reduced.in_begin) % (width * sizeof(T)) == 0;
    for (unsigned d = 1; d < plan.kept.count; ++d) {
        all = all && aligned(plan.kept.at[d].in);
    }
    for (unsigned d = 0; d < plan.reduced.count; ++d) {
        all = all && aligned(plan.reduced.at[d].in);
    }
    return all;
}

inline std::uint64_t multiprocessors() { return std::uint64_t{device_attribute<cudaDevAttrMultiProcessorCount>()}; }

// Shares of each of `units`, of which `slots` run at once, with which the last one ends soonest. A unit has `of_thread`
// elements for a thread; a share has at least `least`, and costs as much as a few more.
inline std::uint64_t balanced_shares(std::uint64_t units, std::uint64_t slots, std::uint64_t of_thread,
                                     std::uint64_t least) {
    constexpr std::uint64_t cost_of_share = 8, most_rounds = 4;
    const std::uint64_t most = std::max<std::uint64_t>(1, of_thread / least);
    if (slots >= 8 * units) {
        return std::min(slots / units, most); // all run at once, and few slots are left over
    }
    std::uint64_t best = 1, least_cost = ~std::uint64_t{0};
    for (std::uint64_t shares = 1; shares <= std::clamp<std::uint64_t>(most_rounds * slots / units, 1, most);
         ++shares) {
        const std::uint64_t cost =
            rounded_quotient(units * shares, slots) * (rounded_quotient(of_thread, shares) + cost_of_share);
        if (cost < least_cost) {
            best = shares;
            least_cost = cost;
        }
    }
    return best;
}

enum class lanes_use { few_results, many_results, scan };

// Blocks that share the elements of a result cost a wait for the last one, and a scan another pass. So a result gets
// more threads of one block first, as long as a block still reads a sector of each row of memory; and blocks share
// what is left only if a thread would have more than `alone_elements` of the policy. A scan always takes more
// threads, a reduction where that makes shares unnecessary or the last block's work too long.
template <class T, class Policy>
lanes_shape shape_of_lanes(const Policy& policy, const axis_plan& plan, unsigned width, unsigned threads,
                           std::uint64_t device_blocks, lanes_use use) {
    const std::uint64_t groups = plan.kept.size / width, length = plan.reduced.size, least = policy.thread_min_elements;
    lanes_shape shape{plan.kept.size, length, length, 0, 1, 0, plan.by_rows()};
    std::uint64_t along = 1, most = threads, narrowest = threads;
    const bool is_scan = use == lanes_use::scan;
    if (shape.along_first) {
        most = narrowest = groups * 32 >= device_blocks * threads ? 32 : threads;
        along = std::min(std::bit_floor(std::max<std::uint64_t>(1, length / ((is_scan ? 2 : 4) * least))), most);
    } else {
        const std::uint64_t bytes = width * sizeof(T);
        const std::uint64_t inner = plan.kept.count == 0 ? 1 : plan.kept.at[0].extent / width;
        const bool fills = groups >= device_blocks * threads && inner >= 32;
        const std::uint64_t across = fills ? threads : std::bit_ceil(std::min<std::uint64_t>(inner, 32));
        along = std::min(std::bit_floor(std::max<std::uint64_t>(1, length / least)), threads / across);
        most = threads / std::clamp<std::uint64_t>(32 / bytes, 1, across);
        narrowest = groups * length * bytes <= policy.by_sector_max_bytes
                        ? most
                        : threads / std::clamp<std::uint64_t>(128 / bytes, 1, across);
    }
    const auto tiles = [&] { return rounded_quotient(groups, threads / along); };
    if (is_scan || length / most < policy.alone_elements) {
        // A thread may lack an eighth of its least elements: lengths are not always powers of two.
        while (along < most && 2 * along * least <= length + length / 8 && 2 * tiles() <= device_blocks) {
            along *= 2;
        }
    }
    const auto divide = [&] {
        const std::uint64_t across = threads / along, of_thread = length / along;
        std::uint64_t shares = 1;
        if (across <= 32 && of_thread > policy.alone_elements) {
            if (is_scan) {
                shares = std::max<std::uint64_t>(1, std::min(device_blocks / tiles(), of_thread / least));
            } else if (use == lanes_use::few_results) {
                shares = balanced_shares(tiles(), device_blocks, of_thread, least);
            }
        }
        shape.log_across = static_cast<unsigned>(std::countr_zero(across));
        shape.tiles = tiles();
        shape.share = std::max<std::uint64_t>(1, rounded_quotient(length, shares)); // 1 if there are no elements
        shape.splits = static_cast<unsigned>(std::max<std::uint64_t>(1, rounded_quotient(length, shape.share)));
    };
    divide();
    while (!is_scan && along < narrowest && shape.splits > along * policy.thread_max_shares) {
        along *= 2;
        divide();
    }
    return shape;
}

template <class T, class Policy>
rows_shape shape_of_rows(const Policy& policy, const axis_plan& plan, unsigned threads, std::uint64_t device_blocks,
                         bool shares) {
    constexpr std::uint64_t each = 16 / sizeof(T);
    constexpr std::uint64_t longest = std::uint64_t{1} << 30; // elements of a piece
    const std::uint64_t row = plan.reduced.at[0].extent, rows = plan.reduced.size / row, vectors = row / each;
    // Four vectors for a lane, but no part of a 32-byte sector. A block takes long rows, and those that are so few that
    // their warps would leave half of the device idle.
    std::uint64_t team = std::clamp<std::uint64_t>(std::bit_floor(vectors / 4), 2, 32);
    const bool are_few = plan.kept.size * 2 * 32 <= device_blocks * threads;
    if (vectors >= policy.block_row_min_vectors || (are_few && vectors >= std::uint64_t{2} * threads)) {
        team = threads;
    }
    rows_shape shape{plan.kept.size, row, row, 1, {}, rows, rows, 1, 0};
    shape.log_team = static_cast<unsigned>(std::countr_zero(team));
    const std::uint64_t units = device_blocks * threads / std::max<std::uint64_t>(team, 4);
    const std::uint64_t of_thread = rows * vectors / team;
    std::uint64_t splits = 1;
    if (shares && of_thread > policy.alone_elements) {
        splits = balanced_shares(plan.kept.size, units, of_thread, policy.thread_min_elements);
    }
    const std::uint64_t pieces = std::max(rounded_quotient(splits, rows), rounded_quotient(row, longest));
    if (pieces > 1) {
        shape.piece = rounded_quotient(rounded_quotient(row, pieces), each) * each;
        shape.row_pieces = rounded_quotient(row, shape.piece);
        shape.by_row_pieces = shape.row_pieces > 1 ? index_divisor(shape.row_pieces) : index_divisor();
        shape.pieces = rows * shape.row_pieces;
    }
    shape.share = std::max<std::uint64_t>(1, rounded_quotient(shape.pieces, splits));
    shape.splits = static_cast<unsigned>(std::max<std::uint64_t>(1, rounded_quotient(shape.pieces, shape.share)));
    return shape;
}

template <gpu_target On>
struct axis_engine<On> {
    using policy_type = policy_t<tuning::along_axis_policy<>, On>;
    using Kernels = kernels_of<policy_type>;

    template <class A, class T, class R, class Map, class Op, class Result>
    static void into(const On& on, const T* in, const axis_plan& plan, R* out, const Map& map, const Op& op,
                     const Result& result, const char* call) {
        if constexpr (packs_into_word_v<Op, A>) {
            if (plan.reduced.size <= most_packed_elements) {
                run<std::uint64_t>(on, in, plan, out, pack_candidate<Op::smallest>{}, minimum{},
                                   unpack_candidate<Op::smallest, Result, A>{result}, call);
                return;
            }
        }
        run<A>(on, in, plan, out, map, op, result, call);
    }

private:
    template <class A, class T, class R, class Map, class Op, class Result>
    static void run(const On& on, const T* in, const axis_plan& plan, R* out, const Map& map, const Op& op,
                    const Result& result, const char* call) {
        const call_device scope;
        const policy_type policy = policy_of<tuning::along_axis_policy<>>(on);
        const std::uint64_t blocks = multiprocessors() * policy.blocks_per_multiprocessor;
        if constexpr (short_segments<T>::possible) {
            if (is_short(policy, plan, sizeof(T))) {
                return launch_short<A>(on, in, plan, out, map, op, result);
            }
        }
        if constexpr (is_commutative_v<Op> && fits_vectors_v<T>) {
            if (plan.by_rows() && plan.reduced.at[0].in == 1 && plan.reduced.at[0].extent * sizeof(T) >= 32) {
                using few_block = axis_block<Kernels, true>;
                const rows_shape few = shape_of_rows<T>(policy, plan, few_block::threads, multiprocessors(), true);
                const std::uint64_t teams = few_block::threads >> few.log_team;
                if (few.results * few.splits <= multiprocessors() * teams ||
                    few.share * few.piece / (16 / sizeof(T)) >> few.log_team >=
                        std::uint64_t{policy.few_min_rounds} * few_block::loads) {
                    return with_slots<A>(on, plan, few.splits, call, [&](flagged_slot<A>* slots) {
                        launch_rows<true>(on, in, plan, few, out, slots, map, op, result);
                    });
                }
                constexpr unsigned threads = axis_block<Kernels, false>::threads;
                return launch_rows<false>(on, in, plan, shape_of_rows<T>(policy, plan, threads, blocks, false), out,
                                          static_cast<flagged_slot<A>*>(nullptr), map, op, result);
            }
        }
        constexpr unsigned width = columns_of_thread<T, A>();
        const auto by_lanes = [&](auto columns) {
            constexpr unsigned many = decltype(columns)::value, few_threads = lanes_threads<Kernels, true, A>;
            const lanes_shape few =
                shape_of_lanes<T>(policy, plan, many, few_threads, multiprocessors(), lanes_use::few_results);
            if (few.tiles * few.splits <= multiprocessors() ||
                few.share / (few_threads >> few.log_across) >=
                    std::uint64_t{policy.few_min_rounds} * lane_loads<Kernels, true, many, T>) {
                return with_slots<A>(on, plan, few.splits, call, [&](flagged_slot<A>* slots) {
                    launch_lanes<many, true>(on, in, plan, few, out, slots, map, op, result);
                });
            }
            constexpr unsigned threads = lanes_threads<Kernels, false, A>;
            launch_lanes<many, false>(on, in, plan,
                                      shape_of_lanes<T>(policy, plan, many, threads, blocks, lanes_use::many_results),
                                      out, static_cast<flagged_slot<A>*>(nullptr), map, op, result);
        };
        if constexpr (width > 1) {
            if (has_columns(in, plan, width)) {
                return by_lanes(std::integral_constant<unsigned, width>{});
            }
        }
        by_lanes(std::integral_constant<unsigned, 1>{});
    }

    // Calls launch(nullptr) or, if blocks share the elements of a result, launch(slots) for their values.
    template <class A, class Launch>
    static void with_slots(const On& on, const axis_plan& plan, unsigned splits, const char* call,
                           const Launch& launch) {
        const call_memory memory(on, splits == 1 ? 0 : plan.kept.size * splits * sizeof(flagged_slot<A>), 0, call);
        launch(splits == 1 ? nullptr : static_cast<flagged_slot<A>*>(memory.slots()));
    }

    // Segments of one short length, one after the other, whose results are, too.
    static bool is_short(const policy_type& policy, const axis_plan& plan, std::size_t bytes) {
        const plan_dimension &kept = plan.kept.at[0], &row = plan.reduced.at[0];
        const std::uint64_t all = kept.extent * row.extent * bytes;
        return plan.kept.count == 1 && plan.reduced.count == 1 && row.in == 1 &&
               kept.in == static_cast<std::int64_t>(row.extent) && kept.role == 1 &&
               all > policy.short_rows_max_bytes &&
               are_short_segments(row.extent * bytes, all > policy.middle_rows_max_bytes ? 4096 : 2048);
    }
    template <class A, class T, class R, class Map, class Op, class Result>
    static void launch_short(const On& on, const T* in, const axis_plan& plan, R* out, const Map& map, const Op& op,
                             const Result& result) {
        const plan_dimension& row = plan.reduced.at[0];
        const map_in_row<Map> of_row{map, index_divisor(row.extent),
                                     static_cast<std::uint64_t>(plan.reduced.role_begin),
                                     static_cast<std::uint64_t>(row.role)};
        launch_short_segments<A>(on, in + plan.kept.in_begin + plan.reduced.in_begin, row.extent, plan.kept.size,
                                 of_row, op, result, out + plan.kept.role_begin);
    }
    template <bool Few, class A, class T, class R, class Map, class Op, class Result>
    static void launch_rows(const On& on, const T* in, const axis_plan& plan, const rows_shape& shape, R* out,
                            flagged_slot<A>* slots, const Map& map, const Op& op, const Result& result) {
        plan_dimensions rows = plan.reduced;
        rows.size /= rows.at[0].extent;
        rows.count -= 1;
        std::copy(rows.at.begin() + 1, rows.at.end(), rows.at.begin());
        const auto weight = static_cast<std::uint64_t>(plan.reduced.at[0].role);
        constexpr auto kernel = &fold_rows_kernel<Kernels, Few, A, T, R, Map, Op, Result>;
        constexpr unsigned threads = axis_block<Kernels, Few>::threads;
        pdl_launch(properties_of<kernel>(), kernel,
                   grid_of_blocks(rounded_quotient(shape.results * shape.splits, threads >> shape.log_team)), threads,
                   0, on.stream, in, out, slots, axis_indices(plan.kept), axis_indices(rows), weight, shape, map, op,
                   result);
    }
    template <unsigned Width, bool Few, class A, class T, class R, class Map, class Op, class Result>
    static void launch_lanes(const On& on, const T* in, const axis_plan& plan, const lanes_shape& shape, R* out,
                             flagged_slot<A>* slots, const Map& map, const Op& op, const Result& result) {
        constexpr auto kernel = &fold_lanes_kernel<Kernels, Few, A, Width, T, R, Map, Op, Result>;
        pdl_launch(properties_of<kernel>(), kernel, grid_of_blocks(shape.tiles * shape.splits),
                   lanes_threads<Kernels, Few, A>, 0, on.stream, in, out, static_cast<A*>(nullptr), slots,
                   axis_indices(plan.kept), axis_indices(plan.reduced), shape, map, op, result);
    }
};

} // namespace warpfold::detail
