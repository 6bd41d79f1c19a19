// SPDX-License-Identifier: MIT
// Memory that short calls use again, instead of allocating, clearing and freeing some in each.
#pragma once

#include <cstddef>
#include <mutex>

#include "warpfold/gpu/core/target.hpp"

namespace warpfold::python::on_gpu {

// A target with the workspace of its stream while a call enqueues its kernels. Without one if the call needs more `bytes` than
// the 4 MiB that it has, if the stream is being captured (a graph runs later, beside other calls), or if 8 other streams of the
// device already have one. The first call on a device allocates the workspaces. They are not freed.
class workspace_of_stream {
public:
    workspace_of_stream(const gpu& on, std::size_t bytes);
    workspace_of_stream(const workspace_of_stream&) = delete;
    workspace_of_stream& operator=(const workspace_of_stream&) = delete;

    [[nodiscard]] const gpu& target() const noexcept { return target_; }

private:
    // Of the workspace: kernels of other threads that use it come before or after those of this call.
    std::unique_lock<std::mutex> enqueue_lock_;
    gpu target_;
};

} // namespace warpfold::python::on_gpu
