// SPDX-License-Identifier: MIT
// What stream capture forbids. A forbidden call throws and invalidates the capture: it can only be ended then.
#pragma once

#include <memory>

#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/core/streams/event.hpp"
#include "softgpu/runtime/core/streams/stream_table.hpp"

namespace softgpu::runtime {

// Invalidates the capture and throws `why`.
[[noreturn]] void invalidate(capture& c, error why);
// Whether the stream is capturing. Throws stream_capture_invalidated if its capture is invalidated.
[[nodiscard]] bool is_capturing(const stream& on);
// The capture of a stream that the legacy default stream would wait for; nullptr: none.
[[nodiscard]] std::shared_ptr<capture> capture_of_blocking_streams(stream_table& streams);

// For operations that cannot be captured. Throws stream_capture_unsupported if the stream is capturing, and
// stream_capture_implicit if it is the legacy default stream and a blocking stream is capturing.
void require_not_capturing(stream_table& streams, const stream& on);
// For calls that CUDA calls potentially unsafe. Throws stream_capture_unsupported if the mode of a capture and the mode of
// this thread forbid them.
void require_safe(const stream_table& streams);
// For calls that wait for the whole device. Throws stream_capture_unsupported if any capture is under way.
void require_no_capture(const stream_table& streams);
// Throws captured_event if the event was last recorded in a capture.
void require_uncaptured(const event& e);

// Sets the calling thread's capture mode and returns the previous one (cudaThreadExchangeStreamCaptureMode).
capture_mode exchange_capture_mode(capture_mode mode) noexcept;

} // namespace softgpu::runtime
