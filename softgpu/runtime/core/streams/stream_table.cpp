// SPDX-License-Identifier: MIT
#include "softgpu/runtime/core/streams/stream_table.hpp"

#include "softgpu/runtime/core/executor.hpp"
#include "softgpu/runtime/core/failure.hpp"

namespace softgpu::runtime {

stream& stream_table::find(stream* handle) {
    if (is_legacy(handle)) {
        return legacy_;
    }
    if (is_default(handle)) {
        stream& own = of_threads_[std::this_thread::get_id()];
        own.id = per_thread_stream_id;
        return own;
    }
    require(created_.find(handle) != created_.end(), error::invalid_resource_handle);
    return *handle;
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
