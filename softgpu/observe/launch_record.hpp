// SPDX-License-Identifier: MIT
// One kernel launch as the software GPU saw it, and how a program in the same process gets to see it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "softgpu/observe/counters.hpp"
#include "softgpu/observe/prediction.hpp"

namespace softgpu::observe {

struct launch_record {
    std::string kernel; // demangled
    std::string symbol; // as in the PTX
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint64_t dynamic_shared_bytes = 0;
    std::uint64_t static_shared_bytes = 0;
    double seconds = 0; // on the host, from launch to end
    counters total;
    // The same counters split by barrier interval: [0] is what warps did before their first barrier of the block, [1]
    // between the first and the second, ... summed over all blocks. At most 64; later intervals count in the last.
    // Instruction counts are in `total` only.
    std::vector<counters> by_interval;
    std::string fault;                     // empty: it ran to its end
    int device = -1;                       // of the devices of its process; -1: there is one
    std::vector<prediction> predictions{}; // one a card that SOFTGPU_PREDICT names
    std::string launched_by{};             // the kernel that launched it, demangled; empty: the host did

    [[nodiscard]] std::uint64_t blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
    [[nodiscard]] std::uint64_t threads_per_block() const { return std::uint64_t{block[0]} * block[1] * block[2]; }
    [[nodiscard]] std::uint64_t warps_per_block() const { return (threads_per_block() + 31) / 32; }
    [[nodiscard]] std::uint64_t warps() const { return blocks() * warps_per_block(); }
};

using launch_observer = void (*)(const launch_record& record, void* user);

} // namespace softgpu::observe

// Exported by the drop-in libcudart beside CUDA's own calls; find it with dlsym. Every launch issued from then on
// goes to `observer` once, in the order of issue, at the latest before the call returns that synchronises with it, and on that
// call's thread; nullptr stops it. Waits for all work first. Not for use across compilers or versions: the record is C++.
extern "C" void softgpu_set_launch_observer(softgpu::observe::launch_observer observer, void* user);
