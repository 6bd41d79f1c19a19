// SPDX-License-Identifier: MIT
// Reduction on the host's cores. The input is cut into chunks of one fixed size, each folded by one thread in one fixed
// order, and the chunks' values are folded in the order of the chunks: the result is the same for any number of
// threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "warpfold/detail/fold.hpp"
#include "warpfold/host/target.hpp"

namespace warpfold::detail {

inline constexpr std::uint64_t host_chunk = std::uint64_t{1} << 16; // elements
inline constexpr std::uint64_t host_lanes = 32;                     // independent sums, for the compiler to vectorise

template <class A, class In, class Map, class Op>
A fold_in_order(const In& in, std::uint64_t begin, std::uint64_t end, const Map& map, const Op& op) {
    A total = Op::template identity<A>();
    for (std::uint64_t k = begin; k < end; ++k) {
        total = op(total, static_cast<A>(mapped(map, in[k], k)));
    }
    return total;
}

template <class A, class In, class Map, class Op>
A fold_in_lanes(const In& in, std::uint64_t begin, std::uint64_t end, const Map& map, const Op& op) {
    A lane[host_lanes];
    for (A& one : lane) {
        one = Op::template identity<A>();
    }
    std::uint64_t k = begin;
    for (; k + host_lanes <= end; k += host_lanes) {
        for (std::uint64_t j = 0; j < host_lanes; ++j) {
            lane[j] = op(lane[j], static_cast<A>(mapped(map, in[k + j], k + j)));
        }
    }
    for (; k < end; ++k) {
        lane[k % host_lanes] = op(lane[k % host_lanes], static_cast<A>(mapped(map, in[k], k)));
    }
    for (std::uint64_t half = host_lanes / 2; half != 0; half /= 2) {
        for (std::uint64_t j = 0; j < half; ++j) {
            lane[j] = op(lane[j], lane[j + half]);
        }
    }
    return lane[0];
}

template <class A, class In, class Map, class Op>
A fold_on_host(const host& on, const In& in, std::uint64_t n, const Map& map, const Op& op) {
    const std::uint64_t chunks = (n + host_chunk - 1) / host_chunk;
    const std::unique_ptr<A[]> partial(new A[chunks]);
    share_out(on, chunks, [&](std::uint64_t chunk) {
        const std::uint64_t begin = chunk * host_chunk;
        const std::uint64_t end = std::min(n, begin + host_chunk);
        if constexpr (is_commutative_v<Op>) {
            partial[chunk] = fold_in_lanes<A>(in, begin, end, map, op);
        } else {
            partial[chunk] = fold_in_order<A>(in, begin, end, map, op);
        }
    });
    A total = Op::template identity<A>();
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
        total = op(total, partial[chunk]);
    }
    return total;
}

template <>
struct reduce_engine<host> {
    template <class A, class In, class Map, class Op, class Result>
    static auto value(const host& on, const In& in, std::uint64_t n, const Map& map, const Op& op, const Result& result,
                      const char* /*call*/) {
        return result(fold_on_host<A>(on, in, n, map, op));
    }
    template <class A, class In, class Map, class Op, class Result, class Out>
    static void into(const host& on, const In& in, std::uint64_t n, const Map& map, const Op& op, const Result& result,
                     const Out& out, const char* /*call*/) {
        *out = result(fold_on_host<A>(on, in, n, map, op));
    }
};

} // namespace warpfold::detail
