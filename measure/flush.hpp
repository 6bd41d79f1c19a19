// SPDX-License-Identifier: MIT
// Empties the L2 cache of what a measurement is about to read, and leaves nothing in it that has to be written back.
#pragma once

#include <cstddef>

#include "measure/device.hpp"

namespace warpfold::measure {

class l2_flush {
public:
    // Takes a buffer of four times the cache, at least 64 MiB. Throws cuda_error where the memory is not there.
    explicit l2_flush(std::size_t l2_bytes);

    // Enqueues a kernel that reads the whole buffer: clean lines push out all others.
    void run(const stream& on);

private:
    device_memory read_;
    device_memory out_;
};

} // namespace warpfold::measure
