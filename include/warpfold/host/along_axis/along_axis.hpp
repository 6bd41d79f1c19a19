// SPDX-License-Identifier: MIT
// Reductions along axes on the host. Results are divided into groups, and their elements into pieces of sizes that
// depend on the plan only. A thread folds one piece of one group; pieces are joined in order. So results do not depend on
// the number of threads.
//
//  columns   neighbouring results have neighbouring elements: a group has up to 4 KiB of results, side by side
//  rows      a group has one result, whose neighbouring elements are folded in 32 lanes
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/core/vectors.hpp"

namespace warpfold::detail {

inline constexpr std::uint64_t axis_columns = 64;                   // of a group of a scan
inline constexpr std::uint64_t axis_piece = std::uint64_t{1} << 16; // elements of a piece, about

// The most results of a group: its rows are long enough to be prefetched, and its totals fit the first cache.
template <class A>
inline constexpr std::uint64_t axis_group = std::max<std::uint64_t>(axis_columns, 4096 / sizeof(A));

// Elements with `step` between neighbours.
template <class T>
struct stepped {
    const T& operator[](std::uint64_t k) const { return from[static_cast<std::int64_t>(k) * step]; }

    const T* from;
    std::int64_t step;
};

// Calls run(index, count) for runs of elements [begin, end) of a result: neighbours of the innermost reduced dimension.
template <class Run>
void for_runs(const plan_dimensions& reduced, std::uint64_t begin, std::uint64_t end, const Run& run) {
    const std::uint64_t inner = reduced.count == 0 ? 1 : reduced.at[0].extent;
    while (begin < end) {
        const std::uint64_t count = std::min(end - begin, inner - begin % inner);
        run(begin, count);
        begin += count;
    }
}

template <class A, class T, class Map, class Op>
struct axis_fold {
    // Elements [begin, end) of the result whose elements start at `from`.
    [[nodiscard]] A row(const T* from, std::uint64_t begin, std::uint64_t end) const {
        const std::int64_t step = reduced.at[0].in, weight = reduced.at[0].role;
        A total = Op::template identity<A>();
        for_runs(reduced, begin, end, [&](std::uint64_t first, std::uint64_t count) {
            const auto place = reduced.of(first);
            const T* const run = from + place.in;
            const auto index = [&](std::uint64_t k) {
                return static_cast<std::uint64_t>(place.role + static_cast<std::int64_t>(k) * weight);
            };
            if constexpr (is_commutative_v<Op>) {
                if (count >= host_lanes) {
                    const auto at = [&](const T& x, std::uint64_t k) -> A {
                        return static_cast<A>(detail::mapped(map, x, index(k)));
                    };
                    total = op(total, step == 1 ? fold_in_lanes<A>(run, 0, count, at, op)
                                                : fold_in_lanes<A>(stepped<T>{run, step}, 0, count, at, op));
                    return;
                }
            }
            for (std::uint64_t k = 0; k < count; ++k) {
                const T& x = run[static_cast<std::int64_t>(k) * step];
                total = op(total, static_cast<A>(detail::mapped(map, x, index(k))));
            }
        });
        return total;
    }

    // The same for `width` neighbouring results, added to `total`. `Stride`: 1, or 0 for one known at run time only.
    template <std::int64_t Stride>
    void columns(const T* from, std::int64_t distance, std::uint64_t width, std::uint64_t begin, std::uint64_t end,
                 A* total) const {
        const std::int64_t apart = Stride == 0 ? distance : Stride;
        const std::int64_t step = reduced.at[0].in, weight = reduced.at[0].role;
        for_runs(reduced, begin, end, [&](std::uint64_t first, std::uint64_t count) {
            const auto place = reduced.of(first);
            const T* run = from + place.in;
            auto index = static_cast<std::uint64_t>(place.role);
            const auto weight_of = static_cast<std::uint64_t>(weight);
            const auto value = [&](const T* at, std::uint64_t c, std::uint64_t which) {
                const T& x = at[static_cast<std::int64_t>(c) * apart];
                return static_cast<A>(detail::mapped(map, x, which));
            };
            std::uint64_t k = 0;
            for (; k + 4 <= count; k += 4, run += 4 * step, index += 4 * weight_of) {
                for (std::uint64_t c = 0; c < width; ++c) {
                    A one = op(total[c], value(run, c, index));
                    one = op(one, value(run + step, c, index + weight_of));
                    one = op(one, value(run + 2 * step, c, index + 2 * weight_of));
                    total[c] = op(one, value(run + 3 * step, c, index + 3 * weight_of));
                }
            }
            for (; k < count; ++k, run += step, index += weight_of) {
                for (std::uint64_t c = 0; c < width; ++c) {
                    total[c] = op(total[c], value(run, c, index));
                }
            }
        });
    }

    const plan_dimensions& reduced;
    const Map& map;
    const Op& op;
};

template <>
struct axis_engine<host> {
    template <class A, class T, class R, class Map, class Op, class Result>
    static void into(const host& on, const T* in, const axis_plan& plan, R* out, const Map& map, const Op& op,
                     const Result& result, const char* /*call*/) {
        const bool by_columns = plan.kept.count != 0 && !plan.by_rows();
        const plan_dimension inner = by_columns ? plan.kept.at[0] : plan_dimension{};
        const std::uint64_t piece = std::max<std::uint64_t>(1, axis_piece / std::min(inner.extent, axis_columns));
        const std::uint64_t pieces = std::max<std::uint64_t>(1, (plan.reduced.size + piece - 1) / piece);
        const std::uint64_t threads = threads_of(on.threads);
        const auto groups_of = [&](std::uint64_t columns) { return (inner.extent + columns - 1) / columns; };
        // Results do not depend on the groups.
        std::uint64_t most = axis_group<A>;
        while (threads > 1 && most > axis_columns &&
               plan.kept.size / inner.extent * groups_of(most) * pieces < 4 * threads) {
            most /= 2;
        }
        const std::uint64_t inner_groups = groups_of(most);
        const std::uint64_t groups = plan.kept.size / inner.extent * inner_groups;
        const std::uint64_t width = std::min(inner.extent, most);
        // Short groups are a thread's together.
        const std::uint64_t together =
            std::max<std::uint64_t>(1, axis_piece / (width * std::max<std::uint64_t>(1, plan.reduced.size)));
        const axis_fold<A, T, Map, Op> fold{plan.reduced, map, op};
        const std::unique_ptr<A[]> partial(pieces == 1 ? nullptr : new A[groups * pieces * width]);

        const auto first_of = [&](std::uint64_t group) {
            return group / inner_groups * inner.extent + group % inner_groups * most;
        };
        const auto width_of = [&](std::uint64_t group) {
            return std::min(most, inner.extent - group % inner_groups * most);
        };
        const auto write = [&](std::uint64_t group, const A* total) {
            const auto to = plan.kept.of(first_of(group)).role;
            for (std::uint64_t c = 0; c < width_of(group); ++c) {
                out[to + static_cast<std::int64_t>(c) * inner.role] = result(total[c]);
            }
        };
        const auto fold_piece = [&](std::uint64_t group, std::uint64_t p, A* total) {
            const T* const from = in + plan.kept.of(first_of(group)).in;
            const std::uint64_t begin = p * piece, end = std::min(plan.reduced.size, begin + piece);
            if (!by_columns) {
                total[0] = with_widest_vectors([&] { return fold.row(from, begin, end); });
                return;
            }
            std::fill(total, total + width, Op::template identity<A>());
            with_widest_vectors([&] {
                if (inner.in == 1) {
                    fold.template columns<1>(from, 1, width_of(group), begin, end, total);
                } else {
                    fold.template columns<0>(from, inner.in, width_of(group), begin, end, total);
                }
                return 0;
            });
        };
        if (pieces == 1) {
            const auto fold_groups = [&](std::uint64_t unit) {
                A total[axis_group<A>];
                for (std::uint64_t g = unit * together; g < std::min(groups, (unit + 1) * together); ++g) {
                    fold_piece(g, 0, total);
                    write(g, total);
                }
            };
            parallel_for(on.threads, (groups + together - 1) / together, fold_groups, pieces_together);
            return;
        }
        const auto fold_unit = [&](std::uint64_t unit) {
            fold_piece(unit / pieces, unit % pieces, &partial[unit * width]);
        };
        parallel_for(on.threads, groups * pieces, fold_unit, pieces_together);
        for (std::uint64_t g = 0; g < groups; ++g) {
            A* const total = &partial[g * pieces * width];
            for (std::uint64_t p = 1; p < pieces; ++p) {
                for (std::uint64_t c = 0; c < width; ++c) {
                    total[c] = op(total[c], total[p * width + c]);
                }
            }
            write(g, total);
        }
    }
};

} // namespace warpfold::detail
