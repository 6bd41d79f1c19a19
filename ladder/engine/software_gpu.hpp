// SPDX-License-Identifier: MIT
// Whether the CUDA runtime of this process is the software GPU's, and its records of launches and operations.
#pragma once

#include <vector>

#include "softgpu/observe/launch_record.hpp"
#include "softgpu/observe/timeline_model.hpp"

namespace warpfold::ladder {

[[nodiscard]] bool on_software_gpu();

// Adds every launch of this process to `to` while it lives; nullptr: does nothing.
class launch_watch {
public:
    explicit launch_watch(std::vector<softgpu::observe::launch_record>* to);
    launch_watch(const launch_watch&) = delete;
    launch_watch& operator=(const launch_watch&) = delete;
    ~launch_watch();

private:
    bool watching_ = false;
};

// Adds every operation that is issued to the runtime to `to` while it lives; the operations are complete afterwards. nullptr:
// does nothing.
class operation_watch {
public:
    explicit operation_watch(softgpu::observe::operation_log* to);
    operation_watch(const operation_watch&) = delete;
    operation_watch& operator=(const operation_watch&) = delete;
    ~operation_watch();

private:
    bool watching_ = false;
};

// The cards that the software GPU was told to predict, with the seconds of the operations that were watched last.
[[nodiscard]] std::vector<softgpu::observe::predicted_machine> predicted_machines();

} // namespace warpfold::ladder
