// SPDX-License-Identifier: MIT
// What a launch's global accesses do to a card's caches: L1 for each block, L2 for the device.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "softgpu/machine/trace.hpp"
#include "softgpu/predict/sector_cache.hpp"

namespace softgpu::predict {

// Sectors, except where the name says otherwise.
struct traffic {
    std::uint64_t loads = 0;
    std::uint64_t l1_hits = 0;
    std::uint64_t l2_reads = 0; // loads that L1 did not have, and atomics
    std::uint64_t l2_read_hits = 0;
    std::uint64_t l2_writes = 0;
    std::uint64_t l2_requests = 0; // lines, or parts of them, that one instruction of a warp asks for
    std::uint64_t dram_reads = 0;
    std::uint64_t dram_writes = 0;
    std::uint64_t atomic_lanes = 0;
    std::uint64_t hottest_atomic_lanes = 0; // at the line with the most
};

// One access behind L1.
struct l2_access {
    std::uint64_t line = 0;
    std::uint32_t lanes = 0;
    std::uint8_t sectors = 0; // mask
    machine::touch how = machine::touch::load;
};

// The device's L2 cache. Thread-safe.
class device_l2 {
public:
    // `fetch`: bytes that come together from DRAM, 32, 64 or 128.
    device_l2(std::uint64_t bytes, std::uint64_t fetch)
        : warm_(bytes, static_cast<unsigned>(fetch / 32)), cold_(bytes, static_cast<unsigned>(fetch / 32)) {}

    // A launch begins: the cold cache is empty, the warm one is not.
    void begin();
    void take(const std::vector<l2_access>& accesses);
    // The traffic behind L1 since begin().
    [[nodiscard]] traffic warm();
    [[nodiscard]] traffic cold();

private:
    static void count(sector_cache& cache, const l2_access& a, traffic& to);

    std::mutex mutex_;
    sector_cache warm_;
    sector_cache cold_;
    traffic of_warm_;
    traffic of_cold_;
    std::unordered_map<std::uint64_t, std::uint64_t> atomics_; // lanes by line
};

// One block's share of its multiprocessor's L1, empty at first.
class block_l1 {
public:
    // `bytes` 0: loads go past it.
    block_l1(device_l2& behind, std::uint64_t bytes) : behind_(behind), cache_(bytes) {}

    void touched(std::uint64_t line, unsigned sectors, unsigned lanes, machine::touch how);
    // Hands on what waits. `loads` and `l1_hits` of the result are the block's.
    [[nodiscard]] traffic ended();

private:
    device_l2& behind_;
    sector_cache cache_;
    std::vector<l2_access> waiting_;
    traffic own_;
};

} // namespace softgpu::predict
