// SPDX-License-Identifier: MIT
// The lecture's loop over two streams, depth first; the same breadth first; four streams and eight pieces. (759, "CUDA Streams:
// Making Use of Them".) Mended: the slide's copies take `size` for a number of elements and of bytes alike.
#include "ladder/streams/bench.hpp"
#include "ladder/streams/steps.hpp"
#include "ladder/streams/timeline_claims.hpp"

namespace warpfold::ladder::streams {

namespace {

constexpr const char* source = "ladder/streams/02_streams.cpp";
constexpr const char* making_use = "759, CUDA Streams: Making Use of Them";

void run_depth_first(const engine::stage& on, unsigned streams, unsigned pieces) {
    bench& b = bench_of(on);
    for (unsigned s = 0; s < streams; ++s) {
        fork(on, b.streams[s].handle());
    }
    unsigned s = 0;
    for (const part& p : parts(on.n, pieces)) {
        const cudaStream_t stream = b.streams[s++ % streams].handle();
        copy_in(on, stream, p);
        compute(on, stream, p);
        copy_out(on, stream, p);
    }
    for (s = 0; s < streams; ++s) {
        join(on, b.streams[s].handle());
    }
}

void run_two(const engine::stage& on) { run_depth_first(on, 2, 2); }

void run_many(const engine::stage& on) { run_depth_first(on, 4, 8); }

void run_breadth_first(const engine::stage& on) {
    bench& b = bench_of(on);
    const auto halves = parts(on.n, 2);
    const cudaStream_t stream[] = {b.streams[0].handle(), b.streams[1].handle()};
    for (int s = 0; s < 2; ++s) {
        fork(on, stream[s]);
    }
    for (std::size_t s = 0; s < 2; ++s) {
        copy_in(on, stream[s], halves[s]);
    }
    for (std::size_t s = 0; s < 2; ++s) {
        compute(on, stream[s], halves[s]);
    }
    for (std::size_t s = 0; s < 2; ++s) {
        copy_out(on, stream[s], halves[s]);
    }
    for (int s = 0; s < 2; ++s) {
        join(on, stream[s]);
    }
}

// Commands of different streams run at the same time.
verdict streams_overlap(const engine::evidence& /*e*/, const timeline& t) {
    double both = 0;
    for (const timeline_event& a : t.events) {
        for (const timeline_event& b : t.events) {
            both += a.stream < b.stream ? overlap(a, b) : 0;
        }
    }
    return seen(both > t.seconds() / 50, "commands of two streams at the same time for " + microseconds(both) + " of " +
                                             microseconds(t.seconds()));
}

// How near the time is to that of the engine with the most to do.
verdict busiest_engine(const engine::evidence& e, const timeline& t) {
    double busy[softgpu::observe::engines] = {};
    for (const timeline_event& one : t.events) {
        busy[static_cast<std::size_t>(one.on)] += one.end - one.start;
    }
    device_engine most = device_engine::compute;
    for (const device_engine each : {device_engine::to_device, device_engine::to_host}) {
        most = busy[static_cast<std::size_t>(each)] > busy[static_cast<std::size_t>(most)] ? each : most;
    }
    const double share = busy[static_cast<std::size_t>(most)] / t.seconds();
    return seen(share > 0.5, std::string("the engine with most to do, ") + name_of(most) + ", works " +
                                 number(100 * share, 0) + " % of " + microseconds(t.seconds()) + " for " +
                                 std::to_string(e.n()) + " elements");
}

} // namespace

engine::step_definition two_streams() {
    return step(
        "two", "two streams, depth first", source, "half the data in each: copy, kernel, copy; then the next stream",
        making_use, run_two,
        {{"learn how to use both engines at the same time: copies while a kernel executes",
          "759, CUDA Streams: Why Bother?", engines_overlap(device_engine::to_device, device_engine::compute)},
         {"the execution order in a stream is identical to the order in which the operations are added to it",
          "759, CUDA Streams: Overview", streams_are_in_order()},
         {"with respect to each other, different CUDA streams execute their commands as they see fit",
          "759, CUDA Streams: Overview [Cntd.]", on_timeline(streams_overlap).refuted_by(engine::step_in_place("one"))},
         {"less time than one stream", "beyond the lectures", shorter_than("one")}});
}

engine::step_definition breadth_first() {
    return step("breadth", "two streams, breadth first", source,
                "all copies to the device, then all kernels, then all copies back", making_use, run_breadth_first,
                {{"the order in a stream is kept, whatever is issued in between", "759, CUDA Streams: Overview",
                  streams_are_in_order()},
                 {"with a copy engine for each direction either order of issue takes as long", "beyond the lectures",
                  as_long_as("two")}});
}

engine::step_definition many_streams() {
    return step("many", "four streams, eight pieces", source, "the loop over more and smaller pieces", making_use,
                run_many,
                {{"an H2D copy subengine and a D2H copy subengine that can work simultaneously",
                  "759, CUDA Streams: Why Bother?", engines_overlap(device_engine::to_device, device_engine::to_host)},
                 {"smaller pieces overlap better", "beyond the lectures", shorter_than("two")},
                 {"the engine with most to do is what counts", "beyond the lectures",
                  on_timeline(busiest_engine).refuted_by(engine::step_in_place("one"))}});
}

} // namespace warpfold::ladder::streams
