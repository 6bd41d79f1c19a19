// SPDX-License-Identifier: MIT
// Histograms with even bins, or with bins between edges. `Memory` is where a target's arrays are: see host_memory.hpp and
// gpu/memory.cuh.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "tool/arrays/family.hpp"
#include "warpfold/chunked.hpp"

namespace warpfold::calls {

template <class Memory>
void run_histogram(Memory& memory, const histogram_request& q) {
    with_source(q.in, [&](const auto& source) {
        using A = typename std::remove_cvref_t<decltype(source)>::element;
        std::vector<std::uint64_t> counts;
        if (q.edges != nullptr) {
            const auto* const edges = static_cast<const A*>(memory.in(q.edges, (q.bins + 1) * sizeof(A)));
            counts = chunked_histogram(memory.on(), source, edge_bins<A>(edges, q.bins + 1), options_of(q.how));
        } else {
            counts =
                chunked_histogram(memory.on(), source, even_bins<A>(value_of<A>(q.lower), value_of<A>(q.upper), q.bins),
                                  options_of(q.how));
        }
        std::copy(counts.begin(), counts.end(), q.counts);
    });
}

} // namespace warpfold::calls
