// SPDX-License-Identifier: MIT
// Histograms with even bins, or with bins between edges. `Memory` is where a target's arrays are: see host_memory.hpp and
// gpu/memory.cuh.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "tool/arrays/calls_over.hpp"
#include "tool/arrays/family.hpp"
#include "warpfold/chunked.hpp"

namespace warpfold::calls {

template <class Memory>
void run_histogram(memory_over<Memory>& memory, const histogram_request& q) {
    memory.together("histogram", q.in.type(), q.in.size(), q.bins, [&] {
        with_source(part_source(q.in, memory.comm()), [&](const auto& source) {
            using A = typename std::remove_cvref_t<decltype(source)>::element;
            const auto on = memory.on().at_root(0);
            const chunked_options options = memory.options(q.how);
            std::vector<std::uint64_t> counts;
            if (q.edges != nullptr) {
                const auto* const edges = static_cast<const A*>(memory.in(q.edges, (q.bins + 1) * sizeof(A)));
                counts = chunked_histogram(on, source, edge_bins<A>(edges, q.bins + 1), options);
            } else {
                counts = chunked_histogram(on, source, even_bins<A>(value_of<A>(q.lower), value_of<A>(q.upper), q.bins),
                                           options);
            }
            std::copy(counts.begin(), counts.end(), q.counts); // at rank 0
        });
    });
}

} // namespace warpfold::calls
