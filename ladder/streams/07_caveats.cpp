// SPDX-License-Identifier: MIT
// The lecture's list of operations that serialise two streams when they are issued in between; what the calls that synchronise
// wait for; and what the end of a stream waits for. (759, "CUDA Streams: Caveats", "Synchronization Aspects",
// "Clean Up Phase".)
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "ladder/streams/bench.hpp"
#include "ladder/streams/steps.hpp"
#include "ladder/streams/timeline_claims.hpp"
#include "measure/check.hpp"

namespace warpfold::ladder::streams {

namespace {

constexpr const char* source = "ladder/streams/07_caveats.cpp";
constexpr const char* caveats = "759, CUDA Streams: Caveats";
constexpr const char* aspects = "759, CUDA Streams: Synchronization Aspects";

enum between : unsigned {
    nothing,
    pinned_allocation,
    allocation,
    fill,
    device_copy,
    kernel_in_0,
    copy_in_0,
    cache_choice,
    all
};

constexpr std::size_t few_bytes = 4096;

// A part of the first half for each entry; the one around the allocation of page-locked memory, which takes its time, is as
// long as eight others.
std::vector<part> shares(std::uint64_t n) {
    constexpr unsigned long_one = 8;
    const auto units = parts(n, all - 1 + long_one);
    std::vector<part> out(units.begin(), units.begin() + pinned_allocation);
    part longer = units[pinned_allocation];
    for (unsigned k = 1; k < long_one; ++k) {
        longer.count += units[pinned_allocation + k].count;
    }
    out.push_back(longer);
    out.insert(out.end(), units.begin() + pinned_allocation + long_one, units.end());
    return out;
}

// Small things of the kind, and their owners, which go when all is over: a free waits for the device.
struct kept_until_the_end {
    std::vector<void*> device, pinned;
    ~kept_until_the_end() {
        for (void* const p : device) {
            (void)cudaFree(p);
        }
        for (void* const p : pinned) {
            (void)cudaFreeHost(p);
        }
    }
};

void issue_between(const engine::stage& on, unsigned what, const part& early, const part& late,
                   kept_until_the_end& kept) {
    const std::size_t bytes = std::min<std::size_t>(std::min(early.count, late.count) * sizeof(int), few_bytes);
    switch (what) {
    case pinned_allocation:
        kept.pinned.push_back(nullptr);
        WARPFOLD_CUDA_CHECK(cudaMallocHost(&kept.pinned.back(), few_bytes));
        return;
    case allocation:
        kept.device.push_back(nullptr);
        WARPFOLD_CUDA_CHECK(cudaMalloc(&kept.device.back(), few_bytes));
        return;
    case cache_choice: WARPFOLD_CUDA_CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared)); return;
    default: break;
    }
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
    const auto early = shares(halves[0].count);
    const auto late = parts(halves[1].count, all);
    const cudaStream_t stream1 = b.streams[0].handle();
    const cudaStream_t stream2 = b.streams[1].handle();
    fork(on, stream2);
    copy_in(on, stream2, halves[1]);
    wait_for(on, stream1, stream2);
    kept_until_the_end kept;
    for (unsigned k = 0; k < all; ++k) {
        const part there{halves[1].first + late[k].first, late[k].count};
        copy_in(on, stream1, early[k]);
        issue_between(on, k, early[k], there, kept);
        compute(on, stream2, there);
        wait_for(on, stream1, stream2);
        wait_for(on, stream2, stream1);
    }
    compute(on, stream1, halves[0]);
    copy_out(on, stream1, halves[0]);
    copy_out(on, stream2, halves[1]);
    join(on, stream1);
    join(on, stream2);
    WARPFOLD_CUDA_CHECK(cudaStreamSynchronize(on.stream));
    WARPFOLD_CUDA_CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
}

// The copy and the kernel of one entry.
struct pair_of_commands {
    const timeline_event* copy = nullptr;
    const timeline_event* kernel = nullptr;
};
pair_of_commands commands_around(const timeline& t, unsigned what) {
    std::vector<const timeline_event*> copies;
    std::vector<const timeline_event*> kernels;
    for (const timeline_event& e : t.events) {
        if (e.stream == "default stream") {
            continue;
        }
        if (e.on == device_engine::to_device) {
            copies.push_back(&e);
        } else if (e.on == device_engine::compute) {
            kernels.push_back(&e);
        }
    }
    return {copies.at(what + 1), kernels.at(what)}; // the first copy is that of all kernels' data
}

// What an allocation takes where it has nothing to wait for.
double seconds_of_allocation(unsigned what) {
    using clock = std::chrono::steady_clock;
    double best = 1;
    for (int sample = 0; sample < 3; ++sample) {
        kept_until_the_end kept;
        WARPFOLD_CUDA_CHECK(cudaDeviceSynchronize());
        void* p = nullptr;
        const auto begin = clock::now();
        WARPFOLD_CUDA_CHECK(what == pinned_allocation ? cudaMallocHost(&p, few_bytes) : cudaMalloc(&p, few_bytes));
        best = std::min(best, std::chrono::duration<double>(clock::now() - begin).count());
        (what == pinned_allocation ? kept.pinned : kept.device).push_back(p);
    }
    return best;
}

engine::check kept_apart(unsigned what) {
    return on_timeline([what](const engine::evidence& /*e*/, const timeline& t) {
        if (t.modelled && (what == pinned_allocation || what == allocation || what == cache_choice)) {
            return unseen("the model knows of streams only: needs a GPU");
        }
        const auto [copy, kernel] = commands_around(t, what);
        const double both = overlap(*copy, *kernel);
        const double shorter = std::min(copy->end - copy->start, kernel->end - kernel->start);
        std::string figure =
            "copy and kernel at the same time for " + microseconds(both) + " of " + microseconds(shorter);
        if (both < 0.1 * shorter && kernel->issued > copy->end - 0.1 * shorter) {
            figure += ", but the call in between lasted until the copy was over";
            if (what != pinned_allocation && what != allocation) {
                return unseen(figure);
            }
            const double alone = seconds_of_allocation(what);
            figure += "; alone it takes " + microseconds(alone);
            return 2 * alone < copy->end - copy->start ? seen(true, figure + ": it waits") : unseen(figure);
        }
        return seen((both < 0.1 * shorter) == (what != nothing), std::move(figure));
    });
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
    WARPFOLD_CUDA_CHECK(cudaStreamQuery(first)); // cudaErrorNotReady would be thrown
    WARPFOLD_CUDA_CHECK(cudaStreamQuery(second));
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
void run_destroyed(const engine::stage& on) {
    bench& b = bench_of(on);
    const auto halves = parts(on.n, 2);
    const cudaStream_t stays = b.streams[0].handle();
    fork(on, stays);
    {
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
        {"a page-locked host memory allocation", pinned_allocation},
        {"a device memory allocation", allocation},
        {"a device memory set", fill},
        {"a device to device memory copy", device_copy},
        {"a kernel launch to stream 0", kernel_in_0},
        {"a host to device memory copy that specifies no stream", copy_in_0},
        {"a switch between the L1/shared memory configurations", cache_choice}};
    for (const auto& [name, what] : entries) {
        s.claims.push_back({std::string("they cannot run concurrently if in-between them is issued: ") + name, caveats,
                            kept_apart(what)});
    }
    return s;
}

engine::step_definition synchronisation() {
    return step("synchronise", "what the host waits for", source, "one stream, then all; and asking without waiting",
                aspects, run_synchronisation,
                {{"cudaStreamSynchronize() halts the host until the given stream has completed, other streams continue",
                  aspects, on_timeline(waits_for_one)},
                 {"cudaDeviceSynchronize() halts the host until all streams have completed", aspects,
                  on_timeline(waits_for_all)},
                 {"cudaStreamQuery() tells whether all preceding commands in a stream have completed", aspects,
                  [](const engine::evidence&) {
                      return seen(true, "it says so of both streams after cudaDeviceSynchronize()");
                  }}});
}

engine::step_definition destroyed() {
    return step(
        "destroyed", "the end of a stream", source, "cudaStreamDestroy() while the stream has work",
        "759, CUDA Streams: Clean Up Phase", run_destroyed,
        {{"cudaStreamDestroy() waits for all preceding commands in the stream to complete before returning control",
          "759, CUDA Streams: Clean Up Phase", on_timeline(returns_when_over)},
         {"all the work that was in it is done", "759, CUDA Streams: Clean Up Phase", streams_are_in_order()}});
}

} // namespace warpfold::ladder::streams
