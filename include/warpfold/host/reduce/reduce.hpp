// SPDX-License-Identifier: MIT
// Reduction on the host. The input is divided into chunks of a fixed size, each folded by one thread in a fixed order;
// the values are folded in the order of the chunks, floating-point sums in pairs (pairwise.hpp). So the result does not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/host/core/pairwise.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/core/vectors.hpp"
#include "warpfold/host/reduce/extremes.hpp"

namespace warpfold::detail {

inline constexpr std::uint64_t host_chunk = std::uint64_t{1} << 16; // elements

template <class A, class In, class Map, class Op>
A fold_in_order(const In& in, std::uint64_t begin, std::uint64_t end, const Map& map, const Op& op) {
    A total = Op::template identity<A>();
    for (std::uint64_t k = begin; k < end; ++k) {
        total = op(total, static_cast<A>(detail::mapped(map, in[k], k)));
    }
    return total;
}

// The value of chunk [begin, end). For arg_min and arg_max only the key is found; the index is `begin`.
template <class A, class In, class Map, class Op>
A fold_chunk(const In& in, std::uint64_t begin, std::uint64_t end, const Map& map, const Op& op) {
    if constexpr (chooses_number_v<Op, A>) {
        return with_widest_vectors([&] { return best_in_lanes<Op::smallest, A>(in, begin, end); });
    } else if constexpr (std::is_same_v<Op, extremes_operation>) {
        return with_widest_vectors([&] { return extremes_in_lanes<A>(in, begin, end); });
    } else if constexpr (is_commutative_v<Op>) {
        return fold_in_lanes_apart<A>(in, begin, end, map, op);
    } else {
        return fold_in_order<A>(in, begin, end, map, op);
    }
}

// `joined`: the values of earlier chunks.
template <class A, class In, class Map, class Op>
A fold_on_host(const host& on, const In& in, std::uint64_t n, const Map& map, const Op& op,
               joined_parts<A, Op>& joined) {
    const std::uint64_t chunks = (n + host_chunk - 1) / host_chunk;
    const std::unique_ptr<A[]> partial(new A[chunks]);
    const auto end_of = [n](std::uint64_t begin) { return std::min(n, begin + host_chunk); };
    const auto fold = [&](std::uint64_t chunk) {
        const std::uint64_t begin = chunk * host_chunk;
        partial[chunk] = fold_chunk<A>(in, begin, end_of(begin), map, op);
    };
    parallel_for(on.threads, chunks, fold, pieces_together);
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
        joined.add(partial[chunk]);
    }
    A total = joined.total();
    if constexpr (chooses_number_v<Op, A>) {
        total.index = place_of<Op::smallest>(total.key, in, total.index, end_of(total.index));
    }
    return total;
}
template <class A, class In, class Map, class Op>
A fold_on_host(const host& on, const In& in, std::uint64_t n, const Map& map, const Op& op) {
    joined_parts<A, Op> joined(op);
    return fold_on_host<A>(on, in, n, map, op, joined);
}

template <>
struct reduce_engine<host> {
    template <class A, class In, class N, class Map, class Op, class Result>
    static auto value(const host& on, const In& in, const N& elements, const Map& map, const Op& op,
                      const Result& result, const char* call) {
        const std::uint64_t n = detail::checked_count(elements, call).value();
        detail::check_array(in, n, call);
        return result(fold_on_host<A>(on, in, n, map, op));
    }
    template <class A, class In, class N, class Map, class Op, class Result, class Out>
    static void into(const host& on, const In& in, const N& elements, const Map& map, const Op& op,
                     const Result& result, const Out& out, const char* call) {
        const std::uint64_t n = detail::checked_count(elements, call).value();
        detail::check_array(in, n, call);
        detail::check_array(out, 1, call);
        detail::write_to(*out, result(fold_on_host<A>(on, in, n, map, op)));
    }
};

} // namespace warpfold::detail
