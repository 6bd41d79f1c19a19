// SPDX-License-Identifier: MIT
// All streams of a device memory, and the order between the legacy default stream and the others.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "softgpu/runtime/core/handle_set.hpp"
#include "softgpu/runtime/core/streams/capture.hpp"
#include "softgpu/runtime/core/streams/stream.hpp"

namespace softgpu::runtime {

// Guarded by the context's lock.
class stream_table {
public:
    [[nodiscard]] stream& legacy() noexcept { return legacy_; }
    // The stream of a handle, default streams included. Throws invalid_resource_handle for an unknown handle.
    stream& find(stream* handle);
    // Whether it is a stream of add().
    [[nodiscard]] bool contains(const stream* handle) const { return created_.contains(handle); }

    stream& add(std::unique_ptr<stream> made) { return **created_.insert(std::move(made)).first; }
    // Only for streams of add(), else throws invalid_resource_handle. Work that was issued continues.
    void remove(stream* handle);

    // The operations that come before the next one of a stream: its last operation and, between the legacy default stream
    // and the blocking streams, each other's.
    [[nodiscard]] std::vector<operation_pointer> before(const stream& on) const;
    // The last operations of all streams, of removed ones too.
    [[nodiscard]] std::vector<operation_pointer> last_operations() const;
    // An operation was put at the end of this stream.
    void appended(const stream& on);

    // Captures that have begun and not ended.
    std::vector<std::shared_ptr<capture>> captures;

    // act(stream&) for every stream that can capture: all but the legacy default stream.
    template <class Act>
    void for_each_capturable(Act&& act) {
        for (auto& [thread, s] : of_threads_) {
            act(s);
        }
        for (const auto& s : created_) {
            act(*s);
        }
    }

private:
    // Forgets those of ended threads that have nothing left to do.
    stream& default_of_thread();

    stream legacy_{.id = legacy_stream_id};
    std::unordered_map<std::uint64_t, stream> of_threads_; // each thread's default stream, by host_thread::number()
    handle_set<stream> created_;
    std::vector<operation_pointer> of_removed_; // unfinished work of removed blocking streams
};

} // namespace softgpu::runtime
