// SPDX-License-Identifier: MIT
// Scans of floating-point sums. Results are before + (run + local): `local` is the sum of a run's elements so far, `run` the
// prefix of the run in its part of the chunk, `before` that of the part. The next `run` is run + the last `local`, the next
// `before` is before + the last of these sums. Rounded additions are monotone, so results of numbers that are not negative
// never decrease.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "warpfold/detail/fold.hpp"
#include "warpfold/host/core/chunk_chain.hpp"
#include "warpfold/host/scan/shape.hpp"
#include "warpfold/host/scan/vectors.hpp"

namespace warpfold::detail {

// One element after another; heads(v) is true where a segment begins. `before` is the prefix of the part, `run` that of `begin`
// in it. Returns the prefix of `end`.
template <bool Write, class Scan, class Heads>
typename Scan::A sums_in_order(const Scan& scan, std::uint64_t begin, std::uint64_t end, typename Scan::A before,
                               typename Scan::A run, const Heads& heads) {
    using A = typename Scan::A;
    using U = typename Scan::U;
    using How = std::remove_cvref_t<decltype(scan.how)>;
    constexpr A none = nothing_to_add<A>;
    typename Scan::held_results results;
    A local = none;
    for (std::uint64_t v = begin; v < end;) {
        const std::uint64_t first = v, stop = std::min(end, v + Scan::block);
        for (; v < stop; ++v) {
            if (heads(v)) {
                before = none;
                if constexpr (How::has_first) {
                    before = scan.how.first;
                }
                run = local = none;
            } else if (v % scan_run == 0) {
                run += local;
                local = none;
            }
            const A next = local + scan.value(v);
            scan.template note<Write>(results, first, v - first,
                                      static_cast<U>(before + (run + (How::inclusive ? next : local))));
            local = next;
        }
        if constexpr (Write) {
            scan.write(first, results, stop - first);
        }
    }
    return before + (run + local);
}

template <class Scan>
void scan_chunk_of_sums(const Scan& scan, std::uint64_t chunk, chunk_chain<typename Scan::A>& chain) {
    using A = typename Scan::A;
    using How = std::remove_cvref_t<decltype(scan.how)>;
    constexpr std::uint64_t each = scan_chunk<A>, part = sums_part<A>;
    static_assert(part % Scan::block == 0);
    const std::uint64_t begin = chunk * each, end = std::min(scan.n, begin + each);
    const std::uint64_t whole = begin + (end - begin) / Scan::block * Scan::block;
    A prefixes[each / scan_run]; // of runs, in their parts
    scan.fold_runs(begin, whole, prefixes);
    A sums[each / part + 1]; // of parts
    for (std::uint64_t p = 0; p <= each / part; ++p) {
        A through = nothing_to_add<A>;
        const std::uint64_t runs = (whole - begin) / scan_run;
        for (std::uint64_t r = p * (part / scan_run); r < std::min(runs, (p + 1) * (part / scan_run)); ++r) {
            through += std::exchange(prefixes[r], through);
        }
        sums[p] = through;
    }
    A before = nothing_to_add<A>;
    if (chunk != 0) {
        if (!chain.wait(chunk - 1, before)) {
            return;
        }
    } else if constexpr (How::has_first) {
        before = scan.how.first;
    }
    A of_parts[each / part + 1]; // prefixes
    for (std::uint64_t p = 0; p <= each / part; ++p) {
        of_parts[p] = before;
        before += sums[p];
    }
    chain.hand_on(chunk, before); // only the last chunk has a rest, and no chunk waits for its sum
    for (std::uint64_t v = begin; v < whole; v += Scan::block) {
        scan.write_block(v, prefixes + (v - begin) / scan_run, of_parts[(v - begin) / part]);
    }
    const std::uint64_t last = (whole - begin) / part;
    sums_in_order<true>(scan, whole, end, of_parts[last], sums[last], [](std::uint64_t) { return false; });
}

} // namespace warpfold::detail
