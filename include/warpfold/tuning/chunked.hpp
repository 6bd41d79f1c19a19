// SPDX-License-Identifier: MIT
// In which portions chunked calls move data through a target that does not hold all of them. All values are run-time
// ones; chunked_options carries another policy. Measured on an H100 and its host (docs/results/library/chunked-h100.md);
// not measured elsewhere.
//
// chunk_bytes decides where chunks begin, and so the bits of chunked_reduce's floating-point sums on a GPU; the host's
// and all other results do not depend on it. No other field changes a bit.
#pragma once

#include <cstddef>

#include "warpfold/tuning/policy.hpp"

namespace warpfold::tuning {

struct chunked_policy {
    std::size_t chunk_bytes = std::size_t{8} << 20;   // copied, and worked on, at a time
    std::size_t piece_bytes = std::size_t{256} << 10; // that one thread of the host reads or writes at a time
    unsigned host_buffers = 6;                        // chunks in the host's memory, at least 3
    unsigned device_buffers = 3;                      // chunks in the device's memory, at least 2
    unsigned max_host_threads = 16;                   // that read and write together; no more than the machine has

    // Throws invalid_argument where a value cannot work.
    constexpr void check() const {
        check_field("chunked_policy: chunk_bytes", chunk_bytes, 1);
        check_field("chunked_policy: piece_bytes", piece_bytes, 1);
        check_field("chunked_policy: host_buffers", host_buffers, 3);
        check_field("chunked_policy: device_buffers", device_buffers, 2);
        check_field("chunked_policy: max_host_threads", max_host_threads, 1);
    }
};

} // namespace warpfold::tuning
