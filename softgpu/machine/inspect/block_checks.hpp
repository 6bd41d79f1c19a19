// SPDX-License-Identifier: MIT
// The checks' state of a running block.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "softgpu/check/order/clock.hpp"
#include "softgpu/check/order/order.hpp"
#include "softgpu/check/order/release_graph.hpp"
#include "softgpu/check/shadow/stamp.hpp"
#include "softgpu/machine/code/access_site.hpp"
#include "softgpu/machine/state/block.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::machine {

// A register whose lanes hold values from uninitialized memory.
struct uninitialized_value {
    const std::byte* frame = nullptr;
    std::uint32_t reg = 0;
    lane_mask held_by = 0;
    const access_site* read_by = nullptr;
    std::uint64_t at = 0; // in shared memory, by the first of the lanes
};

// Lanes of a warp that have arrived at a barrier.
struct barrier_arrival {
    unsigned warp = 0;
    lane_mask lanes = 0;
    const ptx::function* function = nullptr;
    std::uint32_t source = 0; // index into its instructions
    bool aligned = false;
};

// Two lanes of a warp wrote different values to one word of shared memory; which one stays is undefined.
struct lost_value {
    const access_site* site = nullptr;
    const access_site* site_before = nullptr;
    std::uint32_t thread = 0;
    std::uint32_t thread_before = 0;
    std::optional<std::string> value;
    std::optional<std::string> value_before;
    std::uint64_t time = 0; // of the block
    bool one_instruction = false;
};

// Lanes of a warp that have updated, or read, one word, when that told nothing new of the launch's order: the same once more,
// as polling loops do it, tells nothing either as long as the rest is equal.
struct settled_word {
    std::uint64_t at = 0;
    const instruction* by = nullptr;
    lane_mask lanes = 0;
    std::uint64_t order = 0;  // size of the graph of releases
    std::uint64_t fences = 0; // of the block; the following are of an update
    std::uint64_t base = 0;   // of the block's clock
    std::uint64_t warp_base = 0;
    bool operator==(const settled_word&) const = default;
};

struct product_checks; // inspect/products.hpp

struct block_checks {
    check::block_clock clock;
    check::release_graph::block_record* record = nullptr;     // made when it is needed
    std::array<check::release_graph::coverings, 32> released; // by warp: what covered the last accesses
    check::release_graph::paths paths;                        // what searches have found
    std::array<settled_word, 32> updated;                     // by warp: the last update that released nothing new
    std::array<settled_word, 32> looked_at;                   // by warp: the last read that acquired nothing new
    std::uint64_t fences = 0;                                 // that threads have executed
    std::vector<check::stamp> shared_stamps;
    std::vector<std::uint8_t> valid;
    std::size_t shared_valid_bytes = 0;
    std::uint64_t acquired_at[32][32];
    std::array<std::vector<barrier_arrival>, 16> arrivals; // by barrier
    std::uint64_t started = 0;                             // the block's time when it began
    std::uint64_t copies_under_way = 0;                    // of cp.async, a lane's each
    site_table* sites = nullptr;
    const access_site* bulk_site = nullptr;                         // of the bulk copy that is executed
    std::vector<std::uint64_t> proxy_fences;                        // by thread: the time of its last fence.proxy.async
    std::unordered_map<std::uint64_t, std::uint64_t> acquired_maps; // by address: changes of maps before the last fence
    std::uint64_t proxy_fence_base = 0;                             // what all threads knew at such a fence
    std::vector<check::stamp> remote_writes, remote_reads; // by word of shared memory: other blocks of the cluster
    // The last lookup of a serial of another operation: nullptr where it is in order.
    std::uint64_t met_serial = 0;
    check::record_pointer met;
    std::array<std::vector<uninitialized_value>, 32> uninitialized; // by warp
    std::unordered_map<std::uint64_t, lost_value> lost;             // by word
    std::shared_ptr<product_checks> products;                       // made when it is needed
};

// Makes what the block needs, before it starts.
void start_checks(block& b);

} // namespace softgpu::machine
