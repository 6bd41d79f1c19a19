// SPDX-License-Identifier: MIT
// Work in the default stream beside work in others: it serialises them, except for non-blocking streams; and the default streams
// of threads. (759, "CUDA Streams: Creation", "Caveats".)
#include <future>
#include <vector>

#include "ladder/streams/bench.hpp"
#include "ladder/streams/steps.hpp"
#include "ladder/streams/timeline_claims.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::streams {

namespace {

constexpr const char* source = "ladder/streams/05_default_streams.cpp";
constexpr const char* caveats = "759, CUDA Streams: Caveats";

void copy_compute_copy(const engine::stage& on, cudaStream_t stream, const part& p) {
    copy_in(on, stream, p);
    compute(on, stream, p);
    copy_out(on, stream, p);
}

// A third of the data in one stream, a third in the default stream, a third in another stream.
void run_thirds(const engine::stage& on, cudaStream_t first, cudaStream_t second) {
    const auto thirds = parts(on.n, 3);
    fork(on, first);
    fork(on, second);
    copy_compute_copy(on, first, thirds[0]);
    copy_compute_copy(on, nullptr, thirds[1]);
    copy_compute_copy(on, second, thirds[2]);
    join(on, first);
    join(on, second);
}

void run_blocking(const engine::stage& on) {
    bench& b = bench_of(on);
    run_thirds(on, b.streams[0].handle(), b.streams[1].handle());
}

void run_non_blocking(const engine::stage& on) {
    bench& b = bench_of(on);
    run_thirds(on, b.non_blocking[0].handle(), b.non_blocking[1].handle());
}

// Two threads of the host, each with half of the data in the stream that stands for its own default stream.
void run_per_thread(const engine::stage& on) {
    bench& b = bench_of(on);
    const auto halves = parts(on.n, 2);
    const cudaEvent_t begin = b.next_event();
    const cudaEvent_t ends[] = {b.next_event(), b.next_event()};
    WARPFOLD_CUDA_CHECK(cudaEventRecord(begin, on.stream));
    std::vector<std::future<void>> threads;
    for (std::size_t k = 0; k < 2; ++k) {
        threads.push_back(std::async(std::launch::async, [&, k] {
            WARPFOLD_CUDA_CHECK(cudaStreamWaitEvent(cudaStreamPerThread, begin, 0));
            copy_compute_copy(on, cudaStreamPerThread, halves[k]);
            WARPFOLD_CUDA_CHECK(cudaEventRecord(ends[k], cudaStreamPerThread));
        }));
    }
    for (auto& thread : threads) {
        thread.get();
    }
    for (const cudaEvent_t end : ends) {
        WARPFOLD_CUDA_CHECK(cudaStreamWaitEvent(on.stream, end, 0));
    }
}

// Seconds during which the default stream works while another does.
double beside_the_default_stream(const timeline& t) {
    double both = 0;
    for (const timeline_event& a : t.events) {
        for (const timeline_event& b : t.events) {
            both += a.stream == "default stream" && b.stream != a.stream ? overlap(a, b) : 0;
        }
    }
    return both;
}

// Refuted by the step whose streams behave otherwise.
engine::check beside(bool wanted) {
    const engine::check as_wanted = on_timeline([wanted](const engine::evidence& /*e*/, const timeline& t) {
        const double both = beside_the_default_stream(t);
        return seen((both > t.seconds() / 50) == wanted, "the default stream and another at the same time for " +
                                                             microseconds(both) + " of " + microseconds(t.seconds()));
    });
    return as_wanted.refuted_by(engine::step_in_place(wanted ? "default" : "non-blocking"));
}

} // namespace

engine::step_definition default_stream() {
    return step("default", "work in the default stream", source, "a third of the data in stream 0, between two others",
                caveats, run_blocking,
                {{"two commands from different streams cannot run concurrently if any command to stream 0 is issued "
                  "in-between them",
                  caveats, beside(false)},
                 {"nothing overlaps", caveats, engines_never_overlap()}});
}

engine::step_definition non_blocking() {
    return step("non-blocking", "streams that do not block", source,
                "the same, and the others are made with cudaStreamNonBlocking", caveats, run_non_blocking,
                {{"they do not wait for stream 0, nor it for them", "beyond the lectures", beside(true)},
                 {"faster than with streams that block", "beyond the lectures", shorter_than("default")}});
}

engine::step_definition per_thread() {
    return step(
        "per thread", "default streams of threads", source,
        "two threads of the host, each in its cudaStreamPerThread: what nvcc --default-stream per-thread makes of 0",
        "759, CUDA Streams: Creation", run_per_thread,
        {{"one thread's default stream does not wait for another's", "beyond the lectures",
          engines_overlap(device_engine::compute, device_engine::to_device)},
         {"each is in order", "759, CUDA Streams: Overview", streams_are_in_order()},
         {"faster than one stream", "beyond the lectures", shorter_than("one")}});
}

} // namespace warpfold::ladder::streams
