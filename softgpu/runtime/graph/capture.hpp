// SPDX-License-Identifier: MIT
// Stream capture as the other calls see it: they put a node into the graph instead of issuing an operation, or are not
// allowed at all.
#pragma once

#include "softgpu/runtime/core/context.hpp"

namespace softgpu::runtime {

// Whether the stream is capturing. Throws stream_capture_invalidated where that has failed already.
[[nodiscard]] bool is_capturing(const stream& on);
// A node at the stream's end.
graph_node& capture_node(context& gpu, stream& on, node_type type);
void capture_copy(context& gpu, stream& on, const copy_3d& what);

// For what cannot be captured: throws stream_capture_unsupported where the stream is capturing, and
// stream_capture_implicit where it is the legacy one and a stream is that it would wait for. Such a capture has failed.
void require_not_capturing(context& gpu, const stream& on);
// For calls that CUDA calls potentially unsafe: throws stream_capture_unsupported as the modes of the captures and of this
// thread have it. Such captures have failed.
void require_safe(context& gpu);
// For calls that wait for everything.
void require_no_capture(context& gpu);
// Throws captured_event.
void require_uncaptured(const event& e);

void record_event(context& gpu, event& e, stream& on, unsigned flags);
void wait_for_event(context& gpu, stream& on, event& e, unsigned flags);
// A stream is about to be destroyed. Invalidates its capture unless it is a branch that the origin has joined.
void leave_capture(stream& s);

} // namespace softgpu::runtime
