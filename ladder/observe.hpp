// SPDX-License-Identifier: MIT
// Whether the CUDA runtime of this process is the software GPU's, and what it saw of our launches.
#pragma once

#include <vector>

#include "softgpu/observe/launch_record.hpp"
#include "softgpu/observe/timeline.hpp"

namespace warpfold::ladder {

[[nodiscard]] bool on_software_gpu();

// While it lives, every launch of this process is added to `to`; nullptr: nothing is watched.
class launch_watch {
public:
    explicit launch_watch(std::vector<softgpu::observe::launch_record>* to);
    launch_watch(const launch_watch&) = delete;
    launch_watch& operator=(const launch_watch&) = delete;
    ~launch_watch();

private:
    bool watching_ = false;
};

// While it lives, every operation that the runtime is asked for is added to `to`, and is complete afterwards; nullptr: nothing
// is watched.
class operation_watch {
public:
    explicit operation_watch(softgpu::observe::operation_log* to);
    operation_watch(const operation_watch&) = delete;
    operation_watch& operator=(const operation_watch&) = delete;
    ~operation_watch();

private:
    bool watching_ = false;
};

} // namespace warpfold::ladder
