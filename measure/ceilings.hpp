// SPDX-License-Identifier: MIT
// What the device's memory gives at best: reading only, and copying. Every share of a ceiling is of one measured in the
// same run.
#pragma once

#include <cstddef>

#include "measure/device.hpp"
#include "measure/timer.hpp"

namespace warpfold::measure {

struct ceilings {
    double read_gb_per_s = 0; // bytes read over seconds, 1e9 bytes a second
    double copy_gb_per_s = 0; // bytes read and written over seconds
    std::size_t bytes = 0;    // over how many they were measured
};

// Measures over `bytes` of fresh memory (the copy uses half of it to read and half to write), cold, medians. Throws
// cuda_error, also where the memory is not there.
[[nodiscard]] ceilings measure_ceilings(const stream& on, timer& clock, unsigned multiprocessors, std::size_t bytes,
                                        const effort& how);

} // namespace warpfold::measure
