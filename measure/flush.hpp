// SPDX-License-Identifier: MIT
// Evicts the data of a measurement from the L2 cache, and leaves no dirty lines in it.
#pragma once

#include <cstddef>

#include "measure/device.hpp"

namespace warpfold::measure {

class l2_flush {
public:
    // Allocates a buffer of four times the cache, at least 64 MiB. Throws cuda_error.
    explicit l2_flush(std::size_t l2_bytes);

    // Enqueues a kernel that reads the whole buffer: clean lines replace all others.
    void run(const stream& on);

private:
    device_memory read_;
    device_memory out_;
};

} // namespace warpfold::measure
