// SPDX-License-Identifier: MIT
// Segmented reduction on the host. The merge path of elements and ends of segments is cut into pieces of one size,
// whatever the lengths of the segments. What a piece leaves open is added to the next one, in order. Short segments are
// folded side by side, each in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "warpfold/detail/arrays.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/error.hpp"
#include "warpfold/host/core/block_input.hpp"
#include "warpfold/host/core/non_temporal_store.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/reduce/reduce.hpp"
#include "warpfold/host/segmented_reduce/segment_sums.hpp"

namespace warpfold::detail {

// The number of segments that end before position d of the merge path, where segment s ends at offsets[s + 1] -
// offsets[0] + s. The result is in [least, most].
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
    using sums = segment_sums<A, In, Map, Op>;
    if (end - begin <= sums::longest) {
        return sums::fold_one(in, begin, end, map, op);
    }
    A total = fold_chunk<A>(in, begin, end, map, op);
    if constexpr (chooses_number_v<Op, A>) {
        total.index = place_of<Op::smallest>(total.key, in, begin, end);
    }
    return total;
}

// The same, with a guess for segments of similar lengths before the search.
template <class Offsets>
std::uint64_t ends_before_near(const Offsets& offsets, std::uint64_t d, std::uint64_t segments, std::uint64_t total) {
    const auto base = static_cast<std::uint64_t>(offsets[0]);
    const auto ends_before_d = [&](std::uint64_t s) {
        return static_cast<std::uint64_t>(offsets[s + 1]) - base + s < d;
    };
    const auto guess =
        static_cast<std::uint64_t>(static_cast<double>(d) / static_cast<double>(total) * static_cast<double>(segments));
    std::uint64_t least = 0, most = segments;
    if (guess > host_chunk && guess - host_chunk < segments && ends_before_d(guess - host_chunk - 1)) {
        least = guess - host_chunk;
    }
    if (guess + host_chunk < segments && !ends_before_d(guess + host_chunk)) {
        most = guess + host_chunk;
    }
    return ends_before(offsets, d, least, most);
}

// Results for out[first], out[first + 1], ...: plain types are gathered, and written with non-temporal stores if they
// are many.
template <class Out, class R>
class segment_results {
    static constexpr bool gathers = std::is_pointer_v<Out> && std::is_same_v<std::remove_pointer_t<Out>, R> &&
                                    std::is_trivially_copyable_v<R> && std::is_trivially_default_constructible_v<R> &&
                                    sizeof(R) <= 16;

public:
    segment_results(const Out& out, std::uint64_t first, bool non_temporal)
        : out_(out), next_(first), around_cache_(non_temporal) {}

    template <std::uint64_t Count>
    void put(const R (&values)[Count]) {
        if constexpr (gathers) {
            static_assert(Count <= most);
            if (held_ + Count > most) {
                flush();
            }
            std::memcpy(held_values_ + held_, values, sizeof(values));
            held_ += Count;
        } else {
            for (const R& value : values) {
                detail::write_to(out_[next_++], value);
            }
        }
    }
    void flush() {
        if constexpr (gathers) {
            if (around_cache_) {
                copy_non_temporal(out_ + next_, held_values_, held_ * sizeof(R));
            } else {
                std::memcpy(out_ + next_, held_values_, held_ * sizeof(R));
            }
            next_ += held_;
            held_ = 0;
        }
    }

private:
    static constexpr std::uint64_t most = gathers ? 1024 : 1;

    const Out& out_;
    std::uint64_t next_;
    const bool around_cache_;
    std::uint64_t held_ = 0;
    R held_values_[most];
};

template <>
struct segmented_engine<host> {
    template <class A, class In, class Offsets, class Map, class Op, class Result, class Out>
    static void into(const host& on, const In& in, const Offsets& offsets, std::uint64_t segments, const Map& map,
                     const Op& op, const Result& result, const Out& out, const char* call) {
        detail::check_array(offsets, segments == 0 ? 0 : segments + 1, call);
        detail::check_array(out, segments, call);
        if (segments == 0) {
            return;
        }
        if constexpr (std::is_signed_v<element_t<Offsets>>) {
            if (offsets[0] < 0) {
                throw invalid_argument(std::string("warpfold: ") + call + ": the first offset is negative");
            }
        }
        const auto base = static_cast<std::uint64_t>(offsets[0]), last = static_cast<std::uint64_t>(offsets[segments]);
        if (last < base) {
            throw decreasing(call, segments);
        }
        detail::check_array(in, last - base, call);
        const std::uint64_t total = last - base + segments;
        const std::uint64_t pieces = (total + host_chunk - 1) / host_chunk;
        struct open_ends {
            A head;                // of the first segment that ends in the piece
            A open;                // of the segment that the piece leaves open
            std::uint64_t segment; // the first segment
            std::uint64_t behind;  // the segment left open
        };
        using R = std::remove_cvref_t<decltype(result(std::declval<const A&>()))>;
        bool elsewhere = true;
        if constexpr (std::is_pointer_v<In> && std::is_pointer_v<Out>) {
            elsewhere = static_cast<const void*>(in) != static_cast<const void*>(out);
        }
        const bool non_temporal = elsewhere && segments * sizeof(R) >= least_non_temporal_bytes;
        const std::unique_ptr<open_ends[]> of_piece(new open_ends[pieces]);
        // The segments of a piece, from element `k` on, and what it leaves open, up to element `stop`. Element k of `values` is
        // element `shift` + k of the input; there are `limit`.
        const auto fold_piece = [&](const auto& values, std::uint64_t shift, std::uint64_t k, std::uint64_t stop,
                                    std::uint64_t limit, open_ends& mine) {
            using Values = std::remove_cvref_t<decltype(values)>;
            const auto at = [&](std::uint64_t s) { return static_cast<std::uint64_t>(offsets[s]) - shift; };
            const std::uint64_t first = mine.segment, behind = mine.behind;
            const auto next = [&](std::uint64_t s) {
                const std::uint64_t from = k;
                k = at(s + 1);
                if (k - from > limit - from) { // also true if k < from
                    throw decreasing(call, s + 1);
                }
                return fold_segment<A>(values, from, k, map, op);
            };
            if (first < behind) {
                mine.head = next(first);
            }
            segment_results<Out, R> results(out, first + 1, non_temporal);
            with_widest_vectors([&] {
                for (std::uint64_t s = first + 1; s < behind;) {
                    if (at(s + 1) - k <= segment_sums<A, Values, Map, Op>::longest) {
                        fold_short<A, R>(values, at, s, behind, k, limit, map, op, result, results);
                    }
                    if (s < behind) {
                        const R one[1] = {result(next(s))};
                        results.put(one);
                        ++s;
                    }
                }
            });
            results.flush();
            non_temporal_fence();
            if (stop < k || stop > limit) {
                throw decreasing(call, behind);
            }
            mine.open = fold_segment<A>(values, k, stop, map, op);
        };
        const auto fold = [&](std::uint64_t piece) {
            const std::uint64_t begin = piece * host_chunk, end = std::min(total, begin + host_chunk);
            const std::uint64_t first = ends_before_near(offsets, begin, segments, total);
            const std::uint64_t behind =
                end == total ? segments : ends_before(offsets, end, first, std::min(segments, first + host_chunk));
            open_ends& mine = of_piece[piece];
            mine = {Op::template identity<A>(), Op::template identity<A>(), first, behind};
            const std::uint64_t start = base + begin - first, stop = base + end - behind;
            if (begin < first || start > last) { // a search in decreasing offsets can end anywhere
                throw decreasing(call, first);
            }
            if constexpr (reads_blocks<In> && std::is_same_v<Map, identity_map>) {
                if (stop < start || stop > last) {
                    throw decreasing(call, behind);
                }
                const std::uint64_t count = stop - start;
                const std::unique_ptr<element_t<In>[]> block(new element_t<In>[count]);
                in.read(start, count, block.get());
                fold_piece(static_cast<const element_t<In>*>(block.get()), start, 0, count, count, mine);
            } else {
                fold_piece(in, 0, start, stop, last, mine);
            }
        };
        parallel_for(on.threads, pieces, fold, pieces_together);
        joined_parts<A, Op> open(op);
        for (std::uint64_t piece = 0; piece < pieces; ++piece) {
            const open_ends& one = of_piece[piece];
            if (one.segment < one.behind) {
                detail::write_to(out[one.segment], result(static_cast<A>(op(open.total(), one.head))));
                open.clear();
            }
            open.add(one.open);
        }
    }

private:
    // Folds segments from s on that end before `behind`, starting at element k, while they are short. s and k advance
    // to the first segment that is not done, or where offsets decrease.
    template <class A, class R, class In, class At, class Map, class Op, class Result, class Results>
    static void fold_short(const In& in, const At& at, std::uint64_t& s, std::uint64_t behind, std::uint64_t& k,
                           std::uint64_t limit, const Map& map, const Op& op, const Result& result, Results& results) {
        constexpr std::uint64_t many = 64; // segments checked together for being very short
        using sums = segment_sums<A, In, Map, Op>;
        constexpr std::uint64_t tiny = std::max<std::uint64_t>(sums::tiny, 1);
        std::uint64_t here = s, from = k, look = s;
        for (;;) {
            if (here >= look && here + many <= behind && at(here + many) - from <= many * tiny &&
                from + many * tiny <= limit) {
                look = here + many;
                if (at(here + many) - from == many && all_ones<many>(at, here, from)) {
                    R one[many];
                    for (std::uint64_t j = 0; j < many; ++j) {
                        const auto x = static_cast<A>(detail::mapped(map, in[from + j], from + j));
                        one[j] = result(static_cast<A>(op(Op::template identity<A>(), x)));
                    }
                    results.put(one);
                    here += many;
                    from += many;
                    continue;
                }
                if constexpr (sums::tiny != 0) {
                    if (all_tiny<many, tiny>(at, here)) {
                        R folded[many];
                        for (std::uint64_t j = 0; j < many; j += sums::width) {
                            std::uint64_t begin[sums::width + 1];
                            A total[sums::width];
                            unrolled<sums::width + 1>([&](std::uint64_t r) { begin[r] = at(here + j + r); });
                            sums::fold_tiny(in, begin, total);
                            unrolled<sums::width>([&](std::uint64_t r) { folded[j + r] = result(total[r]); });
                        }
                        results.put(folded);
                        here += many;
                        from = at(here);
                        continue;
                    }
                }
            }
            if (here + sums::width > behind) {
                break;
            }
            std::uint64_t begin[sums::width + 1] = {from};
            std::uint64_t longest = 0, shortest = ~std::uint64_t{0};
            unrolled<sums::width>([&](std::uint64_t j) {
                begin[j + 1] = at(here + 1 + j);
                longest = std::max(longest, begin[j + 1] - begin[j]); // huge if offsets decrease
                shortest = std::min(shortest, begin[j + 1] - begin[j]);
            });
            if (longest > sums::longest || begin[sums::width - 1] + (longest + sums::behind) > limit) {
                break;
            }
            A total[sums::width];
            sums::fold(in, begin, shortest, longest, map, op, total);
            R folded[sums::width];
            unrolled<sums::width>([&](std::uint64_t j) { folded[j] = result(total[j]); });
            results.put(folded);
            here += sums::width;
            from = begin[sums::width];
        }
        s = here;
        k = from;
    }

    // True if each of `Many` segments from s on, starting at element `from`, has one element.
    template <std::uint64_t Many, class At>
    static bool all_ones(const At& at, std::uint64_t s, std::uint64_t from) {
        std::uint64_t different = 0;
        for (std::uint64_t j = 0; j < Many; ++j) {
            different |= at(s + 1 + j) ^ (from + 1 + j);
        }
        return different == 0;
    }

    // True if none of them has more than `Most` elements, a power of two, and offsets do not decrease.
    template <std::uint64_t Many, std::uint64_t Most, class At>
    static bool all_tiny(const At& at, std::uint64_t s) {
        std::uint64_t any = 0;
        for (std::uint64_t j = 0; j < Many; ++j) {
            const std::uint64_t length = at(s + j + 1) - at(s + j);
            any |= length | (length + (Most - 1));
        }
        return any < 2 * Most;
    }

    static invalid_argument decreasing(const char* call, std::uint64_t s) {
        return invalid_argument(std::string("warpfold: ") + call + ": the offsets decrease at " + std::to_string(s));
    }
};

} // namespace warpfold::detail
