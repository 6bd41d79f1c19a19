// SPDX-License-Identifier: MIT
// Copy, compute, copy, without overlap: by calls that block, and in one stream by calls that do not. (759, "Asynchronous
// Concurrent Execution", "Host-Device Data Transfer Issues".)
#include <algorithm>
#include <string>

#include "ladder/streams/bench.hpp"
#include "ladder/streams/steps.hpp"
#include "ladder/streams/timeline_claims.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::streams {

namespace {

constexpr const char* source = "ladder/streams/01_one_stream.cpp";

void run_blocking(const engine::stage& on) {
    const bench& b = bench_of(on);
    const part all{0, on.n};
    const std::size_t bytes = on.n * sizeof(int);
    // The default stream, which waits for the stage's: as on the slides.
    engine::operate(on, nullptr, {"copy to the device", device_engine::to_device, bytes},
                    [&] { WARPFOLD_CUDA_CHECK(cudaMemcpy(device_in(on), b.in, bytes, cudaMemcpyHostToDevice)); });
    compute(on, nullptr, all);
    engine::operate(on, nullptr, {"copy to the host", device_engine::to_host, bytes},
                    [&] { WARPFOLD_CUDA_CHECK(cudaMemcpy(b.out, device_out(on), bytes, cudaMemcpyDeviceToHost)); });
}

void run_in_one(const engine::stage& on) {
    const part all{0, on.n};
    copy_in(on, on.stream, all);
    compute(on, on.stream, all);
    copy_out(on, on.stream, all);
}

// What the lecture's list of asynchronous calls has of copies: 64 KiB from pageable memory while the stream still copies the
// rest, and 64 KiB from the device to the device while the kernel runs.
constexpr std::uint64_t few = (64u << 10) / sizeof(int);

void run_small_copies(const engine::stage& on) {
    const bench& b = bench_of(on);
    const part small{0, std::min(on.n, few)};
    const part rest{small.count, on.n - small.count};
    const std::size_t bytes = small.count * sizeof(int);
    int* const elsewhere = device_in(on) + on.n;
    copy_in(on, nullptr, rest);
    engine::operate(on, nullptr, {"copy to the device", device_engine::to_device, bytes, true},
                    [&] { WARPFOLD_CUDA_CHECK(cudaMemcpy(device_in(on), b.data, bytes, cudaMemcpyHostToDevice)); });
    compute(on, nullptr, {0, on.n});
    engine::operate(on, nullptr, {"copy on the device", device_engine::compute, 2 * bytes}, [&] {
        WARPFOLD_CUDA_CHECK(cudaMemcpy(elsewhere, device_out(on), bytes, cudaMemcpyDeviceToDevice));
    });
    engine::operate(on, nullptr, {"copy to the host", device_engine::to_host, bytes}, [&] {
        WARPFOLD_CUDA_CHECK(cudaMemcpyAsync(b.out, elsewhere, bytes, cudaMemcpyDeviceToHost, nullptr));
    });
    copy_out(on, nullptr, rest);
}

// Whether the call after an operation was made before something was over.
verdict returns_before(const timeline& t, std::size_t next, std::size_t over, std::string what) {
    const double issued = t.events.at(next).issued;
    const double end = t.events.at(over).end;
    return seen(issued < end,
                "the next command issued at " + microseconds(issued) + ", " + what + " over at " + microseconds(end));
}

// The kernel of the step that blocks. The model notes when a call is made: control is back when the next one is. On a GPU
// the note is taken when the call has returned.
verdict launch_returns(const engine::evidence& /*e*/, const timeline& t) {
    const double returned = t.events.at(t.modelled ? 2 : 1).issued;
    const double end = t.events.at(1).end;
    return seen(returned < end,
                "launch returned at " + microseconds(returned) + ", kernel over at " + microseconds(end));
}

std::string what(const timeline_event& e) {
    return e.on == device_engine::compute ? "kernel" : std::string("copy ") + name_of(e.on);
}

// Whether the host issued the next operation only when this one was over.
verdict returns_after(const timeline& t, std::size_t first) {
    const timeline_event& before = t.events.at(first);
    const timeline_event& next = t.events.at(first + 1);
    return seen(next.issued >= before.end, what(before) + " over at " + microseconds(before.end) + ", " + what(next) +
                                               " issued at " + microseconds(next.issued));
}

engine::counterexample issued_when_over(std::size_t next, std::size_t over) {
    return retimed("a call that waits", [next, over](auto& events) { events.at(next).issued = events.at(over).end; });
}

} // namespace

engine::step_definition blocking() {
    return step(
        "blocking", "calls that block", source, "cudaMemcpy, a kernel, cudaMemcpy, in the default stream",
        "759, Host-Device Data Transfer Issues", run_blocking,
        {{"data transfers using cudaMemcpy() are blocking: control is returned to the host thread only after "
          "the data transfer is complete",
          "759, Host-Device Data Transfer Issues", on_timeline([](const auto&, const timeline& t) {
                                                       return returns_after(t, 0);
                                                   }).refuted_by(engine::step_in_place("one"))},
         {"kernel launches: control is returned before the device has completed the requested task",
          "759, Asynchronous Concurrent Execution",
          on_timeline(launch_returns).refuted_by(retimed("a launch that waits for its kernel", [](auto& events) {
              events.at(1).issued = events.at(2).issued = events.at(1).end;
          }))}});
}

engine::step_definition one_stream() {
    return step(
        "one", "one stream", source, "the same with cudaMemcpyAsync from page-locked memory",
        "759, Host-Device Data Transfer Issues", run_in_one,
        {{"the host does not wait on the device to finish the copy and the kernel: cpuFunction() starts at once",
          "759, Host-Device Data Transfer Issues", on_timeline([](const auto&, const timeline& t) {
                                                       return returns_before(t, 2, 0, "the copy");
                                                   }).refuted_by(engine::step_in_place("blocking"))},
         {"the launch of the kernel only happens after the copy call finishes: an operation in a stream does not "
          "commence prior to the previous one being fully completed",
          "759, CUDA Streams: Overview", streams_are_in_order()},
         {"up until this point we are still not using the two GPU engines", "759, Host-Device Data Transfer Issues",
          engines_never_overlap()}});
}

engine::step_definition small_copies() {
    engine::step_definition s = step(
        "small", "copies that may return at once", source,
        "64 KiB from the host and 64 KiB on the device, by cudaMemcpy", "759, Asynchronous Concurrent Execution",
        run_small_copies,
        {{"asynchronous: host to device copies of a memory block of 64 KB or less",
          "759, Asynchronous Concurrent Execution", on_timeline([](const auto&, const timeline& t) {
                                                        return returns_before(t, 2, 0, "the stream's copy before it");
                                                    }).refuted_by(engine::step_in_place("blocking"))},
         {"asynchronous: device to device memory copies", "759, Asynchronous Concurrent Execution",
          on_timeline([](const auto&, const timeline& t) {
              return returns_before(t, 4, 3, "the copy");
          }).refuted_by(issued_when_over(4, 3))}});
    s.scratch_bytes = [](std::uint64_t n) { return (n + few) * sizeof(int); };
    return s;
}

} // namespace warpfold::ladder::streams
