// SPDX-License-Identifier: MIT
// Scans by an operation that is chosen when the program runs.
#pragma once

#include <type_traits>

#include "tool/arrays/calls_over.hpp"
#include "tool/arrays/family.hpp"
#include "warpfold/chunked.hpp"
#include "warpfold/operation.hpp"

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
void run_scan(const memory_over<Memory>& memory, const scan_request& q) {
    const std::uint64_t settings = static_cast<std::uint64_t>(q.op) * 4 + (q.exclusive ? 2 : 0) + (q.reverse ? 1 : 0);
    memory.together("scan", q.in.type(), q.in.size(), settings, [&] {
        const part_source part(q.in, memory.comm());
        with_source(part, [&](const auto& source) {
            using A = typename std::remove_cvref_t<decltype(source)>::element;
            const chosen op{q.op};
            const A first = op.template identity_of<A>();
            const chunked_options options = memory.options(q.how);
            memory.results().pass(q.out, part.first() * sizeof(A), [&](result_sink& out) {
                const sink_of<A> sink{out};
                const auto on = memory.on();
                if (q.exclusive && q.reverse) {
                    chunked_exclusive_scan(on, source, sink, op, first, reversed, options);
                } else if (q.exclusive) {
                    chunked_exclusive_scan(on, source, sink, op, first, options);
                } else if (q.reverse) {
                    chunked_inclusive_scan(on, source, sink, op, reversed, options);
                } else {
                    chunked_inclusive_scan(on, source, sink, op, options);
                }
            });
        });
    });
}

} // namespace warpfold::calls
