// SPDX-License-Identifier: MIT
// The lecture's list of operations that serialise two streams when they are issued in between; what the calls that synchronise
// wait for; and what the end of a stream waits for. (759, "CUDA Streams: Caveats", "Synchronization Aspects",
// "Clean Up Phase".)
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ladder/streams/bench.hpp"
#include "ladder/streams/steps.hpp"
#include "ladder/streams/timeline_claims.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::streams {

namespace {

constexpr const char* source = "ladder/streams/07_caveats.cpp";
constexpr const char* caveats = "759, CUDA Streams: Caveats";
const std::string cannot_run = "they cannot run concurrently if in-between them is issued: ";
constexpr const char* aspects = "759, CUDA Streams: Synchronization Aspects";

enum between : unsigned { nothing, fill, device_copy, kernel_in_0, copy_in_0, all };

constexpr std::size_t few_bytes = 4096;

void issue_between(const engine::stage& on, unsigned what, const part& early, const part& late) {
    const std::size_t bytes = std::min<std::size_t>(std::min(early.count, late.count) * sizeof(int), few_bytes);
    if (bytes == 0) {
        return;
    }
    // Into results that their kernel writes later.
    if (what == fill) {
        engine::operate(on, nullptr, {"fill", device_engine::compute, bytes},
                        [&] { WARPFOLD_CUDA_CHECK(cudaMemset(device_out(on) + early.first, 0, bytes)); });
    } else if (what == device_copy) {
        engine::operate(on, nullptr, {"copy on the device", device_engine::compute, bytes}, [&] {
            WARPFOLD_CUDA_CHECK(
                cudaMemcpy(device_out(on) + early.first, device_in(on) + late.first, bytes, cudaMemcpyDeviceToDevice));
        });
    } else if (what == kernel_in_0) {
        compute(on, nullptr, {late.first, 1});
    } else if (what == copy_in_0) {
        copy_in(on, nullptr, {late.first, bytes / sizeof(int)});
    }
}

// For each entry of the list: a copy in one stream, the entry, a kernel on other data in another stream.
void run_in_between(const engine::stage& on) {
    bench& b = bench_of(on);
    const auto halves = parts(on.n, 2);
    const auto early = parts(halves[0].count, all);
    const auto late = parts(halves[1].count, all);
    const cudaStream_t stream1 = b.streams[0].handle();
    const cudaStream_t stream2 = b.streams[1].handle();
    fork(on, stream2);
    copy_in(on, stream2, halves[1]);
    wait_for(on, stream1, stream2);
    for (unsigned k = 0; k < all; ++k) {
        const part there{halves[1].first + late[k].first, late[k].count};
        copy_in(on, stream1, early[k]);
        issue_between(on, k, early[k], there);
        compute(on, stream2, there);
        wait_for(on, stream1, stream2);
        wait_for(on, stream2, stream1);
    }
    compute(on, stream1, halves[0]);
    copy_out(on, stream1, halves[0]);
    copy_out(on, stream2, halves[1]);
    join(on, stream1);
    join(on, stream2);
}

// Places of the copy and the kernel of one entry.
struct pair_of_commands {
    std::size_t copy = 0, kernel = 0;
};
pair_of_commands commands_around(const timeline& t, unsigned what) {
    std::vector<std::size_t> copies;
    std::vector<std::size_t> kernels;
    for (std::size_t at = 0; at < t.events.size(); ++at) {
        if (t.events[at].stream == "default stream") {
            continue;
        }
        if (t.events[at].on == device_engine::to_device) {
            copies.push_back(at);
        } else if (t.events[at].on == device_engine::compute) {
            kernels.push_back(at);
        }
    }
    return {copies.at(what + 1), kernels.at(what)}; // the first copy is that of all kernels' data
}

engine::check kept_apart(unsigned what) {
    const engine::check apart = on_timeline([what](const engine::evidence& /*e*/, const timeline& t) {
        const pair_of_commands around = commands_around(t, what);
        const timeline_event& copy = t.events[around.copy];
        const timeline_event& kernel = t.events[around.kernel];
        const double both = overlap(copy, kernel);
        const double shorter = std::min(copy.end - copy.start, kernel.end - kernel.start);
        std::string figure =
            "copy and kernel at the same time for " + microseconds(both) + " of " + microseconds(shorter);
        if (both < 0.1 * shorter && kernel.issued > copy.end - 0.1 * shorter) {
            return unseen(figure + ", but the call in between lasted until the copy was over");
        }
        return seen((both < 0.1 * shorter) == (what != nothing), std::move(figure));
    });
    const unsigned other = what == nothing ? unsigned{kernel_in_0} : unsigned{nothing};
    return apart.refuted_by(engine::planted(other == nothing ? "the copy and the kernel with nothing in between"
                                                             : "the copy and the kernel around a launch to stream 0",
                                            [what, other](engine::altered_evidence& e) {
                                                auto& events = e.step.timeline.value().events;
                                                const pair_of_commands here = commands_around(*e.step.timeline, what);
                                                const pair_of_commands there = commands_around(*e.step.timeline, other);
                                                events[here.copy] = events[there.copy];
                                                events[here.kernel] = events[there.kernel];
                                            }));
}

// Calls that work at the host, so that no timeline has them: they are made while a host function holds one stream, and
// then a kernel is launched into another. The function ends when that kernel is done, or after a time in which any of these
// calls is over.
enum call : unsigned { pinned_allocation, allocation, cache_choice, calls };
constexpr std::chrono::milliseconds longest_hold{50};

struct hold {
    std::atomic<bool> over{false};

    static void carry_out(void* user) {
        auto& h = *static_cast<hold*>(user);
        const auto end = std::chrono::steady_clock::now() + longest_hold;
        while (!h.over && std::chrono::steady_clock::now() < end) {
            std::this_thread::yield();
        }
        h.over = true;
    }
};

// The owners of what the calls take. They give it back when all is over, since a free waits for the device.
struct taken {
    void* pinned = nullptr;
    void* device = nullptr;
    ~taken() {
        (void)cudaFreeHost(pinned);
        (void)cudaFree(device);
    }
};

void make(unsigned what, taken& memory) {
    switch (what) {
    case pinned_allocation: WARPFOLD_CUDA_CHECK(cudaMallocHost(&memory.pinned, few_bytes)); return;
    case allocation: WARPFOLD_CUDA_CHECK(cudaMalloc(&memory.device, few_bytes)); return;
    default: WARPFOLD_CUDA_CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared)); return;
    }
}

void run_calls_in_between(const engine::stage& on) {
    bench& b = bench_of(on);
    const auto pieces = parts(on.n, calls);
    const cudaStream_t stream1 = b.streams[0].handle();
    const cudaStream_t stream2 = b.streams[1].handle();
    std::array<hold, calls> holds;
    taken memory;
    fork(on, stream2);
    copy_in(on, stream2, {0, on.n});
    compute(on, stream2, {0, std::min<std::uint64_t>(on.n, 1)}); // so that the kernel is loaded
    for (unsigned k = 0; k < calls; ++k) {
        wait_for(on, stream1, stream2);
        WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(stream1));
        engine::operate(on, stream1, {"host function", device_engine::host},
                        [&] { WARPFOLD_CUDA_CHECK(cudaLaunchHostFunc(stream1, hold::carry_out, &holds[k])); });
        make(k, memory);
        compute(on, stream2, pieces[k]);
        while (!holds[k].over && cudaStreamQuery(stream2) == cudaErrorNotReady) {
            std::this_thread::yield();
        }
        (void)cudaGetLastError(); // the query's cudaErrorNotReady
        holds[k].over = true;
        wait_for(on, stream2, stream1);
    }
    copy_out(on, stream2, {0, on.n});
    join(on, stream2);
    WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.stream));
    WARPFOLD_CUDA_CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
}

// The k-th host function and the kernel launched behind the call.
std::pair<std::size_t, std::size_t> held_and_launched(const timeline& t, unsigned k) {
    std::vector<std::size_t> functions;
    std::vector<std::size_t> kernels;
    for (std::size_t at = 0; at < t.events.size(); ++at) {
        if (t.events[at].on == device_engine::host) {
            functions.push_back(at);
        } else if (t.events[at].on == device_engine::compute) {
            kernels.push_back(at);
        }
    }
    return {functions.at(k), kernels.at(k + 1)};
}

engine::check held_apart(unsigned what) {
    const engine::check apart = on_timeline([what](const engine::evidence& /*e*/, const timeline& t) {
        if (t.modelled) {
            return unseen("the model knows of streams only: needs a GPU");
        }
        const auto [function, kernel] = held_and_launched(t, what);
        const double both = overlap(t.events[function], t.events[kernel]);
        const double alone = t.events[kernel].end - t.events[kernel].start;
        return seen(both < 0.1 * alone, "one stream is held for " +
                                            microseconds(t.events[function].end - t.events[function].start) +
                                            ", the other's kernel runs for " + microseconds(alone) + ", of which " +
                                            microseconds(both) + " meanwhile");
    });
    return apart.refuted_by(
        engine::planted("a kernel while the other stream is held", [what](engine::altered_evidence& e) {
            timeline& t = e.step.timeline.value();
            const auto [function, kernel] = held_and_launched(t, what);
            t.modelled = false;
            t.events[kernel].start = t.events[function].start;
            t.events[kernel].end = t.events[function].end;
        }));
}

// A small part in one stream, the large rest in another; the host waits for the first, issues more, waits for all, issues more.
void run_synchronisation(const engine::stage& on) {
    bench& b = bench_of(on);
    const part small{0, on.n / 8};
    const part rest{small.count, on.n - small.count};
    const cudaStream_t first = b.streams[0].handle();
    const cudaStream_t second = b.streams[1].handle();
    fork(on, first);
    fork(on, second);
    copy_in(on, first, small);
    compute(on, first, small);
    copy_out(on, first, small);
    copy_in(on, second, rest);
    compute(on, second, rest);
    copy_out(on, second, rest);
    WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(first));
    compute(on, first, small);
    WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
    copy_out(on, first, small);
    join(on, first);
    join(on, second);
}

verdict waits_for_one(const engine::evidence& /*e*/, const timeline& t) {
    const double issued = t.events.at(6).issued;
    const double mine = t.events.at(2).end;
    const double others = t.events.at(5).end;
    return seen(issued >= mine && issued < others, "the stream is done at " + microseconds(mine) +
                                                       ", the next command is issued at " + microseconds(issued) +
                                                       ", the other stream is done at " + microseconds(others));
}

verdict waits_for_all(const engine::evidence& /*e*/, const timeline& t) {
    const double issued = t.events.at(7).issued;
    double last = 0;
    for (std::size_t k = 0; k < 7; ++k) {
        last = std::max(last, t.events[k].end);
    }
    return seen(issued >= last,
                "all is done at " + microseconds(last) + ", the next command is issued at " + microseconds(issued));
}

// The first half in a stream that is destroyed as soon as all is issued.
void run_destroyed(const engine::stage& on, bool both) {
    bench& b = bench_of(on);
    const auto halves = parts(on.n, 2);
    const cudaStream_t stays = b.streams[0].handle();
    fork(on, stays);
    if (both) {
        const own_stream gone(cudaStreamDefault);
        fork(on, gone.handle());
        copy_in(on, gone.handle(), halves[0]);
        compute(on, gone.handle(), halves[0]);
        copy_out(on, gone.handle(), halves[0]);
        join(on, gone.handle());
    }
    copy_in(on, stays, halves[1]);
    compute(on, stays, halves[1]);
    copy_out(on, stays, halves[1]);
    join(on, stays);
}

void run_both(const engine::stage& on) { run_destroyed(on, true); }

void run_what_stays(const engine::stage& on) {
    bench_of(on).begin_run();
    run_destroyed(on, false);
}

verdict work_is_done(const engine::evidence& e) {
    return seen(e.step.correct, e.step.correct ? "both halves have come back right" : e.step.difference);
}

verdict returns_when_over(const engine::evidence& /*e*/, const timeline& t) {
    const double issued = t.events.at(3).issued;
    const double over = t.events.at(2).end;
    return seen(issued >= over, "the next command is issued at " + microseconds(issued) +
                                    ", the work of the destroyed stream is over at " + microseconds(over) +
                                    (issued < over ? ": today the call returns at once and the work goes on" : ""));
}

} // namespace

engine::step_definition in_between() {
    engine::step_definition s =
        step("in between", "what keeps streams apart", source,
             "between a copy in one stream and a kernel in another: each entry of the list", caveats, run_in_between,
             {{"with nothing in between they run concurrently", caveats, kept_apart(nothing)}});
    const std::pair<const char*, unsigned> entries[] = {
        {"a device memory set", fill},
        {"a device to device memory copy", device_copy},
        {"a kernel launch to stream 0", kernel_in_0},
        {"a host to device memory copy that specifies no stream", copy_in_0}};
    for (const auto& [name, what] : entries) {
        s.claims.push_back({cannot_run + name, caveats, kept_apart(what)});
    }
    return s;
}

engine::step_definition calls_in_between() {
    return step(
        "calls between", "calls that may keep streams apart", source,
        "while one stream is held: a call of the list, and a kernel in the other stream", caveats, run_calls_in_between,
        {{cannot_run + "a page-locked host memory allocation", caveats, held_apart(pinned_allocation)},
         {cannot_run + "a device memory allocation", caveats, held_apart(allocation)},
         {cannot_run + "a switch between the L1/shared memory configurations", caveats, held_apart(cache_choice)}});
}

engine::step_definition synchronisation() {
    return step("synchronise", "what the host waits for", source, "one stream, then all", aspects, run_synchronisation,
                {{"cudaStreamSynchronize() halts the host until the given stream has completed, other streams continue",
                  aspects, on_timeline(waits_for_one).refuted_by(engine::step_in_place("many"))},
                 {"cudaDeviceSynchronize() halts the host until all streams have completed", aspects,
                  on_timeline(waits_for_all).refuted_by(engine::step_in_place("many"))}});
}

engine::step_definition destroyed() {
    return step(
        "destroyed", "the end of a stream", source, "cudaStreamDestroy() while the stream has work",
        "759, CUDA Streams: Clean Up Phase", run_both,
        {{"cudaStreamDestroy() waits for all preceding commands in the stream to complete before returning control",
          "759, CUDA Streams: Clean Up Phase",
          on_timeline(returns_when_over).refuted_by(engine::step_in_place("many"))},
         {"all the work that was in it is done", "759, CUDA Streams: Clean Up Phase",
          engine::check(work_is_done).refuted_by(engine::mutant("only the stream that stays", run_what_stays))}});
}

} // namespace warpfold::ladder::streams
