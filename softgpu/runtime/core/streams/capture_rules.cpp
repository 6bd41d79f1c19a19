// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/streams/capture_rules.hpp"

#include <utility>

#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/host_thread.hpp"

namespace softgpu::runtime {
namespace {

thread_local capture_mode this_threads_mode = capture_mode::global;

} // namespace

void invalidate(capture& c, error why) {
    c.status = capture_status::invalidated;
    fail(why);
}

bool is_capturing(const stream& on) {
    require(on.capturing == nullptr || on.capturing->status == capture_status::active,
            error::stream_capture_invalidated);
    return on.capturing != nullptr;
}

std::shared_ptr<capture> capture_of_blocking_streams(stream_table& streams) {
    std::shared_ptr<capture> found;
    streams.for_each_capturable([&](const stream& s) {
        if (s.capturing != nullptr && s.blocking()) {
            found = s.capturing;
        }
    });
    return found;
}

void require_not_capturing(stream_table& streams, const stream& on) {
    if (on.capturing != nullptr) {
        invalidate(*on.capturing, error::stream_capture_unsupported);
    }
    if (&on == &streams.legacy() && !streams.captures.empty()) {
        if (const auto c = capture_of_blocking_streams(streams)) {
            invalidate(*c, error::stream_capture_implicit);
        }
    }
}

void require_safe(const stream_table& streams) {
    if (this_threads_mode == capture_mode::relaxed) {
        return;
    }
    for (const auto& c : streams.captures) {
        const bool own = c->thread == host_thread::number();
        const bool forbids = c->mode == capture_mode::global ? own || this_threads_mode == capture_mode::global
                                                             : c->mode == capture_mode::this_thread && own;
        if (forbids) {
            invalidate(*c, error::stream_capture_unsupported);
        }
    }
}

void require_no_capture(const stream_table& streams) {
    if (!streams.captures.empty()) {
        for (const auto& c : streams.captures) {
            c->status = capture_status::invalidated;
        }
        fail(error::stream_capture_unsupported);
    }
}

void require_uncaptured(const event& e) {
    if (e.captured != nullptr) {
        if (e.captured->status == capture_status::active) {
            e.captured->status = capture_status::invalidated;
        }
        fail(error::captured_event);
    }
}

capture_mode exchange_capture_mode(capture_mode mode) noexcept { return std::exchange(this_threads_mode, mode); }

} // namespace softgpu::runtime
