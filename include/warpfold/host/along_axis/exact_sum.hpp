// SPDX-License-Identifier: MIT
// Exact sums along axes on the host. Rows are summed where they are. Columns, and rows with gaps, are copied first, some
// neighbouring columns together, since they share cache lines. Long ones are copied in pieces, which threads share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>

#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_half.hpp"
#include "warpfold/detail/exact/long_accumulator.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/float16.hpp"
#include "warpfold/host/along_axis/along_axis.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/exact_sum/exact_sum.hpp"
#include "warpfold/host/exact_sum/short_sums.hpp"

namespace warpfold::detail {

// Copies of elements of neighbouring columns, each contiguous.
template <class T>
class column_copies {
public:
    static constexpr std::uint64_t columns = 128 / sizeof(T); // at most
    static constexpr std::uint64_t rows = short_sum;          // at most

    // Rows [begin, end) of `count` columns, `apart` from each other, the first at `from`.
    template <class R>
    void take(const R* from, std::int64_t apart, std::uint64_t count, const plan_dimensions& reduced,
              std::uint64_t begin, std::uint64_t end) {
        T* to = copies_.get();
        for_runs(reduced, begin, end, [&](std::uint64_t first, std::uint64_t length) {
            const R* at = from + reduced.of(first).in;
            for (std::uint64_t k = 0; k < length; ++k, ++to, at += reduced.at[0].in) {
                for (std::uint64_t c = 0; c < count; ++c) {
                    to[c * stride] = static_cast<T>(at[static_cast<std::int64_t>(c) * apart]);
                }
            }
        });
    }
    // Zeros behind `length` elements of a column, up to a multiple of exact_lanes, which is returned.
    unsigned fill_up(std::uint64_t column, std::uint64_t length) {
        for (; length % exact_lanes != 0; ++length) {
            copies_[column * stride + length] = T{0};
        }
        return static_cast<unsigned>(length);
    }
    const T* operator[](std::uint64_t column) const { return copies_.get() + column * stride; }

private:
    static constexpr std::uint64_t stride = rows + 64 / sizeof(T); // columns begin in different sets of a cache

    const std::unique_ptr<T[]> copies_{new T[columns * stride]};
};

template <>
struct axis_exact_engine<host> {
    template <class R>
    static void into(const host& on, const R* in, const axis_plan& plan, R* out, const char* /*call*/) {
        if (plan.reduced.size == 0 || (plan.reduced.count == 1 && plan.reduced.at[0].in == 1)) {
            sum_rows(on, in, plan, out);
        } else {
            sum_copies(on, in, plan, out);
        }
    }

private:
    template <class R>
    static void sum_rows(const host& on, const R* in, const axis_plan& plan, R* out) {
        using T = computed_t<R>;
        const std::uint64_t results = plan.kept.size, length = plan.reduced.size;
        const auto sum_one = [&](std::uint64_t which, const auto& sum) {
            const auto at = plan.kept.of(which);
            out[at.role] = sum(length, detail::converted<T>(in + at.in + plan.reduced.in_begin));
        };
        constexpr std::uint64_t few = 8;
        if (results < few && length > short_sum) { // threads share the elements of each
            for (std::uint64_t which = 0; which < results; ++which) {
                sum_one(which, [&](std::uint64_t n, const auto& row) { return exact_on_host<T, R>(on, n, row); });
            }
            return;
        }
        const std::uint64_t together = std::max<std::uint64_t>(16, 4096 / (length + 16));
        parallel_for(on.threads, (results + together - 1) / together, [&](std::uint64_t unit) {
            const exact_sums<T, R> sum;
            for (std::uint64_t k = unit * together; k < std::min(results, (unit + 1) * together); ++k) {
                sum_one(k, sum);
            }
        });
    }

    template <class R>
    static void sum_copies(const host& on, const R* in, const axis_plan& plan, R* out) {
        using T = computed_t<R>;
        using copies_type = column_copies<T>;
        using accumulator = long_accumulator<T, 1>;
        constexpr std::uint64_t most = copies_type::columns, rows = copies_type::rows;
        const bool by_columns = plan.kept.count != 0 && !plan.by_rows();
        const plan_dimension inner = by_columns ? plan.kept.at[0] : plan_dimension{};
        const std::uint64_t length = plan.reduced.size;
        const std::uint64_t inner_groups = (inner.extent + most - 1) / most;
        const std::uint64_t groups = plan.kept.size / inner.extent * inner_groups;
        const auto first_of = [&](std::uint64_t group) {
            return plan.kept.of(group / inner_groups * inner.extent + group % inner_groups * most);
        };
        const auto columns_of = [&](std::uint64_t group) {
            return std::min(most, inner.extent - group % inner_groups * most);
        };
        const auto take = [&](copies_type& copies, std::uint64_t group, std::uint64_t begin, std::uint64_t end) {
            copies.take(in + first_of(group).in, inner.in, columns_of(group), plan.reduced, begin, end);
        };
        const auto write = [&](std::uint64_t group, const auto& result_of) {
            R* to = out + first_of(group).role;
            for (std::uint64_t c = 0; c < columns_of(group); ++c, to += inner.role) {
                *to = result_of(c);
            }
        };
        if (length <= rows) {
            const std::uint64_t together = std::max<std::uint64_t>(1, exact_piece / (length * most));
            parallel_for(on.threads, (groups + together - 1) / together, [&](std::uint64_t unit) {
                const exact_sums<T, R> sum;
                copies_type copies;
                for (std::uint64_t g = unit * together; g < std::min(groups, (unit + 1) * together); ++g) {
                    take(copies, g, 0, length);
                    write(g, [&](std::uint64_t c) { return sum(length, copies[c]); });
                }
            });
            return;
        }
        constexpr std::uint64_t piece = 16 * rows;
        const std::uint64_t pieces = (length + piece - 1) / piece;
        const std::unique_ptr<accumulator[]> totals(pieces == 1 ? nullptr : new accumulator[groups * most]);
        std::mutex guard;
        parallel_for(on.threads, groups * pieces, [&](std::uint64_t unit) {
            const std::uint64_t group = unit / pieces, end = std::min(length, (unit % pieces + 1) * piece);
            copies_type copies;
            accumulator mine[most];
            no_bins bins;
            for (std::uint64_t begin = unit % pieces * piece; begin < end; begin += rows) {
                const std::uint64_t count = std::min(rows, end - begin);
                take(copies, group, begin, begin + count);
                for (std::uint64_t c = 0; c < columns_of(group); ++c) {
                    add_numbers(mine[c], bins, copies.fill_up(c, count), copies[c]);
                }
            }
            if (pieces == 1) {
                write(group, [&](std::uint64_t c) { return mine[c].template value<R>(); });
                return;
            }
            const std::lock_guard lock(guard);
            for (std::uint64_t c = 0; c < columns_of(group); ++c) {
                totals[group * most + c].add(mine[c]);
            }
        });
        for (std::uint64_t g = 0; pieces != 1 && g < groups; ++g) {
            write(g, [&](std::uint64_t c) { return totals[g * most + c].template value<R>(); });
        }
    }
};

} // namespace warpfold::detail
