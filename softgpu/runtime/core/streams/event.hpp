// SPDX-License-Identifier: MIT
// The object behind an event handle.
#pragma once

#include <memory>
#include <vector>

#include "softgpu/runtime/core/operation.hpp"
#include "softgpu/runtime/core/streams/shared_event.hpp"

namespace softgpu::runtime {

inline constexpr unsigned event_blocking_sync = 1;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned event_interprocess = 4;

struct capture;
struct graph_node;

struct event {
    unsigned flags = 0;
    operation_pointer recorded{};           // a mark after all work issued before the record; nullptr: never recorded
    std::shared_ptr<shared_event> shared{}; // with event_interprocess
    std::uint64_t shared_record = 0;        // the record of `shared` that `recorded` stands for
    std::shared_ptr<capture> captured{};    // the capture of the stream that it was last recorded in, if any
    std::vector<graph_node*> captured_nodes{}; // the nodes that come before the record in that capture
};

} // namespace softgpu::runtime
