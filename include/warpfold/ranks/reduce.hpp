// SPDX-License-Identifier: MIT
// Reductions over ranks: each rank folds its part, the values are gathered, and every rank folds them in rank order. So
// the order depends on the split only.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/detail/arg.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/extremes.hpp"
#include "warpfold/detail/indexed.hpp"
#include "warpfold/ranks/agreement.hpp"

namespace warpfold::detail {

// True for the results of arg_min and arg_max.
template <class Result>
inline constexpr bool is_located_v = false;
template <class In>
inline constexpr bool is_located_v<located_result<In>> = true;
template <class In>
inline constexpr bool is_located_v<located_or_none<In>> = true;

template <class A, class Op>
A fold_ranks(const gathered<A>& parts, const Op& op) {
    A total = parts.value[0];
    for (std::size_t r = 1; r < parts.value.size(); ++r) {
        total = op(total, parts.value[r]);
    }
    return total;
}

// The values of all parts, `map` with the index in the whole array.
template <class A, class On, class Comm, class In, class Map, class Op>
gathered<A> gather_folds(const over_ranks<On, Comm>& on, const rank_signature& signature, const In& in, std::uint64_t n,
                         const Map& map, const Op& op) {
    const auto gather = [&](const auto& of) {
        return detail::gather(
            on, signature, n,
            reduce_engine<On>::template value<A>(on.on, in, n, of, op, identity_result{}, signature.call));
    };
    if constexpr (takes_index_v<Map, element_t<In>>) {
        const shifted_map<Map> shifted{map, detail::first_index(on, signature, n)};
        return call_scope<over_ranks<On, Comm>>::run(on, signature.call, [&] { return gather(shifted); });
    } else {
        return gather(map);
    }
}

template <class Key>
WARPFOLD_HD constexpr std::uint64_t index_of(const candidate<Key>& of) {
    return of.index;
}
template <class C>
WARPFOLD_HD constexpr std::uint64_t index_of(const optional_value<C>& of) {
    return of.value.index;
}

// The best of what arg_min or arg_max found in each rank's part, with its index in the whole array; of equal ones that of
// the lowest rank. found(r): a located<T> with the index in the part, or no_element; n(r): elements of the part.
WARPFOLD_CALLS_ANY
template <class T, class Found, class Number, class Map, class Op>
WARPFOLD_HD located<T> best_of_ranks(int ranks, const Found& found, const Number& n, const Map& map, const Op& op) {
    using A = std::remove_cvref_t<decltype(map(std::declval<const T&>(), std::uint64_t{}))>;
    located<T> best{T(), no_element};
    A chosen = Op::template identity<A>();
    std::uint64_t first = 0;
    for (int r = 0; r < ranks; ++r) {
        const located<T> here = found(r);
        if (here.index != no_element) {
            const std::uint64_t index = first + here.index;
            const A candidate = map(here.value, index);
            chosen = best.index == no_element ? candidate : op(chosen, candidate);
            if (detail::index_of(chosen) == index) {
                best = {here.value, index};
            }
        }
        first += n(r);
    }
    return best;
}

// Values pass through the host's memory.
template <class On, class Comm>
struct staged_reduce {
    using target = over_ranks<On, Comm>;

    template <class A, class In, class N, class Map, class Op, class Result>
    static auto value(const target& on, const In& in, const N& elements, const Map& map, const Op& op,
                      const Result& result, const char* call) {
        static_assert(!is_count_at_v<N>, "over ranks the number of elements is an integer");
        const std::uint64_t n = detail::checked_count(elements, call).value();
        return call_scope<target>::run(on, call, [&] {
            detail::wait_within_limit(on, call);
            const auto signature = detail::signature_of<element_t<In>, A, Map, Op, Result>(call, on.root);
            if constexpr (is_located_v<Result>) {
                return located_of<Op>(on, signature, in, n, map, op);
            } else {
                const auto parts = detail::gather_folds<A>(on, signature, in, n, map, op);
                if constexpr (std::is_same_v<Op, extremes_operation>) {
                    detail::require_elements(parts.all(), call);
                }
                return result(detail::fold_ranks(parts, op));
            }
        });
    }
    template <class A, class In, class N, class Map, class Op, class Result, class Out>
    static void into(const target& on, const In& in, const N& n, const Map& map, const Op& op, const Result& result,
                     const Out& out, const char* call) {
        call_scope<target>::run(on, call, [&] {
            if (on.has_result()) {
                detail::check_array(out, 1, call);
            }
            const auto got = value<A>(on, in, n, map, op, result, call);
            if (on.has_result()) {
                rank_target<On>::put(on.on, out, got);
            }
        });
    }

private:
    // arg_min and arg_max; `Op` chooses between candidates.
    template <class Op, class In, class Map>
    static auto located_of(const target& on, const rank_signature& signature, const In& in, std::uint64_t n,
                           const Map& map, const Op& op) {
        using T = element_t<In>;
        using A = std::remove_cvref_t<decltype(map(std::declval<const T&>(), std::uint64_t{}))>;
        const auto parts = detail::gather(
            on, signature, n,
            reduce_engine<On>::template value<A>(on.on, in, n, map, op, located_or_none<In>{{in}}, signature.call));
        detail::require_elements(parts.all(), signature.call);
        return detail::best_of_ranks<T>(
            on.comm->size(), [&](int r) { return parts.value[static_cast<std::size_t>(r)]; },
            [&](int r) { return parts.n[static_cast<std::size_t>(r)]; }, map, op);
    }
};

template <class On, class Comm>
struct reduce_engine<over_ranks<On, Comm>> : staged_reduce<On, Comm> {};

} // namespace warpfold::detail
