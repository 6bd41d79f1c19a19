// SPDX-License-Identifier: MIT
// Streams, their captures, and events.
#include "softgpu/runtime/calls/driver/driver_call.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"
#include "softgpu/runtime/calls/graph/captures.hpp"

namespace softgpu::runtime {
namespace {

result give_capture(stream* s, capture_status* status, unsigned long long* id, graph** into,
                    graph_node* const** dependencies, const edge_data** data, std::size_t* count) {
    return on_device(s, [&](context& gpu, locked&) {
        give_capture_information(gpu, s, status, id, into, dependencies, data, count);
    });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

result cuStreamCreate(stream** out, unsigned flags) {
    return forward(cudaStreamCreateWithPriority, out, flags, least_priority);
}

result cuStreamCreateWithPriority(stream** out, unsigned flags, int priority) {
    return forward(cudaStreamCreateWithPriority, out, flags, priority);
}

result cuStreamDestroy_v2(stream* s) { return forward(cudaStreamDestroy, s); }

result cuStreamDestroy(stream* s) { return cuStreamDestroy_v2(s); }

result cuStreamSynchronize(stream* s) { return forward(cudaStreamSynchronize, s); }

result cuStreamSynchronize_ptsz(stream* s) { return cuStreamSynchronize(of_this_thread(s)); }

result cuStreamQuery(stream* s) { return forward(cudaStreamQuery, s); }

result cuStreamQuery_ptsz(stream* s) { return cuStreamQuery(of_this_thread(s)); }

result cuStreamWaitEvent(stream* s, event* e, unsigned flags) { return forward(cudaStreamWaitEvent, s, e, flags); }

result cuStreamWaitEvent_ptsz(stream* s, event* e, unsigned flags) {
    return cuStreamWaitEvent(of_this_thread(s), e, flags);
}

result cuStreamAddCallback(stream* s, void (*run)(stream* on, error status, void* user), void* user, unsigned flags) {
    return forward(cudaStreamAddCallback, s, run, user, flags);
}

result cuStreamAddCallback_ptsz(stream* s, void (*run)(stream* on, error status, void* user), void* user,
                                unsigned flags) {
    return cuStreamAddCallback(of_this_thread(s), run, user, flags);
}

result cuStreamGetFlags(stream* s, unsigned* flags) { return forward(cudaStreamGetFlags, s, flags); }

result cuStreamGetPriority(stream* s, int* priority) { return forward(cudaStreamGetPriority, s, priority); }

result cuStreamGetId(stream* s, unsigned long long* id) { return forward(cudaStreamGetId, s, id); }

result cuStreamGetDevice(stream* s, int* device) { return forward(cudaStreamGetDevice, s, device); }

result cuStreamGetCtx(stream* s, driver_context** out) {
    return on_device(s, [&](context& gpu, locked&) {
        require(out != nullptr);
        (void)gpu.checked(s);
        *out = &gpu == &current_context() ? current_driver_context() : &primary_of(gpu.number());
    });
}

result cuStreamGetCtx_v2(stream* s, driver_context** out, void** green) {
    if (green != nullptr) {
        *green = nullptr;
    }
    return cuStreamGetCtx(s, out);
}

result cuStreamAttachMemAsync(stream* s, device_address at, std::size_t bytes, unsigned flags) {
    return forward(cudaStreamAttachMemAsync, s, pointer_to(at), bytes, flags);
}

result cuStreamCopyAttributes(stream* to, stream* from) { return forward(cudaStreamCopyAttributes, to, from); }

result cuStreamGetAttribute(stream* s, launch_attribute_id which, launch_attribute_value* value) {
    return forward(cudaStreamGetAttribute, s, which, value);
}

result cuStreamSetAttribute(stream* s, launch_attribute_id which, const launch_attribute_value* value) {
    return forward(cudaStreamSetAttribute, s, which, value);
}

result cuStreamBeginCapture(stream* s) { return forward(cudaStreamBeginCapture, s, capture_mode::global); }

result cuStreamBeginCapture_v2(stream* s, capture_mode mode) { return forward(cudaStreamBeginCapture, s, mode); }

result cuStreamBeginCapture_v2_ptsz(stream* s, capture_mode mode) {
    return cuStreamBeginCapture_v2(of_this_thread(s), mode);
}

result cuStreamBeginCaptureToGraph(stream* s, graph* into, graph_node* const* before, const edge_data* data,
                                   std::size_t count, capture_mode mode) {
    return forward(cudaStreamBeginCaptureToGraph, s, into, before, data, count, mode);
}

result cuStreamEndCapture(stream* s, graph** out) { return forward(cudaStreamEndCapture, s, out); }

result cuStreamEndCapture_ptsz(stream* s, graph** out) { return cuStreamEndCapture(of_this_thread(s), out); }

result cuStreamIsCapturing(stream* s, capture_status* status) { return forward(cudaStreamIsCapturing, s, status); }

result cuStreamIsCapturing_ptsz(stream* s, capture_status* status) {
    return cuStreamIsCapturing(of_this_thread(s), status);
}

result cuStreamGetCaptureInfo(stream* s, capture_status* status, unsigned long long* id) {
    return give_capture(s, status, id, nullptr, nullptr, nullptr, nullptr);
}

result cuStreamGetCaptureInfo_v2(stream* s, capture_status* status, unsigned long long* id, graph** into,
                                 graph_node* const** dependencies, std::size_t* count) {
    return give_capture(s, status, id, into, dependencies, nullptr, count);
}

result cuStreamGetCaptureInfo_v3(stream* s, capture_status* status, unsigned long long* id, graph** into,
                                 graph_node* const** dependencies, const edge_data** data, std::size_t* count) {
    return give_capture(s, status, id, into, dependencies, data, count);
}

result cuStreamUpdateCaptureDependencies_v2(stream* s, graph_node* const* nodes, const edge_data*, std::size_t count,
                                            unsigned flags) {
    return on_device(s, [&](context& gpu, locked&) { update_capture_dependencies(gpu, s, nodes, count, flags); });
}

result cuStreamUpdateCaptureDependencies(stream* s, graph_node* const* nodes, std::size_t count, unsigned flags) {
    return cuStreamUpdateCaptureDependencies_v2(s, nodes, nullptr, count, flags);
}

result cuThreadExchangeStreamCaptureMode(capture_mode* mode) {
    return without_context([&] { return cudaThreadExchangeStreamCaptureMode(mode); });
}

result cuEventCreate(event** out, unsigned flags) { return forward(cudaEventCreateWithFlags, out, flags); }

result cuEventDestroy_v2(event* e) { return forward(cudaEventDestroy, e); }

result cuEventDestroy(event* e) { return cuEventDestroy_v2(e); }

result cuEventRecord(event* e, stream* on) { return forward(cudaEventRecordWithFlags, e, on, 0u); }

result cuEventRecord_ptsz(event* e, stream* on) { return cuEventRecord(e, of_this_thread(on)); }

result cuEventRecordWithFlags(event* e, stream* on, unsigned flags) {
    return forward(cudaEventRecordWithFlags, e, on, flags);
}

result cuEventRecordWithFlags_ptsz(event* e, stream* on, unsigned flags) {
    return cuEventRecordWithFlags(e, of_this_thread(on), flags);
}

result cuEventQuery(event* e) { return forward(cudaEventQuery, e); }

result cuEventSynchronize(event* e) { return forward(cudaEventSynchronize, e); }

result cuEventElapsedTime(float* milliseconds, event* start, event* end) {
    return forward(cudaEventElapsedTime, milliseconds, start, end);
}

result cuEventElapsedTime_v2(float* milliseconds, event* start, event* end) {
    return forward(cudaEventElapsedTime, milliseconds, start, end);
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
