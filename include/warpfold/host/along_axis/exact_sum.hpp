// SPDX-License-Identifier: MIT
// Exact sums along axes on the host: each result has a long accumulator. Threads share the results or, if there are few,
// the elements of each.
#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/detail/axes/axis_plan.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/exact_half.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/float16.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/exact_sum/exact_sum.hpp"

namespace warpfold::detail {

// Elements of one result, as an array.
template <class T>
struct result_elements {
    const T& operator[](std::uint64_t k) const { return from[reduced.of(k).in]; }

    const T* from;
    const plan_dimensions& reduced;
};

template <>
struct axis_exact_engine<host> {
    template <class R>
    static void into(const host& on, const R* in, const axis_plan& plan, R* out, const char* /*call*/) {
        using T = computed_t<R>;
        constexpr std::uint64_t few = 8; // results
        const bool contiguous = plan.reduced.count == 1 && plan.reduced.at[0].in == 1;
        const auto sum_one = [&](const host& by, std::uint64_t which) {
            const auto at = plan.kept.of(which);
            const R* const from = in + at.in;
            const auto sum = [&](const auto& elements) {
                return exact_on_host<T, R>(by, plan.reduced.size, detail::converted<T>(elements));
            };
            out[at.role] = contiguous ? sum(from + plan.reduced.in_begin) : sum(result_elements<R>{from, plan.reduced});
        };
        if (plan.kept.size < few) {
            for (std::uint64_t which = 0; which < plan.kept.size; ++which) {
                sum_one(on, which);
            }
            return;
        }
        constexpr std::uint64_t together = 16; // results
        parallel_for(on.threads, (plan.kept.size + together - 1) / together, [&](std::uint64_t unit) {
            for (std::uint64_t k = unit * together; k < std::min(plan.kept.size, (unit + 1) * together); ++k) {
                sum_one(host{1}, k);
            }
        });
    }
};

} // namespace warpfold::detail
