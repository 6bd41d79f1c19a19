// SPDX-License-Identifier: MIT
// A card of round figures and what else tests need that compute a launch's time by hand.
#pragma once

#include <string>

#include "softgpu/predict/model.hpp"

namespace softgpu::predict {

// Round figures: 1 GHz, so that a cycle is a nanosecond; 10 multiprocessors.
inline card round_card() {
    card c;
    c.key = "round";
#define SOFTGPU_FIGURE(field, unit, least, most) c.field = 1;
#include "softgpu/predict/figures.def"
#undef SOFTGPU_FIGURE
    c.multiprocessors = 10;
    c.issue = 4;
    c.warps = 64;
    c.blocks = 32;
    c.registers = 65536;
    c.register_partitions = 4;
    c.address_bits = 64;
    c.shared_bytes = 100 * 1024;
    c.reserved_shared_bytes = 1024;
    c.throughput_fp32 = 64;
    c.l1_bytes = 128 * 1024;
    c.l2_bytes = 1 << 20;
    c.l2_bandwidth = 1000;
    c.l2_store_bandwidth = 1000;
    c.l2_store_requests = 1000;
    c.l2_multiprocessor = 640;
    c.l2_store_multiprocessor = 640;
    c.dram_bandwidth = 100;
    c.dram_efficiency = 0.5;
    c.latency_l1 = 100;
    c.latency_l2 = 300;
    c.latency_dram = 500;
    c.atomics = 100;
    c.block_starts = 1e15; // all at once
    c.launch = 1000;
    return c;
}

inline launch_work some_blocks(std::uint64_t blocks) {
    launch_work w;
    w.shape = {.blocks = blocks, .threads = 256, .shared_bytes = 0, .registers = 32};
    return w;
}

// The time of a bound; 0 of one that the launch has not.
inline double of(const observe::prediction& p, const std::string& bound) {
    for (const observe::bound_time& b : p.bounds) {
        if (b.name == bound) {
            return b.nanoseconds;
        }
    }
    return 0;
}

} // namespace softgpu::predict
