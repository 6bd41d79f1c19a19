// SPDX-License-Identifier: MIT
// Scans of floating-point sums. Results are before + local, where `local` is the sum of the elements since the beginning of a
// run or of a chunk, and the next `before` is the same before + the last `local`. Rounded additions are monotone, so results
// of numbers that are not negative never decrease.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "warpfold/detail/fold.hpp"
#include "warpfold/host/core/chunk_chain.hpp"
#include "warpfold/host/core/lanes.hpp"
#include "warpfold/host/core/vectors.hpp"
#include "warpfold/host/scan/shape.hpp"
#include "warpfold/host/scan/vectors.hpp"

namespace warpfold::detail {

// Prefetches as many elements as half of a block behind the first `done` / 2: of the thread's next chunk, one half while this
// one is scanned and the other while it is written.
template <class A>
[[gnu::always_inline]] inline void fetch_half(const A* next, std::uint64_t done, std::uint64_t count) {
    const auto from = reinterpret_cast<std::uintptr_t>(next) + done / 2 * sizeof(A);
    for (std::uint64_t byte = 0; byte < count / 2 * sizeof(A); byte += 64) {
        __builtin_prefetch(reinterpret_cast<const void*>(from + byte));
    }
}

// local[k] = the sum of the elements of a run up to begin + k, or before it; totals[r] = that of run r.
template <class Scan>
void scan_runs_of_sums(const Scan& scan, std::uint64_t begin, std::uint64_t end, typename Scan::A* local,
                       typename Scan::A* totals) {
    using A = typename Scan::A;
    using How = std::remove_cvref_t<decltype(scan.how)>;
    constexpr A none = nothing_to_add<A>;
    std::uint64_t v = begin;
    for (; v + Scan::block <= end; v += Scan::block, local += Scan::block, totals += Scan::runs) {
        std::fill_n(totals, Scan::runs, none);
        if constexpr (Scan::vectors) {
            fetch_half(scan.next(begin), v - begin, Scan::block);
            run_sums<A>::template scan<How::inclusive, Scan::runs, scan_run>(scan.in + v, totals, local, nullptr);
        } else {
            for (std::uint64_t j = 0; j < scan_run; ++j) {
                unrolled<Scan::runs>([&](std::uint64_t r) {
                    const std::uint64_t k = r * scan_run + j;
                    const A sum = totals[r] + scan.value(v + k);
                    local[k] = How::inclusive ? sum : totals[r];
                    totals[r] = sum;
                });
            }
        }
    }
    for (; v < end; v += scan_run, local += scan_run, ++totals) {
        A sum = none;
        for (std::uint64_t j = 0; j < std::min(scan_run, end - v); ++j) {
            const A next = sum + scan.value(v + j);
            local[j] = How::inclusive ? next : sum;
            sum = next;
        }
        *totals = sum;
    }
}

// The results of `count` elements; before_run[r] is the prefix of run r in its chunk.
template <class A, class U>
[[gnu::always_inline]] inline void add_before(A before, const A* before_run, const A* local, std::uint64_t count,
                                              U* to) {
    std::uint64_t k = 0;
    for (; k + scan_run <= count; k += scan_run, ++before_run) {
        const A run = *before_run;
        WARPFOLD_OVER_LANES
        for (std::uint64_t j = k; j < k + scan_run; ++j) {
            to[j] = static_cast<U>(before + (run + local[j]));
        }
    }
    for (; k < count; ++k) {
        to[k] = static_cast<U>(before + (*before_run + local[k]));
    }
}

template <class Scan>
void scan_chunk_of_sums(const Scan& scan, std::uint64_t chunk, chunk_chain<typename Scan::A>& chain) {
    using A = typename Scan::A;
    using U = typename Scan::U;
    using How = std::remove_cvref_t<decltype(scan.how)>;
    constexpr std::uint64_t each = sums_chunk<A>;
    const std::uint64_t begin = chunk * each, end = std::min(scan.n, begin + each);
    A local[each], before_run[each / scan_run];
    scan_runs_of_sums(scan, begin, end, local, before_run);
    A through = nothing_to_add<A>;
    for (std::uint64_t r = 0; r < (end - begin + scan_run - 1) / scan_run; ++r) {
        const A total = before_run[r];
        before_run[r] = through;
        through += total;
    }
    A before = nothing_to_add<A>;
    if (chunk != 0) {
        if (!chain.wait(chunk - 1, before)) {
            return;
        }
    } else if constexpr (How::has_first) {
        before = scan.how.first;
    }
    chain.hand_on(chunk, before + through);
    with_widest_vectors([&] {
        U results[Scan::block];
        for (std::uint64_t v = begin; v < end; v += Scan::block) {
            const std::uint64_t count = std::min(Scan::block, end - v);
            U* to = results;
            if constexpr (Scan::plain) {
                fetch_half(scan.next(begin) + each / 2, v - begin, count);
                to = scan.non_temporal ? results : scan.out + v;
            }
            add_before(before, before_run + (v - begin) / scan_run, local + (v - begin), count, to);
            if (to == results) {
                scan.write(v, results, count);
            }
        }
    });
}

// One element after another; heads(v) is true where a segment begins. `sum` is the prefix of `begin` on entry, if `there`, and
// of `end` on exit.
template <bool Write, class Scan, class Heads>
void sums_in_order(const Scan& scan, std::uint64_t begin, std::uint64_t end, typename Scan::A& sum, bool there,
                   const Heads& heads) {
    using A = typename Scan::A;
    using U = typename Scan::U;
    using How = std::remove_cvref_t<decltype(scan.how)>;
    constexpr A none = nothing_to_add<A>;
    U results[Scan::block];
    A before = there ? sum : none, local = none;
    for (std::uint64_t v = begin; v < end;) {
        const std::uint64_t first = v, stop = std::min(end, v + Scan::block);
        for (; v < stop; ++v) {
            if (heads(v)) {
                before = none;
                if constexpr (How::has_first) {
                    before = scan.how.first;
                }
                local = none;
            }
            const A next = local + scan.value(v);
            results[v - first] = static_cast<U>(before + (How::inclusive ? next : local));
            local = next;
        }
        if constexpr (Write) {
            scan.write(first, results, stop - first);
        }
    }
    sum = before + local;
}

} // namespace warpfold::detail
