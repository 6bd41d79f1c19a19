// SPDX-License-Identifier: MIT
// Stream capture: work that is put into a capturing stream becomes nodes of a graph. What must not be called meanwhile is in
// core/streams/capture_rules.hpp.
#pragma once

#include <cstddef>

#include "softgpu/runtime/graph/graph.hpp"

namespace softgpu::runtime {

// Begins a capture; into: nullptr for a new graph, else new nodes come after `before`. Throws failure.
void begin_capture(context& gpu, stream* handle, graph* into, graph_node* const* before, std::size_t count,
                   capture_mode mode);
// Ends it and returns the graph. Throws if the capture has failed; a graph that the capture has made is destroyed then.
graph* end_capture(context& gpu, stream& s);

// Adds a node at the end of a capturing stream. `after_kernel`: of its edge, if that is one and comes from a
// kernel.
graph_node& capture_node(context& gpu, stream& on, node_type type, edge_data after_kernel = {});
void capture_copy(context& gpu, stream& on, const copy_3d& what);

// cudaEventRecord and cudaStreamWaitEvent, for streams that are capturing or not.
void record_event(context& gpu, event& e, stream& on, unsigned flags);
void wait_for_event(context& gpu, stream& on, event& e, unsigned flags);
// The stream is about to be destroyed. A capture that began on it ends without a graph; another one goes on, and its origin
// has to join what the stream has captured (seen on an H100).
void leave_capture(context& gpu, stream& s);

struct capture_information {
    capture_status status{};
    unsigned long long id = 0;
    runtime::graph* graph = nullptr;
    graph_node* const* dependencies = nullptr;
    const edge_data* data = nullptr;
    std::size_t count = 0;
};

// These throw failure.
capture_information capture_information_of(context& gpu, stream* s);
void update_capture_dependencies(context& gpu, stream* s, graph_node* const* nodes, std::size_t count, unsigned flags);

} // namespace softgpu::runtime
