// SPDX-License-Identifier: MIT
// Reductions along axes on the host. Results are divided into groups, and their elements into pieces of sizes that
// depend on the plan only. A thread folds one piece of one group; pieces are joined in order, those of sums that round in
// pairs. So results do not depend on the number of threads.
//
//  columns   neighbouring results have neighbouring elements: a group has up to 4 KiB of results, side by side, and a
//            piece whole rows of the group; few columns are folded as more of them, several rows side by side
//  rows      a group has one result, whose neighbouring elements are folded in 32 lanes
//  segments  rows without gaps, neither in the input nor in the output, are equal segments
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/segments.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/host/core/pairwise.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/core/vectors.hpp"
#include "warpfold/host/segmented_reduce/segmented_reduce.hpp"

namespace warpfold::detail {

inline constexpr std::uint64_t axis_columns = 64;                   // of a group of a scan
inline constexpr std::uint64_t axis_piece = std::uint64_t{1} << 16; // elements of a piece, about
inline constexpr std::uint64_t axis_long_piece = 16 * axis_piece;   // of one that leaves results of many columns
inline constexpr std::uint64_t axis_pieces = 64;                    // of an array, from which on they are longer
inline constexpr std::uint64_t axis_side_by_side = 128;             // elements of rows that are folded as one, about

// The most results of a group: its rows are long enough to be prefetched, and its totals fit the first cache.
template <class A>
inline constexpr std::uint64_t axis_group = std::max<std::uint64_t>(axis_columns, 4096 / sizeof(A));

// Calls run(index, count) for runs of elements [begin, end) of a result: neighbours of the innermost reduced dimension.
template <class Run>
void for_runs(const plan_dimensions& reduced, std::uint64_t begin, std::uint64_t end, const Run& run) {
    if (reduced.count <= 1) {
        run(begin, end - begin);
        return;
    }
    const std::uint64_t inner = reduced.at[0].extent;
    while (begin < end) {
        const std::uint64_t count = std::min(end - begin, inner - begin % inner);
        run(begin, count);
        begin += count;
    }
}

template <class A, class T, class Map, class Op>
struct axis_fold {
    static constexpr bool indexed = std::is_invocable_v<const Map&, const T&, std::uint64_t>;

    // Elements [begin, end) of the result whose elements start at `from`.
    [[nodiscard]] A row(const T* from, std::uint64_t begin, std::uint64_t end) const {
        const std::int64_t step = reduced.at[0].in, weight = reduced.at[0].role;
        joined_parts<A, Op> joined(op);
        A total = Op::template identity<A>();
        std::uint64_t in_order = 0; // elements of `total`
        for_runs(reduced, begin, end, [&](std::uint64_t first, std::uint64_t count) {
            const auto place = reduced.of(first);
            const T* const run = from + place.in;
            const auto index = [&](std::uint64_t k) {
                return static_cast<std::uint64_t>(place.role + static_cast<std::int64_t>(k) * weight);
            };
            if constexpr (is_commutative_v<Op>) {
                if constexpr (!indexed) {
                    if (step == 1 && count >= host_lanes) {
                        joined.add(fold_in_lanes_apart<A>(run, 0, count, map, op));
                        return;
                    }
                }
                if (count >= host_lanes) {
                    const auto at = [&](const T& x, std::uint64_t k) -> A {
                        return static_cast<A>(detail::mapped(map, x, index(k)));
                    };
                    joined.add(step == 1 ? fold_in_lanes<A>(run, 0, count, at, op)
                                         : fold_in_lanes<A>(stepped<T>{run, step}, 0, count, at, op));
                    return;
                }
            }
            for (std::uint64_t k = 0; k < count; ++k) {
                const T& x = run[static_cast<std::int64_t>(k) * step];
                total = op(total, static_cast<A>(detail::mapped(map, x, index(k))));
            }
            in_order += count;
            if (in_order >= host_lanes) {
                joined.add(std::exchange(total, Op::template identity<A>()));
                in_order = 0;
            }
        });
        joined.add(total);
        return joined.total();
    }

    // `total`: the same of `width` neighbouring results. `Stride`: 1, or 0 for one known at run time only.
    template <std::int64_t Stride>
    void columns(const T* from, std::int64_t distance, std::uint64_t width, std::uint64_t begin, std::uint64_t end,
                 A* total) const {
        const std::int64_t apart = Stride == 0 ? distance : Stride;
        const std::int64_t step = reduced.at[0].in, weight = reduced.at[0].role;
        joined_rows<A, Op, axis_group<A>> all(total, width);
        for_runs(reduced, begin, end, [&](std::uint64_t first, std::uint64_t count) {
            const auto place = reduced.of(first);
            const T* const run = from + place.in;
            const auto weight_of = static_cast<std::uint64_t>(weight);
            const auto value = [&](const T* at, std::uint64_t c, std::uint64_t which) {
                const T& x = at[static_cast<std::int64_t>(c) * apart];
                return static_cast<A>(detail::mapped(map, x, which));
            };
            // `rows` rows of `elements` from `at` on, added to `to`.
            const auto add_rows = [&](const T* at, std::int64_t next, std::uint64_t rows, std::uint64_t elements,
                                      std::uint64_t which, A* __restrict to) {
                for (; rows >= 4; rows -= 4, at += 4 * next, which += 4 * weight_of) {
                    for (std::uint64_t c = 0; c < elements; ++c) {
                        A one = op(to[c], value(at, c, which));
                        one = op(one, value(at + next, c, which + weight_of));
                        one = op(one, value(at + 2 * next, c, which + 2 * weight_of));
                        to[c] = op(one, value(at + 3 * next, c, which + 3 * weight_of));
                    }
                }
                for (; rows != 0; --rows, at += next, which += weight_of) {
                    for (std::uint64_t c = 0; c < elements; ++c) {
                        to[c] = op(to[c], value(at, c, which));
                    }
                }
            };
            std::uint64_t done = 0;
            if constexpr (Stride == 1 && is_commutative_v<Op> && !indexed) {
                const std::uint64_t together = axis_side_by_side / width;
                if (together > 1 && step == static_cast<std::int64_t>(width) && count >= 4 * together) {
                    A side[axis_side_by_side];
                    const std::uint64_t elements = together * width;
                    joined_rows<A, Op, axis_side_by_side> wide(side, elements);
                    const auto next = static_cast<std::int64_t>(elements);
                    wide.add(count / together, [&](std::uint64_t row, std::uint64_t rows, A* to) {
                        add_rows(run + static_cast<std::int64_t>(row) * next, next, rows, elements, 0, to);
                    });
                    wide.finish();
                    done = count / together * together;
                    all.add(together, [&](std::uint64_t row, std::uint64_t rows, A* to) {
                        for (const A* at = side + row * width; at != side + (row + rows) * width; at += width) {
                            for (std::uint64_t c = 0; c < width; ++c) {
                                to[c] = op(to[c], at[c]);
                            }
                        }
                    });
                }
            }
            all.add(count - done, [&](std::uint64_t row, std::uint64_t rows, A* to) {
                row += done;
                add_rows(run + static_cast<std::int64_t>(row) * step, step, rows, width,
                         static_cast<std::uint64_t>(place.role) + row * weight_of, to);
            });
        });
        all.finish();
    }

    const plan_dimensions& reduced;
    const Map& map;
    const Op& op;
};

inline bool rows_are_segments(const axis_plan& plan) {
    const plan_dimension &row = plan.reduced.at[0], &rows = plan.kept.at[0];
    return plan.reduced.count == 1 && plan.kept.count == 1 && row.in == 1 && rows.role == 1 &&
           rows.in == static_cast<std::int64_t>(row.extent);
}

// Folds rows of `columns` numbers, `width` apart, into the first one: in order, or in pairs if it is a sum that rounds.
template <class A, class Op>
void join_pieces(A* total, std::uint64_t pieces, std::uint64_t columns, std::uint64_t width, const Op& op) {
    const auto join = [&](std::uint64_t to, std::uint64_t from) {
        for (std::uint64_t c = 0; c < columns; ++c) {
            total[to * width + c] = op(total[to * width + c], total[from * width + c]);
        }
    };
    if constexpr (rounded_sum_v<Op, A>) {
        for (std::uint64_t apart = 1; apart < pieces; apart *= 2) {
            for (std::uint64_t p = 0; p + apart < pieces; p += 2 * apart) {
                join(p, p + apart);
            }
        }
    } else {
        for (std::uint64_t p = 1; p < pieces; ++p) {
            join(0, p);
        }
    }
}

template <>
struct axis_engine<host> {
    template <class A, class T, class R, class Map, class Op, class Result>
    static void into(const host& on, const T* in, const axis_plan& plan, R* out, const Map& map, const Op& op,
                     const Result& result, const char* call) {
        using fold_type = axis_fold<A, T, Map, Op>;
        if constexpr (!fold_type::indexed) {
            if (rows_are_segments(plan)) {
                const equal_segments rows{plan.reduced.size};
                segmented_engine<host>::into<A>(on, in + plan.kept.in_begin + plan.reduced.in_begin, rows,
                                                plan.kept.size, map, op, result, out + plan.kept.role_begin, call);
                return;
            }
        }
        const bool by_columns = plan.kept.count != 0 && !plan.by_rows();
        const plan_dimension inner = by_columns ? plan.kept.at[0] : plan_dimension{};
        const std::uint64_t width = std::min(inner.extent, axis_group<A>);
        const std::uint64_t elements =
            by_columns ? std::clamp(plan.kept.size * plan.reduced.size / axis_pieces, axis_piece, axis_long_piece)
                       : axis_piece;
        const std::uint64_t piece = std::max<std::uint64_t>(1, elements / width);
        const std::uint64_t pieces = std::max<std::uint64_t>(1, (plan.reduced.size + piece - 1) / piece);
        const std::uint64_t inner_groups = (inner.extent + width - 1) / width;
        const std::uint64_t groups = plan.kept.size / inner.extent * inner_groups;
        // Short groups are a thread's together.
        const std::uint64_t together =
            std::max<std::uint64_t>(1, axis_piece / (width * std::max<std::uint64_t>(1, plan.reduced.size)));
        const fold_type fold{plan.reduced, map, op};
        const std::unique_ptr<A[]> partial(pieces == 1 ? nullptr : new A[groups * pieces * width]);

        const auto first_of = [&](std::uint64_t group) {
            return by_columns ? group / inner_groups * inner.extent + group % inner_groups * width : group;
        };
        const auto width_of = [&](std::uint64_t group) {
            return by_columns ? std::min(width, inner.extent - group % inner_groups * width) : 1;
        };
        const auto write = [&](std::uint64_t group, const A* total) {
            R* const to = out + plan.kept.of(first_of(group)).role;
            const std::int64_t columns = static_cast<std::int64_t>(width_of(group)), apart = inner.role;
            for (std::int64_t c = 0; c < columns; ++c) {
                detail::write_to(to[c * apart], result(total[c]));
            }
        };
        const auto fold_piece = [&](std::uint64_t group, std::uint64_t p, A* total) {
            const T* const from = in + plan.kept.of(first_of(group)).in;
            const std::uint64_t begin = p * piece, end = std::min(plan.reduced.size, begin + piece);
            if (!by_columns) {
                total[0] = fold.row(from, begin, end);
                return;
            }
            if (inner.in == 1) {
                fold.template columns<1>(from, 1, width_of(group), begin, end, total);
            } else {
                fold.template columns<0>(from, inner.in, width_of(group), begin, end, total);
            }
        };
        if (pieces == 1) {
            const auto fold_groups = [&](std::uint64_t unit) {
                with_widest_vectors([&] {
                    A total[axis_group<A>];
                    for (std::uint64_t g = unit * together; g < std::min(groups, (unit + 1) * together); ++g) {
                        fold_piece(g, 0, total);
                        write(g, total);
                    }
                });
            };
            parallel_for(on.threads, (groups + together - 1) / together, fold_groups, pieces_together);
            return;
        }
        const auto fold_unit = [&](std::uint64_t unit) {
            with_widest_vectors([&] { fold_piece(unit / pieces, unit % pieces, &partial[unit * width]); });
        };
        parallel_for(on.threads, groups * pieces, fold_unit, pieces_together);
        for (std::uint64_t g = 0; g < groups; ++g) {
            A* const total = &partial[g * pieces * width];
            join_pieces(total, pieces, width_of(g), width, op);
            write(g, total);
        }
    }
};

} // namespace warpfold::detail
