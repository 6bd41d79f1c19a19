// SPDX-License-Identifier: MIT
// In which portions data pass through a target that does not hold all of them: found with benchmarks/library/chunked.cu
// on an H100, see docs/results. To try others define WARPFOLD_TUNING_CHUNKED as "8 << 20, 256 << 10, 6, 3, 16", in the
// order of the fields.
#pragma once

#include <cstddef>

#ifndef WARPFOLD_TUNING_CHUNKED
#define WARPFOLD_TUNING_CHUNKED 8 << 20, 256 << 10, 6, 3, 16
#endif

namespace warpfold::tuning {

struct chunked {
    std::size_t chunk_bytes; // what is copied, and worked on, in one go
    std::size_t piece_bytes; // what one of the host's threads reads or writes in one go
    unsigned host_buffers;   // chunks in the host's memory, at least 3
    unsigned device_buffers; // chunks in the device's memory, at least 2
    unsigned threads;        // of the host, that read and write together; no more than the machine has
};

inline constexpr chunked chunked_default{WARPFOLD_TUNING_CHUNKED};
static_assert(chunked_default.host_buffers >= 3 && chunked_default.device_buffers >= 2);

} // namespace warpfold::tuning
