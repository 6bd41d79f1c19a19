// SPDX-License-Identifier: MIT
// The smallest and the largest element of all ranks, on the cores of their hosts.
#pragma once

#include <type_traits>

#include "tool/arrays/calls_over.hpp"
#include "tool/arrays/family.hpp"
#include "tool/arrays/host_memory.hpp"
#include "warpfold/chunked.hpp"

namespace warpfold::calls {

inline number_range run_extremes(const rank_setup& rank, const extremes_request& q) {
    const memory_over<host_memory> memory(rank);
    return memory.together("min_max", q.in.type(), q.in.size(), 0, [&] {
        return with_source(part_source(q.in, memory.comm()), [&](const auto& source) {
            using A = typename std::remove_cvref_t<decltype(source)>::element;
            const auto found = chunked_min_max(memory.on(), source, memory.options(q.how));
            number_range range{};
            member_of<A>(range.smallest) = found.smallest;
            member_of<A>(range.largest) = found.largest;
            return range;
        });
    });
}

} // namespace warpfold::calls
