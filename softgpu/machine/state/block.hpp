// SPDX-License-Identifier: MIT
// A block of threads: its warps, its barriers, and its shared and local memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "softgpu/check/shadow/view.hpp"
#include "softgpu/machine/launch.hpp"
#include "softgpu/machine/state/cluster.hpp"
#include "softgpu/machine/state/lazy_memory.hpp"
#include "softgpu/machine/state/pending_bulk.hpp"
#include "softgpu/machine/state/warp.hpp"

namespace softgpu::machine {

struct launch_state;
class traced_block;  // softgpu/machine/inspect/trace/traced_block.hpp
struct block_checks; // softgpu/machine/inspect/block_checks.hpp

struct barrier_state {
    std::uint32_t arrived = 0;      // threads
    std::uint32_t wanted = 0;       // 0: all that live
    std::uint32_t count = 0;        // lanes whose predicate held, for bar.red
    std::uint32_t result_count = 0; // of the last completed use
    std::uint32_t result_threads = 0;
};

struct block {
    extent id;
    std::uint64_t linear = 0;
    cluster* group = nullptr;
    std::uint32_t rank = 0; // in the cluster
    std::uint32_t threads_live = 0;
    std::uint32_t at_barriers = 0; // threads that have arrived and wait
    std::uint32_t warps = 0;
    std::byte* shared = nullptr;
    std::byte* local = nullptr; // local_bytes of each thread, threads in order
    std::array<barrier_state, 16> barriers;
    std::vector<incoming_copy> incoming; // to its shared memory
    std::vector<warp> members;
    std::vector<std::byte> storage;       // frames, shared and local memory
    lazy_memory stack;                    // local memory of kernels whose functions need much
    std::string printed;                  // by printf
    cluster alone;                        // the group where the launch has no clusters
    bool resident = false;                // its storage is in use
    std::shared_ptr<traced_block> traced; // where the launch is traced
    launch_state* launch = nullptr;       // where the launch is checked, and the next two
    check::block_view* view = nullptr;
    std::shared_ptr<block_checks> checks;
};

} // namespace softgpu::machine
