// SPDX-License-Identifier: MIT
// Segmented reduction on the host's cores. Elements and ends of segments, in the order in which one passes them, are
// cut into pieces of one size, whatever the segments' lengths; what a piece leaves open the next ones take on, in
// order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "warpfold/detail/fold.hpp"
#include "warpfold/error.hpp"
#include "warpfold/host/reduce.hpp"
#include "warpfold/host/target.hpp"

namespace warpfold::detail {

// A target's part of segmented_reduce: out[s] = result(op over map(in[k], k) for the k of segment s). `op` has an
// identity.
template <class On>
struct segmented_engine;

// How many segments end before position d, counting elements and ends as one passes them: segment s ends at
// offsets[s + 1] - offsets[0] + s. The answer is in [least, most].
template <class Offsets>
std::uint64_t ends_before(const Offsets& offsets, std::uint64_t d, std::uint64_t least, std::uint64_t most) {
    const auto base = static_cast<std::uint64_t>(offsets[0]);
    while (least < most) {
        const std::uint64_t middle = least + (most - least) / 2;
        if (static_cast<std::uint64_t>(offsets[middle + 1]) - base + middle < d) {
            least = middle + 1;
        } else {
            most = middle;
        }
    }
    return least;
}

template <class A, class In, class Map, class Op>
A fold_segment(const In& in, std::uint64_t begin, std::uint64_t end, const Map& map, const Op& op) {
    return end - begin < 2 * host_lanes ? fold_in_order<A>(in, begin, end, map, op)
                                        : fold_chunk<A>(in, begin, end, map, op);
}

template <>
struct segmented_engine<host> {
    template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
    static void into(const host& on, const In& in, const Offsets& offsets, std::uint64_t segments, const Map& map,
                     const Op& op, const Result& result, const Out& out, const char* call) {
        if (segments == 0) {
            return;
        }
        const auto at = [&](std::uint64_t s) { return static_cast<std::uint64_t>(offsets[s]); };
        const std::uint64_t base = at(0);
        if (at(segments) < base) {
            throw decreasing(call, segments);
        }
        const std::uint64_t total = at(segments) - base + segments;
        const std::uint64_t pieces = (total + host_chunk - 1) / host_chunk;
        struct open_ends {
            A head;                // what the piece has of the first segment that ends in it
            A open;                // and of the one that it leaves open
            std::uint64_t segment; // the first one
            std::uint64_t behind;  // the one that is left open
        };
        const std::unique_ptr<open_ends[]> of_piece(new open_ends[pieces]);
        share_out(on, pieces, [&](std::uint64_t piece) {
            const std::uint64_t begin = piece * host_chunk, end = std::min(total, begin + host_chunk);
            const std::uint64_t first = ends_before(offsets, begin, 0, segments);
            const std::uint64_t behind = end == total ? segments : ends_before(offsets, end, first, segments);
            open_ends& mine = of_piece[piece];
            mine = {Op::template identity<A>(), Op::template identity<A>(), first, behind};
            std::uint64_t k = base + begin - first;
            const std::uint64_t limit = base + (total - segments);
            const auto next = [&](std::uint64_t s) {
                const std::uint64_t from = k;
                k = at(s + 1);
                if (k - from > limit - from) { // also where it is less than `from`
                    throw decreasing(call, s + 1);
                }
                return fold_segment<A>(in, from, k, map, op);
            };
            if (first < behind) {
                mine.head = next(first);
            }
            for (std::uint64_t s = first + 1; s < behind; ++s) {
                out[s] = result(next(s));
            }
            const std::uint64_t stop = base + end - behind;
            if (stop < k) {
                throw decreasing(call, behind);
            }
            mine.open = fold_segment<A>(in, k, stop, map, op);
        });
        A open = Op::template identity<A>();
        for (std::uint64_t piece = 0; piece < pieces; ++piece) {
            const open_ends& one = of_piece[piece];
            if (one.segment < one.behind) {
                out[one.segment] = result(static_cast<A>(op(open, one.head)));
                open = one.open;
            } else {
                open = op(open, one.open);
            }
        }
    }

private:
    static invalid_argument decreasing(const char* call, std::uint64_t s) {
        return invalid_argument(std::string("warpfold: ") + call + ": the offsets decrease at " + std::to_string(s));
    }
};

} // namespace warpfold::detail
