// SPDX-License-Identifier: MIT
// What an event handle points to.
#pragma once

#include "softgpu/runtime/operation.hpp"

namespace softgpu::runtime {

inline constexpr unsigned event_blocking_sync = 1;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned event_interprocess = 4;

struct event {
    unsigned flags = 0;
    operation_pointer recorded{}; // over when all work issued before it has run; nullptr: never recorded
};

} // namespace softgpu::runtime
