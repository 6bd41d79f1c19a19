// SPDX-License-Identifier: MIT
// Reproducible segmented reductions over ranks: a segment's value is that of its last element in the reproducible scan of the
// whole array, so its bits depend on where it is in that array. The scan's results are kept in the target's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/scan_options.hpp"
#include "warpfold/ranks/reproducible/calls.hpp"
#include "warpfold/ranks/segmented_reduce.hpp"

namespace warpfold::detail {

struct later {
    static constexpr bool commutative = false;

    template <class A>
    WARPFOLD_HD constexpr A operator()(const A&, const A& b) const {
        return b;
    }
};
// The last one of some elements.
using later_operation = optional_operation<later>;
template <class A>
struct present_value_map {
    WARPFOLD_HD constexpr optional_value<A> operator()(const A& x) const { return {x, true}; }
};
// The result of a segment, of its last element's.
template <class Op, class Result>
struct result_of_last {
    WARPFOLD_CALLS_ANY
    template <class A>
    WARPFOLD_HD constexpr auto operator()(const optional_value<A>& last) const {
        return detail::with_one_nan(result(last.has_value ? last.value : Op::template identity<A>()));
    }

    Result result;
};

template <class On, class Comm>
struct segmented_engine<reproducible_ranks<On, Comm>> {
    using target = reproducible_ranks<On, Comm>;

    template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
    static void into(const target& on, const In& in, const Offsets& offsets, std::uint64_t segments, const Map& map,
                     const Op& op, const Result& result, const Out& out, const char* call) {
        const auto& ranks = on.ranks;
        if constexpr (is_located_v<Result>) { // is so by itself
            segmented_engine<over_ranks<On, Comm>>::template into<A>(ranks, in, offsets, segments, map, op, result, out,
                                                                     call);
        } else {
            call_scope<target>::run(on, call, [&] {
                const segment_bounds_of_part part(ranks, offsets, segments, out, call);
                auto values = rank_target<On>::template allocate<A>(ranks.on, part.n);
                using Begins = warpfold::offsets<Offsets>;
                scan_engine<target>::run(
                    on, in, part.n, values.data(), map, op,
                    scan_options<A, no_initial, Begins, true, false>{{}, Begins(offsets, segments)}, call);
                // A frame of its own: the others wait for the borders.
                call_scope<target>::run(on, call, [&] {
                    const auto at = [&](std::uint64_t end, bool there) {
                        optional_value<A> last{A{}, there};
                        if (there) {
                            rank_target<On>::read(ranks.on, &last.value,
                                                  static_cast<const A*>(values.data() + (end - 1)), 1);
                        }
                        return last;
                    };
                    const auto head = at(part.begin, part.begin != 0);
                    const auto tail = at(part.n, segments != 0 && part.last != part.n);
                    const auto signature =
                        detail::signature_of<element_t<In>, A, Map, Op, Result, reproducible_call>(call, ranks.root);
                    const auto all = detail::gather(ranks, signature, part.n,
                                                    segment_border<optional_value<A>>{head, segments != 0});
                    const result_of_last<Op, Result> final_result{result};
                    if (segments > 1) {
                        segmented_engine<On>::template into<optional_value<A>>(
                            ranks.on, static_cast<const A*>(values.data()), offsets, segments - 1,
                            present_value_map<A>{}, later_operation{}, final_result, out, call);
                    }
                    detail::finish_segments(ranks, all, segments, out, [&](int count, const auto& of) {
                        optional_value<A> last = tail;
                        for (int r = 1; r < count; ++r) {
                            last = later_operation{}(last, of(r));
                        }
                        return final_result(last);
                    });
                });
            });
        }
    }
};

} // namespace warpfold::detail
