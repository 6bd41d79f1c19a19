// SPDX-License-Identifier: MIT
// Scans along an axis on the host. Rows are divided into groups of up to 64 neighbours, side by side, and into pieces of
// a fixed size along the axis. If there are several pieces, their totals come first: then a thread scans one piece of
// one group from the total of those before it. So results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/detail/axes/axis_scan.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/along_axis/along_axis.hpp"
#include "warpfold/host/core/pairwise.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/scan/vectors.hpp"

namespace warpfold::detail {

template <>
struct axis_scan_engine<host> {
    template <bool Inclusive, class A, class T, class R, class Op, class Initial>
    static void run(const host& on, const T* in, const axis_plan& plan, R* out, const Op& op, const Initial& initial,
                    const char* /*call*/) {
        with_scan_identity<A>(op, initial, [&](const auto& by, const auto& map, const auto& first, const auto& result) {
            scan<Inclusive>(on, in, plan, out, by, map, first, result);
        });
    }

private:
    template <bool Inclusive, class A, class T, class R, class Op, class Map, class Result>
    static void scan(const host& on, const T* in, const axis_plan& plan, R* out, const Op& op, const Map& map,
                     const A& first, const Result& result) {
        const bool by_columns = plan.kept.count != 0 && !plan.by_rows();
        const plan_dimension inner = by_columns ? plan.kept.at[0] : plan_dimension{}, axis = plan.reduced.at[0];
        const std::uint64_t length = plan.reduced.size;
        const std::uint64_t inner_groups = (inner.extent + axis_columns - 1) / axis_columns;
        const std::uint64_t groups = plan.kept.size / inner.extent * inner_groups;
        const std::uint64_t width = std::min(inner.extent, axis_columns);
        const std::uint64_t piece = std::max<std::uint64_t>(1, axis_piece / width);
        const std::uint64_t pieces = (length + piece - 1) / piece;
        const std::uint64_t together = std::max<std::uint64_t>(1, axis_piece / (width * length));

        // Calls step(element, its place in the output, total of its column) along piece p of a group.
        const auto walk = [&](std::uint64_t group, std::uint64_t p, auto* totals, const auto& step) {
            using total_type = std::remove_pointer_t<decltype(totals)>;
            const std::uint64_t column = group % inner_groups * axis_columns;
            const auto begin = plan.kept.of(group / inner_groups * inner.extent + column);
            const auto columns = static_cast<std::int64_t>(std::min(axis_columns, inner.extent - column));
            const auto place = static_cast<std::int64_t>(p * piece);
            const T* from = in + begin.in + plan.reduced.in_begin + place * axis.in;
            R* to = out + begin.role + place * axis.role;
            const std::uint64_t count = std::min(length - p * piece, piece);
            if (columns == 1) { // the total stays in a register
                total_type one = totals[0];
                for (std::uint64_t k = 0; k < count; ++k, from += axis.in, to += axis.role) {
                    step(*from, to, one);
                }
                totals[0] = one;
                return;
            }
            total_type total[axis_columns]; // not beside another thread's
            std::copy_n(totals, columns, total);
            for (std::uint64_t k = 0; k < count; ++k, from += axis.in, to += axis.role) {
                for (std::int64_t c = 0; c < columns; ++c) {
                    step(from[c * inner.in], to + c * inner.role, total[c]);
                }
            }
            std::copy_n(total, columns, totals);
        };
        // Of sums that round: see host/scan/rounded_sums.hpp.
        struct running {
            A before, local;
        };
        const auto step = [&](const T& x, R* to, auto& total) {
            if constexpr (rounded_sum_v<Op, A>) {
                const A next = total.local + map(x);
                detail::write_to(*to, result(total.before + (Inclusive ? next : total.local)));
                total.local = next;
            } else {
                const A next = op(total, map(x));
                detail::write_to(*to, result(Inclusive ? next : total));
                total = next;
            }
        };
        const auto start = [](const A& before) {
            if constexpr (rounded_sum_v<Op, A>) {
                return running{before, nothing_to_add<A>};
            } else {
                return before;
            }
        };
        const auto scan_piece = [&](std::uint64_t group, std::uint64_t p, A* totals) {
            if constexpr (rounded_sum_v<Op, A>) {
                running sums[axis_columns];
                std::transform(totals, totals + width, sums, start);
                walk(group, p, sums, step);
            } else {
                walk(group, p, totals, step);
            }
        };
        if (pieces == 1 && width == 1) { // short rows take less time than what walk() does for each
            parallel_for(on.threads, (groups + together - 1) / together, [&](std::uint64_t unit) {
                for (std::uint64_t row = unit * together; row < std::min(groups, (unit + 1) * together); ++row) {
                    const auto begin = plan.kept.of(row);
                    const T* from = in + begin.in + plan.reduced.in_begin;
                    R* to = out + begin.role;
                    auto total = start(first);
                    for (std::uint64_t k = 0; k < length; ++k, from += axis.in, to += axis.role) {
                        step(*from, to, total);
                    }
                }
            });
            return;
        }
        if (pieces == 1) {
            parallel_for(on.threads, (groups + together - 1) / together, [&](std::uint64_t unit) {
                A total[axis_columns];
                for (std::uint64_t g = unit * together; g < std::min(groups, (unit + 1) * together); ++g) {
                    std::fill(total, total + width, first);
                    scan_piece(g, 0, total);
                }
            });
            return;
        }
        const std::unique_ptr<A[]> totals(new A[groups * pieces * width]);
        parallel_for(on.threads, groups * pieces, [&](std::uint64_t unit) {
            A* const total = &totals[unit * width];
            std::fill(total, total + width, static_cast<A>(Op::template identity<A>()));
            walk(unit / pieces, unit % pieces, total, [&](const T& x, R*, A& one) { one = op(one, map(x)); });
        });
        for (std::uint64_t g = 0; g < groups; ++g) {
            for (std::uint64_t c = 0; c < width; ++c) {
                A before = first;
                for (std::uint64_t p = 0; p < pieces; ++p) {
                    A& total = totals[(g * pieces + p) * width + c];
                    const A next = op(before, total);
                    total = before;
                    before = next;
                }
            }
        }
        parallel_for(on.threads, groups * pieces,
                     [&](std::uint64_t unit) { scan_piece(unit / pieces, unit % pieces, &totals[unit * width]); });
    }
};

} // namespace warpfold::detail
