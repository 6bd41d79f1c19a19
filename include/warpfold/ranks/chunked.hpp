// SPDX-License-Identifier: MIT
// Calls of chunked.hpp over ranks: the part of each rank passes through its target in chunks; then its value is gathered as
// that of an array is.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "warpfold/detail/chunked/fold.hpp"
#include "warpfold/detail/chunked/plan.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/scan_options.hpp"
#include "warpfold/ranks/agreement.hpp"
#include "warpfold/ranks/exact_sum.hpp"
#include "warpfold/ranks/sum_in_order.hpp"

namespace warpfold::detail {

// `Op` on the elements from the last to the first.
template <class Op>
struct backwards_operation {
    static constexpr bool commutative = false;

    WARPFOLD_CALLS_ANY
    template <class A>
    WARPFOLD_HD constexpr A operator()(const A& a, const A& b) const {
        return static_cast<A>(op(b, a));
    }

    Op op;
};
template <class Op>
struct user_callable<backwards_operation<Op>> : user_callable<Op> {};

// A part of a file that other ranks write, too: it is not cut behind the part's results.
template <class Sink>
struct inner_sink {
    using element = typename Sink::element;

    void write(std::uint64_t first, const element* from, std::uint64_t count) const { sink.write(first, from, count); }

    Sink& sink;
};

template <class On, class Comm>
struct chunked_engine<over_ranks<On, Comm>> {
    using target = over_ranks<On, Comm>;

    template <class Source, class Fold>
    static typename Fold::value fold(const target& on, Source& source, const Fold& fold, const chunked_options& options,
                                     std::uint64_t& n, const char* call) {
        return call_scope<target>::run(on, call, [&] {
            using T = typename Source::element;
            using V = typename Fold::value;
            const auto signature = detail::signature_of<T, V, Fold>(call, on.root);
            Fold part = fold;
            part.initial = nullptr;
            if constexpr (Fold::template indexed_by<T>) {
                static_assert(random_access_source<Source>,
                              "over ranks a map gets an index only where the source knows its size");
                part.before = detail::first_index(on, signature, source.size());
            }
            std::uint64_t mine = 0;
            // A frame of its own: the others may have gathered the number of elements already.
            const V value = call_scope<target>::run(
                on, call, [&] { return chunked_engine<On>::fold(on.on, source, part, options, mine, call); });
            const auto all = detail::gather(on, signature, mine, value);
            n = all.all();
            if (n == 0) {
                return fold.initial == nullptr ? value : *fold.initial;
            }
            V total{};
            bool fresh = fold.initial == nullptr;
            if (!fresh) {
                total = *fold.initial;
            }
            for (std::size_t r = 0; r < all.n.size(); ++r) {
                if (all.n[r] != 0) {
                    V one = all.value[r];
                    if constexpr (Fold::locates) {
                        one.index += all.before(static_cast<int>(r));
                    }
                    total = fresh ? one : static_cast<V>(fold.more(total, one));
                    fresh = false;
                }
            }
            return total;
        });
    }

    template <class Source, class Bins>
    static std::vector<std::uint64_t> count(const target& on, Source& source, const Bins& bins,
                                            const chunked_options& options, const char* call) {
        return call_scope<target>::run(on, call, [&] {
            using T = typename Source::element;
            auto counts = chunked_engine<On>::count(on.on, source, bins, options, call);
            detail::gather(on, detail::signature_of<T, Bins>(call, on.root, bins.count(), "bins"), 0, no_value{});
            detail::add_over_ranks(on, counts.data(), counts.size(), call);
            if (!on.has_result()) {
                counts.clear();
            }
            return counts;
        });
    }

    template <class Source>
    static long_accumulator<typename Source::element, 1> exact(const target& on, Source& source,
                                                               const chunked_options& options, const char* call) {
        return call_scope<target>::run(on, call, [&] {
            return detail::total_of_ranks(on, chunked_engine<On>::exact(on.on, source, options, call), 0, call);
        });
    }

    template <bool Inclusive, bool Reverse, class A, class Source, class Sink, class Map, class Op, class Initial>
    static void scan(const target& on, Source& source, Sink& sink, const Map& map, const Op& op, const Initial& initial,
                     const chunked_options& options, const char* call) {
        using T = typename Source::element;
        const int rank = on.comm->rank(), last = on.comm->size() - 1;
        if (last == 0) {
            chunked_engine<On>::template scan<Inclusive, Reverse, A>(on.on, source, sink, map, op, initial, options,
                                                                     call);
            return;
        }
        static_assert(random_access_source<Source>, "over ranks a scan reads its source twice");
        optional_value<A> mine{};
        if (rank != (Reverse ? 0 : last)) {
            chunked_options quiet = options;
            quiet.progress = {};
            using In_order = std::conditional_t<Reverse && !is_commutative_v<Op>, backwards_operation<Op>, Op>;
            const chunked_optional_fold<A, Map, In_order> part{map, {{op}}, {op}, nullptr};
            std::uint64_t n = 0;
            mine.value = chunked_engine<On>::fold(on.on, source, part, quiet, n, call);
            mine.has_value = n != 0;
        }
        const auto signature =
            detail::signature_of<T, A, Map, Op, Initial>(call, on.root, 0, "", Inclusive * 2 + Reverse);
        const auto all = detail::gather(on, signature, 0, mine);
        optional_value<A> before{};
        if constexpr (!std::is_same_v<Initial, no_initial>) {
            before = {initial, true};
        }
        for (int r = Reverse ? last : 0; r != rank; r += Reverse ? -1 : 1) {
            before = optional_operation<Op>{op}(before, all.value[static_cast<std::size_t>(r)]);
        }
        const auto scan_from = [&](const auto& first) {
            if constexpr (requires { sink.finish(0); }) {
                if (rank != last) {
                    inner_sink<Sink> inner{sink};
                    chunked_engine<On>::template scan<Inclusive, Reverse, A>(on.on, source, inner, map, op, first,
                                                                             options, call);
                    return;
                }
            }
            chunked_engine<On>::template scan<Inclusive, Reverse, A>(on.on, source, sink, map, op, first, options,
                                                                     call);
        };
        if (before.has_value) {
            scan_from(before.value);
        } else if constexpr (Inclusive) {
            scan_from(no_initial{});
        }
    }
};

} // namespace warpfold::detail
