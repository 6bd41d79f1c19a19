// SPDX-License-Identifier: MIT
// Stream capture.
#include "softgpu/runtime/calls/graph/captures.hpp"
#include "softgpu/runtime/calls/call.hpp"
#include "softgpu/runtime/core/streams/capture.hpp"
#include "softgpu/runtime/core/streams/capture_rules.hpp"

namespace softgpu::runtime {
namespace {

error end_call(stream* handle, graph** out) {
    return call(handle, [&](context& gpu, locked&) {
        gpu.require_usable();
        stream& s = gpu.checked(handle);
        const bool into_given_graph = s.capturing != nullptr && !s.capturing->owns_graph;
        require(out != nullptr ||
                into_given_graph); // as NVIDIA's samples of conditional nodes end captures into their bodies
        if (out != nullptr) {
            *out = nullptr;
        }
        graph* const made = end_capture(gpu, s);
        if (out != nullptr) {
            *out = made;
        }
    });
}

} // namespace

void give_capture_information(context& gpu, stream* s, capture_status* status, unsigned long long* id, graph** into,
                              graph_node* const** dependencies, const edge_data** data, std::size_t* count) {
    require(status != nullptr);
    const capture_information known = capture_information_of(gpu, s);
    *status = known.status;
    if (known.status != capture_status::active) {
        return;
    }
    if (id != nullptr) {
        *id = known.id;
    }
    if (into != nullptr) {
        *into = known.graph;
    }
    if (dependencies != nullptr) {
        *dependencies = known.dependencies;
    }
    if (data != nullptr) {
        *data = known.data;
    }
    if (count != nullptr) {
        *count = known.count;
    }
}

#pragma GCC visibility push(default)
extern "C" {

error cudaStreamBeginCapture(stream* s, capture_mode mode) {
    return call(s, [&](context& gpu, locked&) { begin_capture(gpu, s, nullptr, nullptr, 0, mode); });
}

error cudaStreamBeginCapture_ptsz(stream* s, capture_mode mode) {
    return cudaStreamBeginCapture(of_this_thread(s), mode);
}

error cudaStreamBeginCaptureToGraph(stream* s, graph* into, graph_node* const* before, const edge_data*,
                                    std::size_t count, capture_mode mode) {
    return call(s, [&](context& gpu, locked&) {
        require(into != nullptr);
        begin_capture(gpu, s, into, before, count, mode);
    });
}

error cudaStreamBeginCaptureToGraph_ptsz(stream* s, graph* into, graph_node* const* before, const edge_data* data,
                                         std::size_t count, capture_mode mode) {
    return cudaStreamBeginCaptureToGraph(of_this_thread(s), into, before, data, count, mode);
}

error cudaStreamEndCapture(stream* s, graph** out) { return end_call(s, out); }

error cudaStreamEndCapture_ptsz(stream* s, graph** out) { return end_call(of_this_thread(s), out); }

error cudaStreamIsCapturing(stream* s, capture_status* status) {
    return call(s, [&](context& gpu, locked&) {
        require(status != nullptr);
        *status = capture_information_of(gpu, s).status;
    });
}

error cudaStreamIsCapturing_ptsz(stream* s, capture_status* status) {
    return cudaStreamIsCapturing(of_this_thread(s), status);
}

error cudaThreadExchangeStreamCaptureMode(capture_mode* mode) {
    return call([&] {
        require(mode != nullptr && *mode >= capture_mode::global && *mode <= capture_mode::relaxed);
        *mode = exchange_capture_mode(*mode);
    });
}

} // extern "C"
#pragma GCC visibility pop

} // namespace softgpu::runtime
