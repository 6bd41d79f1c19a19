// SPDX-License-Identifier: MIT
// The GPUs that the driver of this machine reports. The driver's library is looked up at run time: the command needs no
// CUDA.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpfold::tool {

struct gpu {
    std::string name;
    int compute_major = 0;
    int compute_minor = 0;
    int multiprocessors = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t l2_bytes = 0;
};

struct driver_report {
    std::vector<gpu> gpus;
    std::string cuda_version; // the newest that the driver knows, "13.0"; empty without a driver
    std::string why_none;     // why `gpus` is empty
};

// Asks once; later calls return the same.
[[nodiscard]] const driver_report& installed_gpus();

} // namespace warpfold::tool
