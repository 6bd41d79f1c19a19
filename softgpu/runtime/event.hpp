// SPDX-License-Identifier: MIT
// What an event handle points to.
#pragma once

#include <chrono>
#include <optional>

namespace softgpu::runtime {

inline constexpr unsigned event_blocking_sync = 1;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned event_interprocess = 4;

struct event {
    unsigned flags = 0;
    std::optional<std::chrono::steady_clock::time_point> recorded; // when all work issued before it had run
};

} // namespace softgpu::runtime
