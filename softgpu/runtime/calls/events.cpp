// SPDX-License-Identifier: MIT
// Events. Their times are those of the host's steady clock.
#include <chrono>

#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"
#include "softgpu/runtime/graph/capture.hpp"

namespace softgpu::runtime {
namespace {

error create(event** out, unsigned flags) {
    return call([&](context& gpu, locked&) {
        require(out != nullptr && (flags & ~(event_blocking_sync | event_disable_timing | event_interprocess)) == 0);
        require((flags & event_interprocess) == 0 || (flags & event_disable_timing) != 0);
        gpu.require_usable();
        auto made = std::make_unique<event>();
        made->flags = flags;
        if ((flags & event_interprocess) != 0) {
            made->shared = std::make_shared<shared_event>();
        }
        *out = made.get();
        gpu.state().events.insert(std::move(made));
    });
}

error record(event* e, stream* handle, unsigned flags) {
    return call(handle, [&](context& gpu, locked&) {
        require(flags <= 1);
        gpu.require_usable();
        stream& on = gpu.checked(handle);
        record_event(gpu, gpu.checked(e), on, flags);
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

error cudaEventCreate(event** out) { return create(out, 0); }

error cudaEventCreateWithFlags(event** out, unsigned flags) { return create(out, flags); }

error cudaEventDestroy(event* e) {
    return call(e, [&](context& gpu, locked&) {
        gpu.require_usable();
        const auto at = gpu.state().events.find(e);
        require(at != gpu.state().events.end(), error::invalid_resource_handle);
        gpu.state().events.erase(at);
    });
}

error cudaEventRecord(event* e, stream* on) { return record(e, on, 0); }

error cudaEventRecordWithFlags(event* e, stream* on, unsigned flags) { return record(e, on, flags); }

error cudaEventQuery(event* e) {
    return call(e, [&](context& gpu, locked& lock) {
        require_safe(gpu);
        require_uncaptured(gpu.checked(e));
        gpu.require_done(lock, operation_pointer(gpu.record_of(gpu.checked(e))));
    });
}

error cudaEventSynchronize(event* e) {
    return call(e, [&](context& gpu, locked& lock) {
        require_safe(gpu);
        require_uncaptured(gpu.checked(e));
        gpu.wait(lock, operation_pointer(gpu.record_of(gpu.checked(e))));
    });
}

error cudaEventElapsedTime(float* milliseconds, event* start, event* end) {
    return call(start, [&](context& gpu, locked& lock) {
        require(milliseconds != nullptr);
        gpu.require_usable();
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
        if ((first_at && second_at) || gpu.has_failed()) {
            gpu.finish_synchronization(lock);
        }
        require(first_at && second_at, error::not_ready);
        // Tells the observers that the host has waited for them.
        (void)executor::instance().is_done(first);
        (void)executor::instance().is_done(second);
        *milliseconds = std::chrono::duration<float, std::milli>(*second_at - *first_at).count();
    });
}

error cudaEventRecord_ptsz(event* e, stream* on) { return record(e, of_this_thread(on), 0); }

error cudaEventRecordWithFlags_ptsz(event* e, stream* on, unsigned flags) {
    return record(e, of_this_thread(on), flags);
}

decltype(cudaEventElapsedTime) cudaEventElapsedTime_v2 [[gnu::alias("cudaEventElapsedTime")]]; // of CUDA 12.8

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
