// SPDX-License-Identifier: MIT
// Events: marks in time on the host's steady clock.
#include "softgpu/runtime/core/event.hpp"

#include <chrono>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/graph/capture.hpp"
#include "softgpu/runtime/core/executor.hpp"

namespace softgpu::runtime {
namespace {

void create(event** out, unsigned flags) {
    context& gpu = context::current();
    const locked lock(gpu.mutex());
    require(out != nullptr && (flags & ~(event_blocking_sync | event_disable_timing | event_interprocess)) == 0);
    require((flags & event_interprocess) == 0 || (flags & event_disable_timing) != 0);
    gpu.must_be_alive();
    auto made = std::make_unique<event>();
    made->flags = flags;
    *out = made.get();
    gpu.state().events.insert(std::move(made));
}

void record(event* e, stream* handle, unsigned flags) {
    context& gpu = context::current();
    const locked lock(gpu.mutex());
    require(flags <= 1);
    gpu.must_be_alive();
    stream& on = gpu.checked(handle);
    record_event(gpu, gpu.checked(e), on, flags);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaEventCreate(event** out) {
    return call([&] { create(out, 0); });
}

error cudaEventCreateWithFlags(event** out, unsigned flags) {
    return call([&] { create(out, flags); });
}

error cudaEventDestroy(event* e) {
    return call([&](context& gpu, locked&) {
        gpu.must_be_alive();
        const auto at = gpu.state().events.find(e);
        require(at != gpu.state().events.end(), error::invalid_resource_handle);
        gpu.state().events.erase(at);
    });
}

error cudaEventRecord(event* e, stream* on) {
    return call([&] { record(e, on, 0); });
}

error cudaEventRecordWithFlags(event* e, stream* on, unsigned flags) {
    return call([&] { record(e, on, flags); });
}

error cudaEventQuery(event* e) {
    return call([&](context& gpu, locked& lock) {
        require_safe(gpu);
        require_uncaptured(gpu.checked(e));
        const operation_pointer what = gpu.checked(e).recorded;
        lock.unlock();
        const bool done = executor::instance().is_done(what);
        lock.lock();
        if (done || gpu.poisoned()) {
            gpu.bring_to_light(lock);
        }
        require(done, error::not_ready);
    });
}

error cudaEventSynchronize(event* e) {
    return call([&](context& gpu, locked& lock) {
        require_safe(gpu);
        require_uncaptured(gpu.checked(e));
        gpu.wait(lock, operation_pointer(gpu.checked(e).recorded));
    });
}

error cudaEventElapsedTime(float* milliseconds, event* start, event* end) {
    return call([&](context& gpu, locked& lock) {
        require(milliseconds != nullptr);
        gpu.must_be_alive();
        const event& from = gpu.checked(start);
        const event& to = gpu.checked(end);
        require(((from.flags | to.flags) & event_disable_timing) == 0, error::invalid_resource_handle);
        require_uncaptured(from);
        require_uncaptured(to);
        const operation_pointer first = from.recorded;
        const operation_pointer second = to.recorded;
        require(first != nullptr && second != nullptr, error::invalid_resource_handle);
        const auto first_at = executor::instance().finished(first);
        const auto second_at = executor::instance().finished(second);
        if ((first_at && second_at) || gpu.poisoned()) {
            gpu.bring_to_light(lock);
        }
        require(first_at && second_at, error::not_ready);
        // They are over, and now the host knows.
        (void)executor::instance().is_done(first);
        (void)executor::instance().is_done(second);
        *milliseconds = std::chrono::duration<float, std::milli>(*second_at - *first_at).count();
    });
}

error cudaEventRecord_ptsz(event* e, stream* on) {
    return call([&] { record(e, of_this_thread(on), 0); });
}

error cudaEventRecordWithFlags_ptsz(event* e, stream* on, unsigned flags) {
    return call([&] { record(e, of_this_thread(on), flags); });
}

decltype(cudaEventElapsedTime) cudaEventElapsedTime_v2 [[gnu::alias("cudaEventElapsedTime")]]; // of CUDA 12.8

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
