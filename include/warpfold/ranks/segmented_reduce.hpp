// SPDX-License-Identifier: MIT
// Segmented reductions over ranks. A rank gives the segments that begin in its part: elements before its first offset
// continue the last segment of an earlier rank, and its last offset is the number of elements of its part. A rank without
// a beginning gives 0 segments and that one offset. It gets the results of the segments that it gives.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "warpfold/detail/arg.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/indexed.hpp"
#include "warpfold/detail/segments.hpp"
#include "warpfold/ranks/agreement.hpp"
#include "warpfold/ranks/reduce.hpp"

namespace warpfold::detail {

// The result of segmented_arg_min with the index in the whole array.
template <class Result>
struct shifted_located {
    template <class C>
    WARPFOLD_HD constexpr auto operator()(const C& best) const {
        auto found = result(best);
        found.index = found.index == no_element ? no_element : found.index + first;
        return found;
    }

    Result result;
    std::uint64_t first;
};

// The elements that continue an earlier rank's segment, and whether a segment begins behind them.
template <class V>
struct segment_border {
    V value;
    bool begins;
};

// Where a part's segments are: elements before `begin` continue an earlier rank's segment, the last one begins at `last`.
// Throws invalid_argument for bad arrays and decreasing offsets.
struct segment_bounds_of_part {
    template <class On, class Comm, class Offsets, class Out>
    segment_bounds_of_part(const over_ranks<On, Comm>& on, const Offsets& offsets, std::uint64_t segments,
                           const Out& out, const char* call) {
        detail::check_array(offsets, segments + 1, call);
        detail::check_array(out, segments, call);
        const auto bound = [&](std::uint64_t s) {
            if constexpr (std::is_pointer_v<Offsets>) {
                using I = element_t<Offsets>;
                I value{};
                rank_target<On>::read(on.on, &value, static_cast<const I*>(offsets + s), 1);
                return static_cast<std::uint64_t>(value);
            } else {
                return static_cast<std::uint64_t>(offsets[s]);
            }
        };
        begin = bound(0);
        n = bound(segments);
        last = segments == 0 ? n : bound(segments - 1);
        if (begin > n || last > n) {
            throw invalid_argument(std::string("warpfold: ") + call + ": the offsets decrease at " +
                                   std::to_string(segments));
        }
    }

    std::uint64_t begin, last, n;
};

// The last segment's result, of its own elements and of those of the ranks behind up to the next beginning:
// value(1 + ranks behind, of), of(1) is that of the next rank.
template <class On, class Comm, class V, class Out, class Value>
void finish_segments(const over_ranks<On, Comm>& on, const gathered<segment_border<V>>& all, std::uint64_t segments,
                     const Out& out, const Value& value) {
    if (segments == 0) {
        return;
    }
    const int me = on.comm->rank(), ranks = on.comm->size();
    int end = me + 1;
    while (end < ranks && !all.value[static_cast<std::size_t>(end)].begins) {
        ++end;
    }
    end = end < ranks ? end + 1 : ranks;
    const auto first = all.value.begin() + me;
    const auto got = value(end - me, [&](int r) -> const V& { return first[r].value; });
    if constexpr (std::is_pointer_v<Out>) {
        rank_target<On>::put(on.on, out + (segments - 1), got);
    } else {
        out[segments - 1] = got;
    }
}

// Offsets and values pass through the host's memory.
template <class On, class Comm>
struct staged_segments {
    using target = over_ranks<On, Comm>;

    template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
    static void into(const target& on, const In& in, const Offsets& offsets, std::uint64_t segments, const Map& map,
                     const Op& op, const Result& result, const Out& out, const char* call) {
        call_scope<target>::run(on, call, [&] {
            const segment_bounds_of_part bounds(on, offsets, segments, out, call);
            const std::uint64_t begin = bounds.begin, last = bounds.last, n = bounds.n;
            const auto signature = detail::signature_of<element_t<In>, A, Map, Op, Result>(call, on.root);
            const auto local = [&](const auto& of, const auto& as) {
                if (segments > 1) {
                    segmented_engine<On>::template into<A>(on.on, in, offsets, segments - 1, of, op, as, out, call);
                }
            };
            const auto fold = [&](std::uint64_t from, std::uint64_t to, const auto& of, const auto& as) {
                return reduce_engine<On>::template value<A>(on.on, detail::from_element(in, from), to - from, of, op,
                                                            as, call);
            };
            if constexpr (is_located_v<Result>) {
                using T = element_t<In>;
                const std::uint64_t first = detail::first_index(on, signature, n);
                call_scope<target>::run(on, call, [&] {
                    const auto part = [&](std::uint64_t from, std::uint64_t to) {
                        const auto here = detail::from_element(in, from);
                        const located_or_none<std::remove_cv_t<decltype(here)>> found{{here}};
                        return fold(from, to, map,
                                    shifted_located<std::remove_cv_t<decltype(found)>>{found, first + from});
                    };
                    const auto tail = part(last, n);
                    const auto all =
                        detail::gather(on, signature, n, segment_border<located<T>>{part(0, begin), segments != 0});
                    local(map, shifted_located<Result>{result, first});
                    detail::finish_segments(on, all, segments, out, [&](int ranks, const auto& of) {
                        return detail::best_of_ranks<T>(
                            ranks, [&](int r) { return r == 0 ? tail : of(r); }, [](int) { return std::uint64_t{0}; },
                            map, op);
                    });
                });
            } else {
                const auto with = [&](const auto& make) {
                    const A tail = fold(last, n, make(last), identity_result{});
                    const A head = fold(0, begin, make(0), identity_result{});
                    const auto all = detail::gather(on, signature, n, segment_border<A>{head, segments != 0});
                    local(make(0), result);
                    detail::finish_segments(on, all, segments, out, [&](int ranks, const auto& of) {
                        A total = tail;
                        for (int r = 1; r < ranks; ++r) {
                            total = op(total, of(r));
                        }
                        return result(total);
                    });
                };
                if constexpr (takes_index_v<Map, element_t<In>>) {
                    const std::uint64_t first = detail::first_index(on, signature, n);
                    call_scope<target>::run(on, call, [&] {
                        with([&](std::uint64_t from) { return shifted_map<Map>{map, first + from}; });
                    });
                } else {
                    with([&](std::uint64_t) -> const Map& { return map; });
                }
            }
        });
    }
};

template <class On, class Comm>
struct segmented_engine<over_ranks<On, Comm>> : staged_segments<On, Comm> {};

} // namespace warpfold::detail
