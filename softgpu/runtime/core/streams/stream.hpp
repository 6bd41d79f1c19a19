// SPDX-License-Identifier: MIT
// The object behind a stream handle, and the handles of the default streams.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/core/operation.hpp"

namespace softgpu::runtime {

inline constexpr unsigned stream_non_blocking = 1;
inline constexpr int least_priority = 0;
inline constexpr int greatest_priority = -5;

struct capture;
struct graph_node;

struct stream {
    unsigned flags = 0;
    int priority = 0;
    std::uint64_t id = 0;
    launch_attribute_value window{}; // cudaStreamSetAttribute: stored, without an effect
    launch_attribute_value policy{};
    operation_pointer last{}; // the next operation runs after this one
    operation_pointer last_kernel{};
    std::uint64_t last_kernel_at = 0;          // context::synchronizations() when it was launched
    bool last_kernel_lets_start = false;       // a dependent launch behind it, before it has ended
    std::shared_ptr<capture> capturing{};      // not nullptr: operations become nodes of this capture's graph
    std::vector<graph_node*> capture_before{}; // the next node comes after these

    [[nodiscard]] bool blocking() const noexcept { return (flags & stream_non_blocking) == 0; }
};

inline constexpr std::uint64_t legacy_stream_id = 1;
inline constexpr std::uint64_t per_thread_stream_id = 2;

// Each thread's default stream has an id of its own: the thread's number (host_thread.hpp) above the 2. Other ids are small.
[[nodiscard]] constexpr std::uint64_t per_thread_stream_id_of(std::uint64_t thread) noexcept {
    return thread << 32 | per_thread_stream_id;
}
[[nodiscard]] constexpr bool is_per_thread_id(std::uint64_t id) noexcept {
    return (id & 0xFFFFFFFF) == per_thread_stream_id;
}

// The default streams' handles are numbers: 0 and 1 for the legacy one, 2 for the calling thread's own.
[[nodiscard]] inline bool is_default(const stream* s) noexcept { return reinterpret_cast<std::uintptr_t>(s) <= 2; }
[[nodiscard]] inline bool is_legacy(const stream* s) noexcept { return reinterpret_cast<std::uintptr_t>(s) <= 1; }

// The stream that a handle means to the calls whose names end in _ptsz: null is the calling thread's own default stream.
[[nodiscard]] inline stream* of_this_thread(stream* s) noexcept {
    return s == nullptr ? reinterpret_cast<stream*>(per_thread_stream_id) : s;
}

} // namespace softgpu::runtime
