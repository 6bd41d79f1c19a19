// SPDX-License-Identifier: MIT
// What an event handle points to.
#pragma once

#include <memory>
#include <vector>

#include "softgpu/runtime/core/operation.hpp"

namespace softgpu::runtime {

inline constexpr unsigned event_blocking_sync = 1;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned event_interprocess = 4;

struct capture;
struct graph_node;

struct event {
    unsigned flags = 0;
    operation_pointer recorded{}; // over when all work issued before it has run; nullptr: never recorded
    std::shared_ptr<capture> captured{};       // it was last recorded in a stream that was capturing
    std::vector<graph_node*> captured_nodes{}; // after these
};

} // namespace softgpu::runtime
