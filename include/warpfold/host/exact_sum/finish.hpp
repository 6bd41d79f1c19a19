// SPDX-License-Identifier: MIT
// Results of exact sums and sums of squares on the host (detail/exact/exact_finish.hpp).
#pragma once

#include <cstdint>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_complex.hpp"
#include "warpfold/detail/exact/exact_finish.hpp"
#include "warpfold/detail/exact/long_accumulator.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/exact_sum/bounded.hpp"
#include "warpfold/host/exact_sum/exact_sum.hpp"

namespace warpfold::detail {

template <>
struct exact_finish_engine<host> {
    template <class T, class In, class Finish>
    static typename Finish::result value(const host& on, const In& in, std::uint64_t n, const Finish& finish,
                                         const char* /*call*/) {
        if constexpr (Finish::sums + (Finish::squares ? 1 : 0) == 1) {
            const auto found = [&] {
                if constexpr (Finish::squares) {
                    return bounded_on_host<T>(on, n, detail::finish_of(finish, n), in, in);
                } else {
                    return bounded_on_host<T>(on, n, detail::finish_of(finish, n), in);
                }
            }();
            if (found) {
                return *found;
            }
        }
        using totals = exact_totals<T>;
        std::int64_t sum[Finish::sums != 0 ? Finish::sums * totals::sum_limbs : 1];
        std::int64_t squares[Finish::squares ? totals::square_limbs + totals::more_limbs : 1];
        totals of{sum, squares, 0, 0};
        if constexpr (Finish::sums != 0) {
            for (unsigned part = 0; part < Finish::sums; ++part) {
                long_accumulator<T, 1> total;
                add_on_host<T>(on, n, total, detail::part_of_elements<T, Finish::parts>(in, part));
                of.sum_met |= total.copy_to(sum + part * totals::sum_limbs);
            }
        }
        if constexpr (Finish::squares) {
            long_accumulator<T, 2> total;
            const auto numbers = detail::all_parts<T, Finish::parts>(in);
            add_on_host<T>(on, Finish::parts * n, total, numbers, numbers);
            of.squares_met = total.copy_to(squares);
        }
        return detail::finish_of(finish, n)(of);
    }
    template <class T, class In, class Out, class Finish>
    static void into(const host& on, const In& in, std::uint64_t n, const Out& out, const Finish& finish,
                     const char* call) {
        detail::check_array(out, 1, call);
        *out = value<T>(on, in, n, finish, call);
    }
};

} // namespace warpfold::detail
