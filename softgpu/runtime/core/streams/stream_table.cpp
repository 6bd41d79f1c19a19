// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/streams/stream_table.hpp"

#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/core/failure.hpp"
#include "softgpu/runtime/core/host_thread.hpp"

namespace softgpu::runtime {

stream& stream_table::find(stream* handle) {
    if (is_legacy(handle)) {
        return legacy_;
    }
    if (is_default(handle)) {
        return default_of_thread();
    }
    require(created_.find(handle) != created_.end(), error::invalid_resource_handle);
    return *handle;
}

stream& stream_table::default_of_thread() {
    const std::uint64_t thread = host_thread::number();
    const auto found = of_threads_.find(thread);
    if (found != of_threads_.end()) {
        return found->second;
    }
    std::erase_if(of_threads_, [](const auto& one) {
        const stream& s = one.second;
        return host_thread::has_ended(one.first) && s.capturing == nullptr &&
               (s.last == nullptr || executor::instance().finished(s.last).has_value());
    });
    stream& own = of_threads_[thread];
    own.id = per_thread_stream_id_of(thread);
    return own;
}

void stream_table::remove(stream* handle) {
    const auto at = created_.find(handle);
    require(at != created_.end(), error::invalid_resource_handle);
    if (handle->blocking() && handle->last != nullptr) {
        std::erase_if(of_removed_,
                      [](const operation_pointer& o) { return executor::instance().finished(o).has_value(); });
        of_removed_.push_back(handle->last);
    }
    created_.erase(at);
}

std::vector<operation_pointer> stream_table::before(const stream& on) const {
    std::vector<operation_pointer> found{on.last};
    if (&on == &legacy_) {
        for (const auto& [thread, s] : of_threads_) {
            found.push_back(s.last);
        }
        for (const auto& s : created_) {
            if (s->blocking()) {
                found.push_back(s->last);
            }
        }
        found.insert(found.end(), of_removed_.begin(), of_removed_.end());
    } else if (on.blocking()) {
        found.push_back(legacy_.last);
    }
    return found;
}

std::vector<operation_pointer> stream_table::last_operations() const {
    std::vector<operation_pointer> found{legacy_.last};
    for (const auto& [thread, s] : of_threads_) {
        found.push_back(s.last);
    }
    for (const auto& s : created_) {
        found.push_back(s->last);
    }
    found.insert(found.end(), of_removed_.begin(), of_removed_.end());
    return found;
}

void stream_table::appended(const stream& on) {
    if (&on == &legacy_) {
        of_removed_.clear(); // the new operation comes after them and before all that follows
    }
}

} // namespace softgpu::runtime
