// SPDX-License-Identifier: MIT
// Events: marks in time on the host's steady clock.
#include "softgpu/runtime/event.hpp"

#include "softgpu/runtime/call.hpp"

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

void record(event* e, stream* on, unsigned flags) {
    context& gpu = context::current();
    locked lock(gpu.mutex());
    require(flags <= 1);
    gpu.must_be_alive();
    gpu.checked(on);
    gpu.checked(e);
    gpu.submit(lock, [&] { e->recorded = std::chrono::steady_clock::now(); });
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
    return call([&](context& gpu, locked&) {
        gpu.checked(e);
        gpu.synchronize();
    });
}

error cudaEventSynchronize(event* e) {
    return call([&](context& gpu, locked&) {
        gpu.checked(e);
        gpu.synchronize();
    });
}

error cudaEventElapsedTime(float* milliseconds, event* start, event* end) {
    return call([&](context& gpu, locked&) {
        require(milliseconds != nullptr);
        gpu.synchronize();
        const event& from = gpu.checked(start);
        const event& to = gpu.checked(end);
        require(((from.flags | to.flags) & event_disable_timing) == 0, error::invalid_resource_handle);
        require(from.recorded.has_value() && to.recorded.has_value(), error::invalid_resource_handle);
        *milliseconds = std::chrono::duration<float, std::milli>(*to.recorded - *from.recorded).count();
    });
}

decltype(cudaEventElapsedTime) cudaEventElapsedTime_v2 [[gnu::alias("cudaEventElapsedTime")]]; // of CUDA 12.8
decltype(cudaEventRecord) cudaEventRecord_ptsz [[gnu::alias("cudaEventRecord")]];
decltype(cudaEventRecordWithFlags) cudaEventRecordWithFlags_ptsz [[gnu::alias("cudaEventRecordWithFlags")]];

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
