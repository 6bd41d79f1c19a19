// SPDX-License-Identifier: MIT
// Histograms with even bins, or with bins between edges.
#pragma once

#include <type_traits>

#include "calls/family.hpp"
#include "warpfold/histogram.hpp"

namespace warpfold::calls {

template <class Memory>
void run_histogram(Memory& memory, const histogram_request& q) {
    const void* const data = memory.in(q.in.data, q.in.n * report::size_of(q.in.type));
    with_elements(q.in.type, data, [&](const auto& in) {
        using A = std::remove_cvref_t<decltype(in[std::uint64_t{}])>;
        auto* const counts = static_cast<std::uint64_t*>(memory.out(q.counts, q.bins * sizeof(std::uint64_t)));
        if (q.edges != nullptr) {
            const auto* const edges = static_cast<const A*>(memory.in(q.edges, (q.bins + 1) * sizeof(A)));
            histogram(memory.on(), in, q.in.n, counts, edge_bins<A>(edges, q.bins + 1));
        } else {
            histogram(memory.on(), in, q.in.n, counts,
                      even_bins<A>(value_of<A>(q.lower), value_of<A>(q.upper), q.bins));
        }
    });
    memory.fetch();
}

} // namespace warpfold::calls
