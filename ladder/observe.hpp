// SPDX-License-Identifier: MIT
// Whether the CUDA runtime of this process is the software GPU's, and what it saw of our launches.
#pragma once

#include <vector>

#include "softgpu/observe/launch_record.hpp"

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

} // namespace warpfold::ladder
