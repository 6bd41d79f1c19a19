// SPDX-License-Identifier: MIT
// Scans of two to four long columns that are neighbours without gaps: one scan whose elements are the rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/detail/axes/axis_scan.hpp"
#include "warpfold/gpu/core/callable_checks.cuh"
#include "warpfold/gpu/scan/scan.cuh"

namespace warpfold::detail {

template <class X, unsigned Columns>
struct alignas(Columns == 3 ? alignof(X) : Columns * sizeof(X)) columns_of_row {
    X of[Columns];

    template <class Y>
    WARPFOLD_HD explicit operator columns_of_row<Y, Columns>() const {
        columns_of_row<Y, Columns> converted;
        for (unsigned c = 0; c < Columns; ++c) {
            converted.of[c] = static_cast<Y>(of[c]);
        }
        return converted;
    }
};

template <class Op, class A>
struct operation_by_columns {
    static constexpr bool commutative = is_commutative_v<Op>;

    template <class Row>
    WARPFOLD_HD static constexpr Row identity() {
        return all<Row>(Op::template identity<A>());
    }
    template <class Row>
    WARPFOLD_HD static constexpr Row all(const A& value) {
        Row row{};
        for (A& one : row.of) {
            one = value;
        }
        return row;
    }
    WARPFOLD_CALLS_ANY
    template <unsigned Columns>
    WARPFOLD_HD columns_of_row<A, Columns> operator()(const columns_of_row<A, Columns>& a,
                                                      const columns_of_row<A, Columns>& b) const {
        columns_of_row<A, Columns> row;
        for (unsigned c = 0; c < Columns; ++c) {
            row.of[c] = static_cast<A>(op(a.of[c], b.of[c]));
        }
        return row;
    }

    Op op;
};

template <class Op, class A>
struct user_callable<operation_by_columns<Op, A>> : user_callable<Op> {};
template <class A, unsigned Columns>
struct present_value<columns_of_row<A, Columns>> {
    using type = A;
};

template <class T, class R, class A>
inline constexpr unsigned most_columns_of_row = 16 / std::max({sizeof(T), sizeof(R), sizeof(A)});
// Fewer bytes are left to one launch of scan_lanes_kernel.
inline constexpr std::uint64_t few_columns_min_bytes = std::uint64_t{64} << 10;

// Whether it was done: elsewhere the layout, types or operation are other ones.
template <bool Inclusive, class A, unsigned Columns, class On, class T, class R, class Op, class Initial>
bool scan_few_columns(const On& on, const T* in, const axis_plan& plan, R* out, const Op& op, const Initial& initial,
                      const char* call) {
    if constexpr (std::is_arithmetic_v<T> && std::is_arithmetic_v<R> && std::is_arithmetic_v<A> &&
                  has_identity<Op, A> && Columns <= most_columns_of_row<T, R, A>) {
        const plan_dimension &column = plan.kept.at[0], &row = plan.reduced.at[0];
        if (plan.kept.count == 1 && column.extent == Columns) {
            using From = columns_of_row<T, Columns>;
            using To = columns_of_row<R, Columns>;
            using Row = columns_of_row<A, Columns>;
            using By = operation_by_columns<Op, A>;
            const T* const first = in + plan.kept.in_begin + plan.reduced.in_begin;
            R* const to = out + plan.kept.role_begin;
            const auto aligned = [](const auto* at, std::size_t to_bytes) {
                return reinterpret_cast<std::uintptr_t>(at) % to_bytes == 0;
            };
            if (column.in == 1 && column.role == 1 && row.in == Columns && row.role == Columns &&
                aligned(first, alignof(From)) && aligned(to, alignof(To)) &&
                row.extent * sizeof(From) >= few_columns_min_bytes) {
                const auto scan = [&](const auto& options) {
                    scan_engine<On>::run(on, reinterpret_cast<const From*>(first), row.extent,
                                         reinterpret_cast<To*>(to), identity_map{}, By{op}, options, call);
                };
                if constexpr (!std::is_same_v<Initial, no_initial>) {
                    scan(scan_options<Row, Row, no_segments, Inclusive, false>{
                        By::template all<Row>(static_cast<A>(initial)), {}});
                } else if constexpr (Inclusive) {
                    scan(scan_options<Row, Initial, no_segments, true, false>{initial, {}});
                } else {
                    scan(scan_options<Row, Row, no_segments, false, false>{By::template identity<Row>(), {}});
                }
                return true;
            }
        }
        return scan_few_columns<Inclusive, A, Columns + 1>(on, in, plan, out, op, initial, call);
    } else {
        return false;
    }
}

// Bytes of a workspace that is enough for such scans of up to n elements.
template <class T, class R, class A, unsigned Columns = 2, class Policy>
std::size_t few_columns_workspace_bytes(const Policy& policy, std::uint64_t n) {
    if constexpr (std::is_arithmetic_v<T> && std::is_arithmetic_v<R> && std::is_arithmetic_v<A> &&
                  Columns <= most_columns_of_row<T, R, A>) {
        return std::max(
            scan_workspace_bytes<columns_of_row<T, Columns>, columns_of_row<R, Columns>, columns_of_row<A, Columns>>(
                policy, n / Columns),
            few_columns_workspace_bytes<T, R, A, Columns + 1>(policy, n));
    } else {
        return 0;
    }
}

} // namespace warpfold::detail
