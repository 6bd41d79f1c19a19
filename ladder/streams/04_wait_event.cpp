// SPDX-License-Identifier: MIT
// The lecture's example of cudaStreamWaitEvent: new input comes in while the previous result goes out, and the kernel waits for
// both. Here the first third of the data is "previous", the rest "new", so that copy 1 takes longer than copy 2. And the same
// without the wait. (759, "Use of
// cudaStreamWaitEvent", after S. Rennich.)
#include <algorithm>

#include "ladder/streams/bench.hpp"
#include "ladder/streams/steps.hpp"
#include "ladder/streams/timeline_claims.hpp"

namespace warpfold::ladder::streams {

namespace {

constexpr const char* source = "ladder/streams/04_wait_event.cpp";
constexpr const char* example = "759, Use of cudaStreamWaitEvent";

void run_example(const engine::stage& on, bool waits) {
    bench& b = bench_of(on);
    const part previous{0, on.n / 3};
    const part fresh{previous.count, on.n - previous.count};
    const cudaStream_t stream1 = b.streams[0].handle();
    const cudaStream_t stream2 = b.streams[1].handle();
    fork(on, stream2);
    copy_in(on, stream2, previous); // what makes the previous result
    compute(on, stream2, previous);
    wait_for(on, stream1, stream2);

    copy_in(on, stream1, fresh);     // 1) H2D copy of new input
    copy_out(on, stream2, previous); // 2) D2H copy of previous result
    if (waits) {
        wait_for(on, stream2, stream1); // record event in stream1, wait for it in stream2
    }
    compute(on, stream2, fresh); // 3) must wait for 1 and 2

    copy_out(on, stream2, fresh);
    join(on, stream1);
    join(on, stream2);
}

void run_with_wait(const engine::stage& on) { run_example(on, true); }
void run_without(const engine::stage& on) { run_example(on, false); }

// The operations of the example, by their places in the timeline.
constexpr std::size_t copy_of_new = 2;
constexpr std::size_t copy_of_previous = 3;
constexpr std::size_t kernel_of_new = 4;

verdict copies_meet(const engine::evidence& /*e*/, const timeline& t) {
    const timeline_event& in = t.events.at(copy_of_new);
    const timeline_event& out = t.events.at(copy_of_previous);
    const double both = overlap(in, out);
    return seen(both > 0.5 * std::min(in.end - in.start, out.end - out.start),
                "copies 1 and 2 take " + microseconds(in.end - in.start) + " and " + microseconds(out.end - out.start) +
                    ", at the same time " + microseconds(both));
}

verdict kernel_waits(const engine::evidence& /*e*/, const timeline& t) {
    const timeline_event& kernel = t.events.at(kernel_of_new);
    const double first = t.events.at(copy_of_new).end;
    const double second = t.events.at(copy_of_previous).end;
    const double slack = t.modelled ? 1e-9 : 20e-6;
    return seen(kernel.start + slack >= std::max(first, second),
                "copies 1 and 2 over at " + microseconds(first) + " and " + microseconds(second) +
                    ", kernel begins at " + microseconds(kernel.start));
}

verdict host_goes_on(const engine::evidence& /*e*/, const timeline& t) {
    const double issued = t.events.at(kernel_of_new + 1).issued;
    const double start = t.events.at(kernel_of_new).start;
    return seen(issued < start,
                "the call after the launch at " + microseconds(issued) + ", kernel begins at " + microseconds(start));
}

engine::counterexample host_waits() {
    return retimed("a launch that waits for its kernel",
                   [](auto& events) { events.at(kernel_of_new + 1).issued = events.at(kernel_of_new).end; });
}

} // namespace

engine::step_definition wait_event() {
    return step(
        "wait", "cudaStreamWaitEvent", source, "new input comes in while the previous result goes out", example,
        run_with_wait,
        {{"use the two copy subengines at the same time", example,
          on_timeline(copies_meet).refuted_by(engine::step_in_place("pageable"))},
         {"all the commands added after the call delay their execution until the event has completed: 3) must "
          "wait for 1 and 2",
          example, on_timeline(kernel_waits).refuted_by(engine::step_in_place("no wait"))},
         {"someCPUfunction gets executed right away", example, on_timeline(host_goes_on).refuted_by(host_waits())}});
}

engine::step_definition no_wait() {
    engine::step_definition s =
        step("no wait", "the same without the wait", source, "the kernel may run before its input is there", example,
             run_without,
             {{"inter-stream relative behavior is not guaranteed and should not be relied upon for correctness",
               "759, CUDA Streams: Overview [Cntd.]", engine::races("race between streams", "wait")}});
    s.expected = outcome::by_luck;
    s.lesson = "nothing makes the kernel wait for the copy in the other stream";
    s.finds = "race between streams";
    return s;
}

} // namespace warpfold::ladder::streams
