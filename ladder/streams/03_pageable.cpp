// SPDX-License-Identifier: MIT
// The loop over two streams with memory of the host that is not page-locked. (759, "Host-Device Data Transfer Issues".)
#include "ladder/streams/bench.hpp"
#include "ladder/streams/steps.hpp"
#include "ladder/streams/timeline_claims.hpp"

namespace warpfold::ladder::streams {

namespace {

void run_pageable(const engine::stage& on) {
    bench& b = bench_of(on);
    const auto halves = parts(on.n, 2);
    for (std::size_t s = 0; s < 2; ++s) {
        fork(on, b.streams[s].handle());
    }
    for (std::size_t s = 0; s < 2; ++s) {
        const cudaStream_t stream = b.streams[s].handle();
        copy_in(on, stream, halves[s]);
        compute(on, stream, halves[s]);
        copy_out(on, stream, halves[s]);
    }
    for (std::size_t s = 0; s < 2; ++s) {
        join(on, b.streams[s].handle());
    }
}

// The copy back of the first half and what the host issues after it.
verdict host_waits(const engine::evidence& /*e*/, const timeline& t) {
    const timeline_event& copy = t.events.at(2);
    const timeline_event& next = t.events.at(3);
    return seen(next.issued >= copy.end, "the second half's copy issued at " + microseconds(next.issued) +
                                             ", the first half's copy back over at " + microseconds(copy.end));
}

} // namespace

engine::step_definition pageable() {
    engine::step_definition s = step(
        "pageable", "two streams, pageable memory", "ladder/streams/03_pageable.cpp",
        "the same calls, and the host's memory comes from an ordinary allocation",
        "759, Host-Device Data Transfer Issues", run_pageable,
        {{"the asynchronous transfer version requires pinned host memory: without, the call waits",
          "759, Host-Device Data Transfer Issues", on_timeline(host_waits).refuted_by(engine::step_in_place("two"))},
         {"and nothing overlaps", "beyond the lectures", engines_never_overlap()},
         {"page-locked memory takes less time", "beyond the lectures", longer_than("two")}});
    s.prepare = pageable_bench;
    return s;
}

} // namespace warpfold::ladder::streams
