// SPDX-License-Identifier: MIT
// Properties of the current device.
#pragma once

#include <cstdint>
#include <string>

namespace warpfold::measure {

struct device_facts {
    std::string name;
    int compute_major = 0, compute_minor = 0;
    unsigned multiprocessors = 0;
    unsigned threads_per_block = 0;
    unsigned threads_per_multiprocessor = 0;
    unsigned blocks_per_multiprocessor = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t l2_bytes = 0;
    std::string driver, runtime; // "13.0"; "unknown" where the runtime does not say
};

// Throws cuda_error if there is no device.
[[nodiscard]] device_facts current_device();

// Blocks of `threads` that the whole device holds at once, by its limits on threads and blocks.
[[nodiscard]] unsigned resident_blocks(const device_facts& device, unsigned threads);

} // namespace warpfold::measure
