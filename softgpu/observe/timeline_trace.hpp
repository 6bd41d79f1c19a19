// SPDX-License-Identifier: MIT
// Timelines in the trace event format, which Perfetto and chrome://tracing open.
#pragma once

#include <span>
#include <string>

#include "softgpu/observe/timeline.hpp"

namespace softgpu::observe {

struct traced {
    std::string name;
    const timeline* what = nullptr;
};

// {"traceEvents":[...],"displayTimeUnit":"ns","otherData":{...}}. Every timeline is two processes: its engines and its streams,
// a thread for each; every operation a complete event (ph X, ts and dur in microseconds) in both, with args: engine,
// stream, issued_us, bytes and pageable of a copy, and after: the operations (by args.operation) that it waited for.
[[nodiscard]] std::string trace_of(std::span<const traced> timelines);

// The file appears whole or not at all. Throws std::runtime_error with the path and the reason where it cannot be written.
// Not `finished`: more may come, and "unfinished":true says so.
void write_trace(const std::string& path, std::span<const traced> timelines, bool finished = true);

} // namespace softgpu::observe
