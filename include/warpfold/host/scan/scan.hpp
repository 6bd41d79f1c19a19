// SPDX-License-Identifier: MIT
// Scan on the host in one pass over memory. The input is divided into chunks that fit a core's cache. A thread takes
// the next chunk, folds it, waits for the prefix from the previous chunk's thread, passes the next prefix on, and scans
// the chunk, now in its cache. The order depends on the number of elements only, so results do not depend on the number
// of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "warpfold/detail/fold.hpp"
#include "warpfold/detail/scan_options.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/chunk_chain.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/host/core/non_temporal_store.hpp"
#include "warpfold/host/core/pairwise.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/scan/rounded_sums.hpp"
#include "warpfold/host/scan/shape.hpp"
#include "warpfold/host/scan/vectors.hpp"

namespace warpfold::detail {

// One scan, as a chunk sees it.
template <class In, class Out, class Map, class Op, class How>
struct host_scan {
    using A = typename How::value;
    using U = std::conditional_t<std::is_void_v<written_t<Out>>, A, written_t<Out>>;

    static constexpr std::uint64_t runs = scan_runs<A>;
    static constexpr std::uint64_t block = runs * scan_run;

    // Results of a block on their way to the output; large ones are written one by one.
    static constexpr bool at_once = scan_holds_few<U>;
    using held_results = U[at_once ? 1 : block];

    const In& in;
    std::uint64_t n;
    const Out& out;
    const Map& map;
    const Op& op;
    const How& how;
    bool non_temporal;   // the output is written with non-temporal stores
    std::uint64_t ahead; // expected distance to the thread's next chunk, in elements

    // Plain sums and extremes of numbers are vectorised.
    static constexpr bool plain = std::is_same_v<Map, identity_map> && !How::reverse && std::is_same_v<In, const A*> &&
                                  std::is_same_v<Out, A*> && std::is_arithmetic_v<A> && !std::is_same_v<A, bool> &&
                                  16 % sizeof(A) == 0 && sizeof(A) <= 8;
    static constexpr bool vectors = plain && std::is_same_v<Op, sum>;
    static constexpr bool rounds = rounded_sum_v<Op, A>; // rounded_sums.hpp
    static constexpr bool extremes = plain && (std::is_same_v<Op, minimum> || std::is_same_v<Op, maximum>);

    [[nodiscard]] std::uint64_t place(std::uint64_t v) const { return How::reverse ? n - 1 - v : v; }
    [[nodiscard]] A value(std::uint64_t v) const {
        const std::uint64_t k = place(v);
        return static_cast<A>(detail::mapped(map, in[k], k));
    }

    // The result of position v + j. In place, it replaces the element there.
    template <bool Write = true>
    void note(held_results& results, std::uint64_t v, std::uint64_t j, U&& result) const {
        if constexpr (!at_once) {
            results[j] = std::move(result);
        } else if constexpr (Write) {
            out[place(v + j)] = std::move(result);
        }
    }
    // Writes results of the positions from v on.
    void write(std::uint64_t v, held_results& results, std::uint64_t count) const {
        if constexpr (at_once) {
            return;
        } else if constexpr (std::is_pointer_v<Out>) {
            if constexpr (How::reverse) {
                std::reverse(results, results + count);
            }
            U* const to = out + (How::reverse ? n - v - count : v);
            if constexpr (!std::is_trivially_copyable_v<U>) {
                std::copy_n(results, count, to);
            } else if (non_temporal) {
                copy_non_temporal(to, results, count * sizeof(U));
            } else {
                std::memcpy(to, results, count * sizeof(U));
            }
        } else {
            for (std::uint64_t j = 0; j < count; ++j) {
                out[place(v + j)] = results[j];
            }
        }
    }

    // Where the thread probably continues after the block at v; v itself at the end.
    [[nodiscard]] const A* next(std::uint64_t v) const { return in + (ahead < n - v ? v + ahead : v); }

    // op over each run of [begin, end), a multiple of block long.
    void fold_runs(std::uint64_t begin, std::uint64_t end, A* totals) const {
        for (std::uint64_t v = begin; v < end; v += block, totals += runs) {
            if constexpr (vectors) {
                run_sums<A>::template sum<runs, scan_run>(in + v, totals);
                continue;
            } else if constexpr (extremes) {
                if (run_extremes<A, Op>::template fold<runs, scan_run>(in + v, totals)) {
                    continue;
                }
            }
            A sum[runs];
            unrolled<runs>([&](std::uint64_t r) { sum[r] = value(v + r * scan_run); });
            for (std::uint64_t j = 1; j < scan_run; ++j) {
                unrolled<runs>([&](std::uint64_t r) { sum[r] = op(sum[r], value(v + r * scan_run + j)); });
            }
            std::copy_n(sum, runs, totals);
        }
    }

    // The results of a block; prefixes[r] is that of run r. Of sums that round it is the prefix in the part of the chunk, and
    // `before` that of the part; others have no `before`.
    void write_block(std::uint64_t v, const A* prefixes, const A& before) const {
        held_results results;
        if constexpr (vectors) {
            if (non_temporal) { // in one piece, so that whole lines are combined
                run_sums<A>::template scan<How::inclusive, runs, scan_run>(in + v, prefixes, before, results, next(v));
                write(v, results, block);
            } else {
                run_sums<A>::template scan<How::inclusive, runs, scan_run>(in + v, prefixes, before, out + v, next(v));
            }
            return;
        } else if constexpr (extremes) {
            if (run_extremes<A, Op>::template scan<How::inclusive, runs, scan_run>(
                    in + v, prefixes, non_temporal ? results : out + v, next(v))) {
                if (non_temporal) {
                    write(v, results, block);
                }
                return;
            }
        }
        if constexpr (!vectors) {
            A sum[runs];
            if constexpr (rounds) {
                std::fill_n(sum, runs, nothing_to_add<A>);
            } else {
                std::copy_n(prefixes, runs, sum);
            }
            const auto note_sum = [&](std::uint64_t r, std::uint64_t j) {
                if constexpr (rounds) {
                    note(results, v, r * scan_run + j, static_cast<U>(before + (prefixes[r] + sum[r])));
                } else {
                    note(results, v, r * scan_run + j, static_cast<U>(sum[r]));
                }
            };
            for (std::uint64_t j = 0; j < scan_run; ++j) {
                unrolled<runs>([&](std::uint64_t r) {
                    const A x = value(v + r * scan_run + j);
                    if constexpr (!How::inclusive) {
                        note_sum(r, j);
                    }
                    sum[r] = op(sum[r], x);
                    if constexpr (How::inclusive) {
                        note_sum(r, j);
                    }
                });
            }
            write(v, results, block);
        }
    }

    // One element after another; heads(v) is true where a segment begins. `sum` is the prefix of `begin` on entry, if
    // `there`, and of `end` on exit.
    template <bool Write, class Heads>
    void in_order(std::uint64_t begin, std::uint64_t end, A& sum, bool there, const Heads& heads) const {
        if constexpr (rounds) {
            sum = sums_in_order<Write>(*this, begin, end, there ? sum : nothing_to_add<A>, nothing_to_add<A>, heads);
        } else {
            held_results results;
            for (std::uint64_t v = begin; v < end;) {
                const std::uint64_t first = v, stop = std::min(end, v + block);
                for (; v < stop; ++v) {
                    const A x = value(v);
                    if (How::segmented && heads(v)) {
                        if constexpr (How::has_first) {
                            sum = how.first;
                        }
                        there = How::has_first;
                    }
                    if constexpr (!How::inclusive) {
                        note<Write>(results, first, v - first, static_cast<U>(sum));
                    }
                    sum = there ? static_cast<A>(op(sum, x)) : x;
                    there = true;
                    if constexpr (How::inclusive) {
                        note<Write>(results, first, v - first, static_cast<U>(sum));
                    }
                }
                if constexpr (Write) {
                    write(first, results, stop - first);
                }
            }
        }
    }
};

// True if a segment begins at this position of a chunk.
template <class How, class Flags>
class chunk_heads_of_flags {
public:
    chunk_heads_of_flags(const heads<Flags>& segments, std::uint64_t n, std::uint64_t, std::uint64_t)
        : flags_(segments.flags), n_(n) {}
    [[nodiscard]] bool operator()(std::uint64_t v) const {
        return v == 0 || (detail::decayed(flags_)[How::reverse ? n_ - v : v] ? true : false);
    }

private:
    const Flags& flags_;
    std::uint64_t n_;
};
template <class How, class Begins>
class chunk_heads_of_offsets {
public:
    chunk_heads_of_offsets(const offsets<Begins>& segments, std::uint64_t n, std::uint64_t begin, std::uint64_t end)
        : begin_(begin), marks_(end - begin) {
        const std::uint64_t low = How::reverse ? n - end + 1 : begin, high = How::reverse ? n - begin + 1 : end;
        const auto& begins = detail::decayed(segments.begins);
        std::uint64_t left = 0, right = segments.count;
        while (left < right) {
            const std::uint64_t middle = left + (right - left) / 2;
            if (static_cast<std::uint64_t>(begins[middle]) < low) {
                left = middle + 1;
            } else {
                right = middle;
            }
        }
        for (; left < segments.count; ++left) {
            const auto offset = static_cast<std::uint64_t>(begins[left]);
            if (offset >= high) {
                break;
            }
            marks_[(How::reverse ? n - offset : offset) - begin] = 1;
        }
    }
    [[nodiscard]] bool operator()(std::uint64_t v) const { return v == 0 || marks_[v - begin_] != 0; }

private:
    std::uint64_t begin_;
    std::vector<std::uint8_t> marks_; // bytes: bits take longer to read
};
template <class How, class Flags>
auto chunk_heads(const heads<Flags>& segments, std::uint64_t n, std::uint64_t begin, std::uint64_t end) {
    return chunk_heads_of_flags<How, Flags>(segments, n, begin, end);
}
template <class How, class Begins>
auto chunk_heads(const offsets<Begins>& segments, std::uint64_t n, std::uint64_t begin, std::uint64_t end) {
    return chunk_heads_of_offsets<How, Begins>(segments, n, begin, end);
}

template <class Scan>
void scan_chunk_plain(const Scan& scan, std::uint64_t chunk, chunk_chain<typename Scan::A>& chain) {
    using A = typename Scan::A;
    using How = std::remove_cvref_t<decltype(scan.how)>;
    const auto none = [](std::uint64_t) { return false; };
    constexpr std::uint64_t each = scan_chunk<A>;
    const std::uint64_t begin = chunk * each, end = std::min(scan.n, begin + each);
    const std::uint64_t whole = begin + (end - begin) / Scan::block * Scan::block;
    A before[each / scan_run];
    const std::uint64_t runs = (whole - begin) / scan_run;
    scan.fold_runs(begin, whole, before);
    A sum{};
    bool there = true;
    if (chunk != 0) {
        if (!chain.wait(chunk - 1, sum)) {
            return;
        }
    } else if constexpr (How::has_first) {
        sum = scan.how.first;
    } else {
        there = false;
    }
    const bool first_there = there;
    for (std::uint64_t r = 0; r < runs; ++r) {
        const A total = before[r];
        before[r] = sum;
        sum = there ? static_cast<A>(scan.op(sum, total)) : total;
        there = true;
    }
    static_assert(each % Scan::block == 0); // so only the last chunk has a rest, and no chunk waits for its total
    chain.hand_on(chunk, sum);
    std::uint64_t v = begin;
    if (!first_there && v < whole) {
        A in_block{};
        scan.template in_order<true>(v, v + Scan::block, in_block, false, none);
        v += Scan::block;
    }
    for (; v < whole; v += Scan::block) {
        scan.write_block(v, before + (v - begin) / scan_run, A{});
    }
    if (whole != end) {
        scan.template in_order<true>(whole, end, sum, there, none);
    }
}

template <class Scan>
void scan_chunk_segmented(const Scan& scan, std::uint64_t chunk, chunk_chain<typename Scan::A>& chain) {
    using A = typename Scan::A;
    using How = std::remove_cvref_t<decltype(scan.how)>;
    constexpr std::uint64_t each = scan_chunk<A>;
    const std::uint64_t begin = chunk * each, end = std::min(scan.n, begin + each);
    const auto heads = chunk_heads<How>(scan.how.segments, scan.n, begin, end);
    std::uint64_t last = end; // the last position where a segment begins; `end`: none
    for (std::uint64_t v = end; v-- > begin;) {
        if (heads(v)) {
            last = v;
            break;
        }
    }
    A through{}, sum{};
    if (last != end) {
        scan.template in_order<false>(last, end, through, false, heads);
        chain.hand_on(chunk, through);
        if (!heads(begin) && !chain.wait(chunk - 1, sum)) {
            return;
        }
    } else {
        scan.template in_order<false>(begin, end, through, false, heads);
        if (!chain.wait(chunk - 1, sum)) {
            return;
        }
        chain.hand_on(chunk, static_cast<A>(scan.op(sum, through)));
    }
    scan.template in_order<true>(begin, end, sum, true, heads);
}

template <>
struct scan_engine<host> {
    template <class In, class Out, class Map, class Op, class How>
    static void run(const host& on, const In& in, std::uint64_t n, const Out& out, const Map& map, const Op& op,
                    const How& how, const char* /*call*/) {
        using Scan = host_scan<In, Out, Map, Op, How>;
        using A = typename Scan::A;
        constexpr std::uint64_t each = scan_chunk<A>;
        bool elsewhere = true;
        if constexpr (std::is_pointer_v<In> && std::is_pointer_v<Out>) {
            elsewhere = static_cast<const void*>(in) != static_cast<const void*>(out);
        }
        const std::uint64_t threads = threads_of(on.threads);
        const Scan scan{in,
                        n,
                        out,
                        map,
                        op,
                        how,
                        elsewhere && n * sizeof(typename Scan::U) >= least_non_temporal_bytes,
                        threads * each};
        const std::uint64_t chunks = (n + each - 1) / each;
        chunk_chain<typename Scan::A> chain(chunks);
        parallel_for(on.threads, chunks, [&](std::uint64_t chunk) {
            try {
                if constexpr (How::segmented) {
                    scan_chunk_segmented(scan, chunk, chain);
                } else if constexpr (Scan::rounds) {
                    scan_chunk_of_sums(scan, chunk, chain);
                } else {
                    scan_chunk_plain(scan, chunk, chain);
                }
                non_temporal_fence();
            } catch (...) {
                chain.fail();
                throw;
            }
        });
    }
};

} // namespace warpfold::detail
