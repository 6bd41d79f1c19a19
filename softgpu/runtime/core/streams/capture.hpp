// SPDX-License-Identifier: MIT
// A stream capture sequence, from cudaStreamBeginCapture to cudaStreamEndCapture. What must not happen meanwhile is in
// capture_rules.hpp, the graph that it makes in graph/capture.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/runtime/abi/graph.hpp"

namespace softgpu::runtime {

struct capture {
    std::uint64_t id = 0;
    graph* into = nullptr;
    bool owns_graph = true; // false: the program has provided the graph
    capture_mode mode = capture_mode::global;
    std::uint64_t thread = 0; // that began it: host_thread::number()
    const stream* origin = nullptr;
    capture_status status = capture_status::active;
    std::vector<graph_node*> of_destroyed_streams; // what they have captured last
};

} // namespace softgpu::runtime
