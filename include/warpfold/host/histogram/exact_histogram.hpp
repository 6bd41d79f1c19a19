// SPDX-License-Identifier: MIT
// Exact weighted histograms on the host: a long accumulator for each bin, and for each of a few pieces of the samples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "warpfold/bins.hpp"
#include "warpfold/detail/bins/channels.hpp"
#include "warpfold/detail/check.hpp"
#include "warpfold/detail/element_count.hpp"
#include "warpfold/detail/engines.hpp"
#include "warpfold/detail/exact/long_accumulator.hpp"
#include "warpfold/detail/threads/parallel_for.hpp"
#include "warpfold/host/core/target.hpp"
#include "warpfold/host/histogram/histogram.hpp"

namespace warpfold::detail {

template <>
struct exact_histogram_engine<host> {
    template <class In, class Weights, class N, class Sum, class Of>
    static void weigh(const host& on, const In& in, const Weights& weights, const N& number, Sum* sums, Of of,
                      update mode, const char* call) {
        using T = computed_t<Sum>;
        using accumulator = long_accumulator<T, 1>;
        const std::uint64_t n = detail::checked_weighing(in, weights, number, sums, of, call);
        constexpr std::uint64_t room = std::uint64_t{256} << 20;
        const std::uint64_t bins = of.bins;
        const std::uint64_t worth = n / ((std::uint64_t{1} << 14) + 16 * bins); // tables are added after all
        const std::uint64_t most = std::min<std::uint64_t>(threads_of(on.threads), room / (bins * sizeof(accumulator)));
        const std::uint64_t pieces = std::max<std::uint64_t>(1, std::min(worth, most));
        const std::uint64_t each = (n + pieces - 1) / pieces;
        std::vector<accumulator> table(pieces * bins);
        parallel_for(on.threads, pieces, [&](std::uint64_t piece) {
            accumulator* const into = table.data() + piece * bins;
            const std::uint64_t end = std::min(n, (piece + 1) * each);
            for (std::uint64_t k = piece * each; k < end; ++k) {
                const std::uint32_t bin = of(in[k], 0);
                if (bin != outside) {
                    into[bin].term(static_cast<T>(weights[k]));
                }
            }
        });
        parallel_for(on.threads, (bins + 1023) / 1024, [&](std::uint64_t group) {
            for (std::uint64_t bin = group * 1024; bin < std::min(bins, (group + 1) * 1024); ++bin) {
                for (std::uint64_t piece = 1; piece < pieces; ++piece) {
                    table[bin].add(table[piece * bins + bin]);
                }
                if (mode == update::add) {
                    table[bin].term(static_cast<T>(sums[bin]));
                }
                sums[bin] = table[bin].template value<Sum>();
            }
        });
    }
};

} // namespace warpfold::detail
