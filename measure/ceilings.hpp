// SPDX-License-Identifier: MIT
// The device's best memory bandwidth, for reading and for copying. A share of a ceiling refers to the ceiling of the
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
// cuda_error, also if the memory is not available.
[[nodiscard]] ceilings measure_ceilings(const stream& on, timer& clock, unsigned multiprocessors, std::size_t bytes,
                                        const effort& how);

} // namespace warpfold::measure
