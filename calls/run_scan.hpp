// SPDX-License-Identifier: MIT
// Scans by an operation that is chosen when the program runs.
#pragma once

#include <type_traits>

#include "calls/family.hpp"
#include "warpfold/operation.hpp"
#include "warpfold/scan.hpp"

namespace warpfold::calls {

struct chosen {
    template <class A>
    WARPFOLD_HD A operator()(const A& a, const A& b) const {
        switch (op) {
        case operation::sum: return warpfold::sum{}(a, b);
        case operation::product: return product{}(a, b);
        case operation::minimum: return minimum{}(a, b);
        default: return maximum{}(a, b);
        }
    }
    template <class A>
    A identity_of() const {
        switch (op) {
        case operation::sum: return warpfold::sum::identity<A>();
        case operation::product: return product::identity<A>();
        case operation::minimum: return minimum::identity<A>();
        default: return maximum::identity<A>();
        }
    }

    operation op;
};

template <class Memory>
void run_scan(Memory& memory, const scan_request& q) {
    const void* const data = memory.in(q.in.data, q.in.n * report::size_of(q.in.type));
    with_elements(q.in.type, data, [&](const auto& in) {
        using A = std::remove_cvref_t<decltype(in[std::uint64_t{}])>;
        A* const out = static_cast<A*>(memory.out(q.out, q.in.n * sizeof(A)));
        const chosen op{q.op};
        const A first = op.template identity_of<A>();
        if (q.exclusive && q.reverse) {
            exclusive_scan(memory.on(), in, q.in.n, out, op, first, reversed);
        } else if (q.exclusive) {
            exclusive_scan(memory.on(), in, q.in.n, out, op, first);
        } else if (q.reverse) {
            inclusive_scan(memory.on(), in, q.in.n, out, op, reversed);
        } else {
            inclusive_scan(memory.on(), in, q.in.n, out, op);
        }
    });
    memory.fetch();
}

} // namespace warpfold::calls
