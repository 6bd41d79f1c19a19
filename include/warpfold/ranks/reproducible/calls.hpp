// SPDX-License-Identifier: MIT
// Reductions and scans over ranks whose results have the same bits for any split, any number of ranks, and on hosts and
// GPUs: all fold in the order of one tree (tree.hpp). Three steps of communication at most: the lengths of the parts, the
// agreement, and the nodes of all ranks where they do not fit the frame of the agreement.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/indexed.hpp"
#include "warpfold/detail/scan_options.hpp"
#include "warpfold/ranks/agreement.hpp"
#include "warpfold/ranks/reduce.hpp"
#include "warpfold/ranks/reproducible/host.hpp"
#include "warpfold/ranks/reproducible/steps.hpp"

namespace warpfold::detail {

struct reproducible_call {}; // in a signature: the call differs from the plain one, and is the same on hosts and GPUs

// Where each rank's part begins in the order of the tree, and the end: ranks + 1 numbers.
template <class V>
std::vector<std::uint64_t> tree_bounds(const gathered<V>& parts, bool reverse) {
    const std::size_t ranks = parts.n.size();
    std::vector<std::uint64_t> bounds(ranks + 1);
    for (std::size_t k = 0; k < ranks; ++k) {
        bounds[k + 1] = bounds[k] + parts.n[reverse ? ranks - 1 - k : k];
    }
    return bounds;
}

// Calls go(node, value, k) for the nodes of all parts in the order of the tree, k: whose part. `mine`: this rank's nodes,
// `me` its place in that order.
template <class On, class Comm, class V, class Go>
void each_node_of_ranks(const over_ranks<On, Comm>& on, const rank_signature& signature, std::uint64_t n,
                        const std::vector<std::uint64_t>& bounds, const std::vector<V>& mine, bool reverse,
                        const Go& go) {
    static_assert(std::is_trivially_copyable_v<V>, "ranks exchange the bytes of values");
    const std::size_t ranks = bounds.size() - 1;
    std::size_t most = 0;
    for (std::size_t k = 0; k < ranks; ++k) {
        most = std::max(most, detail::count_nodes(bounds[k], bounds[k + 1]));
    }
    struct node_bytes {
        unsigned char of[rank_frame::room];
    };
    const bool fits = most * sizeof(V) <= sizeof(node_bytes);
    node_bytes few{};
    if (fits && !mine.empty()) {
        std::memcpy(few.of, mine.data(), mine.size() * sizeof(V));
    }
    const auto frames = detail::gather(on, signature, n, few);
    std::vector<V> nodes(most * ranks), padded(mine);
    padded.resize(most);
    if (!fits) {
        on.comm->all_gather(padded.data(), nodes.data(), most * sizeof(V), signature.call);
    }
    for (std::size_t k = 0; k < ranks; ++k) {
        const std::size_t rank = reverse ? ranks - 1 - k : k;
        V* const of = nodes.data() + rank * most;
        if (fits && most != 0) {
            std::memcpy(static_cast<void*>(of), frames.value[rank].of, most * sizeof(V));
        }
        std::uint64_t at = bounds[k];
        for (std::size_t i = 0; at != bounds[k + 1]; ++i) {
            const tree_node node = detail::node_at(at, bounds[k + 1], 63);
            go(node, of[i], k);
            at += std::uint64_t{1} << node.level;
        }
    }
}

// The nodes of a rank's part, of its pieces.
template <class Step>
std::vector<typename Step::node> nodes_of(const Step& step, const tree_pieces& pieces,
                                          const std::vector<typename Step::node>& values) {
    tree_stack<typename Step::node> stack;
    for (std::uint64_t k = 0; k < pieces.count(); ++k) {
        stack.push(pieces[k], values[k], step);
    }
    std::vector<typename Step::node> nodes;
    for (unsigned k = 0; k < stack.size(); ++k) {
        nodes.push_back(stack.value(k));
    }
    return nodes;
}

template <class On, class Comm>
struct reduce_engine<reproducible_ranks<On, Comm>> {
    using target = reproducible_ranks<On, Comm>;
    using plain = reduce_engine<over_ranks<On, Comm>>;

    template <class A, class In, class N, class Map, class Op, class Result>
    static auto value(const target& on, const In& in, const N& elements, const Map& map, const Op& op,
                      const Result& result, const char* call) {
        static_assert(!is_count_at_v<N>, "over ranks the number of elements is an integer");
        if constexpr (is_located_v<Result>) { // is so by itself
            return plain::template value<A>(on.ranks, in, elements, map, op, result, call);
        } else {
            const std::uint64_t n = detail::checked_count(elements, call).value();
            return call_scope<target>::run(on, call, [&] {
                const auto signature =
                    detail::signature_of<element_t<In>, A, Map, Op, Result, reproducible_call>(call, on.ranks.root);
                const auto parts = detail::gather(on.ranks, signature, n, no_value{});
                // A frame of its own: the others wait for the agreement.
                return call_scope<target>::run(on, call, [&] {
                    if constexpr (std::is_same_v<Op, extremes_operation>) {
                        detail::require_elements(parts.all(), call);
                    }
                    const auto bounds = detail::tree_bounds(parts, false);
                    const auto me = static_cast<std::size_t>(on.ranks.comm->rank());
                    const auto from = detail::map_from<element_t<In>>(map, bounds[me]);
                    const fold_step<A, In, std::remove_cv_t<decltype(from)>, Op> step{in, from, op};
                    using tree = rank_tree<On>;
                    const tree_pieces pieces(bounds[me], bounds[me + 1],
                                             detail::piece_levels(n, tree::template block<A>));
                    const auto mine = detail::nodes_of(step, pieces, tree::fold(on.ranks.on, step, pieces, bounds[me]));
                    tree_stack<A> all;
                    detail::each_node_of_ranks(
                        on.ranks, signature, n, bounds, mine, false,
                        [&](const tree_node& node, const A& value, std::size_t) { all.push(node, value, step); });
                    return detail::with_one_nan(result(all.has_prefix() ? all.prefix() : Op::template identity<A>()));
                });
            });
        }
    }
    template <class A, class In, class N, class Map, class Op, class Result, class Out>
    static void into(const target& on, const In& in, const N& n, const Map& map, const Op& op, const Result& result,
                     const Out& out, const char* call) {
        call_scope<target>::run(on, call, [&] {
            if (on.ranks.has_result()) {
                detail::check_array(out, 1, call);
            }
            const auto got = value<A>(on, in, n, map, op, result, call);
            if (on.ranks.has_result()) {
                rank_target<On>::put(on.ranks.on, out, got);
            }
        });
    }
};

// Calls go(flags): flags[k] tells whether a segment begins at element k of a rank's part of n elements.
template <class On, class Comm, class Go>
void with_flags(const over_ranks<On, Comm>& /*on*/, const no_segments&, std::uint64_t, const Go& go) {
    go(no_flags{});
}
template <class On, class Comm, class Flags, class Go>
void with_flags(const over_ranks<On, Comm>& /*on*/, const heads<Flags>& given, std::uint64_t, const Go& go) {
    go(given.flags);
}
template <class On, class Comm, class Begins, class Go>
void with_flags(const over_ranks<On, Comm>& on, const offsets<Begins>& given, std::uint64_t n, const Go& go) {
    auto flags = rank_target<On>::template allocate<std::uint8_t>(on.on, n);
    rank_tree<On>::set_flags(on.on, flags.data(), given, n);
    go(static_cast<const std::uint8_t*>(flags.data()));
}

template <class On, class Comm>
struct scan_engine<reproducible_ranks<On, Comm>> {
    using target = reproducible_ranks<On, Comm>;
    using tree = rank_tree<On>;

    template <class In, class Out, class Map, class Op, class How>
    static void run(const target& on, const In& in, std::uint64_t n, const Out& out, const Map& map, const Op& op,
                    const How& how, const char* call) {
        using A = typename How::value;
        using T = element_t<In>;
        const auto signature =
            detail::signature_of<T, A, written_t<Out>, Map, Op, How, reproducible_call>(call, on.ranks.root);
        const auto parts = detail::gather(on.ranks, signature, n, no_value{});
        call_scope<target>::run(on, call, [&] {
            const auto bounds = detail::tree_bounds(parts, How::reverse);
            const int rank = on.ranks.comm->rank();
            const std::uint64_t first = parts.before(rank);
            const auto with = [&](const auto& elements, const auto& results, const auto& of, const auto& flags) {
                using Elements = std::remove_cvref_t<decltype(elements)>;
                using Of = std::remove_cvref_t<decltype(of)>;
                const scan_step<A, Elements, std::remove_cvref_t<decltype(results)>, Of, Op, step_options<How>> step{
                    {elements, of, op}, results, {how.first}};
                if constexpr (How::segmented) {
                    using Flags = std::remove_cvref_t<decltype(flags)>;
                    scan_nodes<How::reverse>(
                        on, signature, n, bounds,
                        segmented_step<How::reverse, A, Elements, std::remove_cvref_t<decltype(results)>, Of, Op, Flags,
                                       step_options<How>>{step, flags});
                } else {
                    scan_nodes<How::reverse>(on, signature, n, bounds, step);
                }
            };
            const auto flagged = [&](const auto& flags) {
                if constexpr (How::reverse) {
                    const std::uint64_t last = n == 0 ? 0 : n - 1;
                    const elements_down<In> elements{in, last};
                    const elements_down<Out> results{out, last};
                    const elements_down<std::remove_cvref_t<decltype(flags)>> flags_down{flags, last};
                    if constexpr (takes_index_v<Map, T>) {
                        with(elements, results, shifted_map<Map, true>{map, first + last}, flags_down);
                    } else {
                        with(elements, results, map, flags_down);
                    }
                } else {
                    with(in, out, detail::map_from<T>(map, first), flags);
                }
            };
            detail::with_flags(on.ranks, how.segments, n, flagged);
        });
    }

private:
    template <bool Reverse, class Step>
    static void scan_nodes(const target& on, const rank_signature& signature, std::uint64_t n,
                           const std::vector<std::uint64_t>& bounds, const Step& step) {
        using V = typename Step::node;
        const int rank = on.ranks.comm->rank();
        const auto me = static_cast<std::size_t>(Reverse ? on.ranks.comm->size() - 1 - rank : rank);
        const std::uint64_t first = bounds[me];
        const tree_pieces pieces(first, bounds[me + 1], detail::piece_levels(n, tree::template block<V>));
        const auto values = tree::fold(on.ranks.on, step, pieces, first);
        tree_stack<V> before;
        detail::each_node_of_ranks(on.ranks, signature, n, bounds, detail::nodes_of(step, pieces, values), Reverse,
                                   [&](const tree_node& node, const V& value, std::size_t whose) {
                                       if (whose < me) {
                                           before.push(node, value, step);
                                       }
                                   });
        std::vector<V> prefixes(pieces.count());
        for (std::uint64_t k = 0; k < pieces.count(); ++k) {
            prefixes[k] = before.has_prefix() ? before.prefix() : V{};
            before.push(pieces[k], values[k], step);
        }
        if (n != 0) {
            tree::scan(on.ranks.on, step, pieces, first, prefixes);
        }
    }
};

} // namespace warpfold::detail
